"""Runtime of the features: shared services and data."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import tzinfo

from attrs import Factory, field, frozen

from tservice.clis.binary_lookup import BinaryLookup
from tservice.clis.login_path import LoginPathReader
from tservice.core.callers.authentication import SignInRule
from tservice.core.kernel.events import EventHub
from tservice.core.kernel.late_binding import LateBinding
from tservice.core.kernel.notice_gate import NoticeGate
from tservice.core.kernel.zone import find_local_zone
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.locations.workspace_bounds import AccountRights, WorkspaceBounds
from tservice.core.workers.reachability import ReachabilityCheck
from tservice.core.workers.worker_pool import WorkerPools
from tservice.runtime.launch_context import LaunchContext
from tservice.runtime.os_user_wiring import OsUserWiring
from tservice.settings.interfaces import ISettings
from tservice.store.database import Database


@frozen(kw_only=True)
class Runtime(LaunchContext):
    """Services and data that are passed to every feature's C{build.py}.

    @ivar database: the database.
    @ivar worker_pools: thread pools for blocking work.
    @ivar reachability: checks that folders are reachable (no hung mount).
    @ivar settings: users' settings.
    @ivar programs: finds programs that this process can run.
    @ivar login_path: reads the C{PATH} of the user's login shell for C{programs}.
    @ivar locations: the locations of sessions.
    @ivar os_users: the OS users that accounts name.
    @ivar hub: the event hub.
    @ivar notices: the events for features that notify people.
    @ivar sign_in: the rule whether callers have to sign in.
    @ivar account_rights: returns an account's rights by its name.  It is bound later, when the
        accounts are created.
    @ivar account_id: returns the id of an account by its name, also of a removed account.
    @ivar random: returns that many unguessable bytes.
    """

    database: Database
    worker_pools: WorkerPools
    reachability: ReachabilityCheck
    settings: ISettings
    programs: BinaryLookup
    login_path: LoginPathReader
    locations: LocationRegistry
    os_users: OsUserWiring
    sign_in: SignInRule
    hub: EventHub = field(factory=EventHub)
    notices: NoticeGate = field(
        default=Factory(lambda runtime: NoticeGate(runtime.hub), takes_self=True), init=False
    )
    account_rights: LateBinding[Callable[[str], AccountRights | None]] = field(
        factory=lambda: LateBinding("the accounts")
    )
    account_id: LateBinding[Callable[[str], str | None]] = field(
        factory=lambda: LateBinding("the ids of accounts")
    )
    random: Callable[[int], bytes] = os.urandom

    @property
    def workspace_bounds(self) -> WorkspaceBounds:
        """Rules that determine in which folders an account's sessions may work."""
        return WorkspaceBounds(
            cases_dir=self.config.cases_dir,
            multiuser=self.config.multiuser,
            account=lambda name: self.account_rights()(name),
            account_id=lambda name: self.account_id()(name),
        )

    @property
    def time_zone(self) -> tzinfo:
        """Time zone of this machine."""
        return find_local_zone(self.environ)
