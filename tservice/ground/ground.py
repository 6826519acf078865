"""What every feature stands on."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import tzinfo

from attrs import field, frozen

from tservice.clis.loginpath import LoginPath
from tservice.clis.lookup import BinaryLookup
from tservice.core.doors.reach import Reach
from tservice.core.doors.threads import Doors
from tservice.core.events import EventHub
from tservice.core.late import Late
from tservice.core.places.bounds import Standing, WorkspaceBounds
from tservice.core.places.places import Places
from tservice.core.zone import local_zone
from tservice.ground.osusers import OsUserWiring
from tservice.ground.program import Program
from tservice.settings.interfaces import ISettings
from tservice.store.database import Database


@frozen(kw_only=True)
class Ground(Program):
    """Handed whole to every feature's C{build.py}, which takes of it what it needs.

    @ivar hub: who publishes and who hears events.
    @ivar doors: threads for work that would hold up the reactor.
    @ivar reach: asks whether folders answer.
    @ivar programs: finds what this process can run.
    @ivar login: reads the login shell's C{PATH} for it.
    @ivar places: where sessions live.
    @ivar os_users: those that accounts name.
    @ivar account: what is known of an account, by its name; the accounts are made later.
    @ivar account_id: the id of an account, also of one that was removed, by its name.
    @ivar random: so many unguessable bytes.
    """

    database: Database
    doors: Doors
    reach: Reach
    settings: ISettings
    programs: BinaryLookup
    login: LoginPath
    places: Places
    os_users: OsUserWiring
    hub: EventHub = field(factory=EventHub)
    account: Late[Callable[[str], Standing | None]] = field(factory=lambda: Late("the accounts"))
    account_id: Late[Callable[[str], str | None]] = field(
        factory=lambda: Late("the ids of accounts")
    )
    random: Callable[[int], bytes] = os.urandom

    @property
    def bounds(self) -> WorkspaceBounds:
        """Where the sessions of an account may work."""
        return WorkspaceBounds(
            cases_dir=self.config.cases_dir,
            multiuser=self.config.multiuser,
            account=lambda name: self.account()(name),
            account_id=lambda name: self.account_id()(name),
        )

    @property
    def zone(self) -> tzinfo:
        """What the machine tells its own wall times in."""
        return local_zone(self.environ)
