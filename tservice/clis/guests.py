"""Which executables an OS user finds: on the user's own paths, with the user's own rights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.clis.lookup import BinaryLookup
from tservice.core.users.osuser import OsUser, OsUsers, can_run, environment_of


@frozen
class Guests:
    """Looks afresh each time: it happens once a start, and costs less than the start's processes.

    @ivar environ: what the service was started with.
    """

    clock: IReactorTime
    environ: Mapping[str, str]
    users: OsUsers

    def find(self, names: Sequence[str], user: OsUser) -> Path | None:
        """The first of C{names} that C{user} can run; see L{BinaryLookup}."""
        environ = environment_of(user, self.environ)
        lookup = BinaryLookup(self.clock, environ, user.home, can_run)
        return self.users.act(user, lambda: lookup.find(names))
