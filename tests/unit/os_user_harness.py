"""OS users for tests: real folders, one real user, and a note of what was done as whom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TypeVar

from tests.callers import make_caller
from tests.runtime_harness import own_location, places_of
from tservice.core.callers.caller import Caller
from tservice.core.locations.location import HookAccess, Location, make_os_user_location
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.locations.workspace_bounds import AccountRights
from tservice.core.users.os_users import OsUser, OsUsers, OsUserSupport, make_user_prefix

_T = TypeVar("_T")


class OsUserWorld:
    """A machine's user database, and root's power to act as one of them.

    @ivar acted: the names of those in whose name something was done, in order.
    @ivar acting: in whose name something is being done.
    @ivar secrets: in whose file a hook secret was put.
    @ivar accounts: the OS user that each account names.
    @ivar demoted: accounts that have neither role nor grant any more.
    @ivar disabled: those that nothing is done for; C{removed}: those that are gone.
    """

    def __init__(self, folder: Path, obstacle: str | None = None) -> None:
        self.folder = folder
        self.acted: list[str] = []
        self.acting: str | None = None
        self.secrets: list[str] = []
        self.accounts: dict[str | None, str] = {}
        self.demoted: set[str] = set()
        self.disabled: set[str] = set()
        self.removed: set[str] = set()
        self.refuse: OSError | None = None
        self._entries: dict[str, SimpleNamespace] = {}
        self.users = OsUsers(
            OsUserSupport(
                obstacle=obstacle,
                act=self.act,
                entry=self._entries.__getitem__,
                groups=lambda name, gid: [gid, 4000],
            )
        )

    def add(self, name: str, uid: int, shell: str = "/bin/bash") -> OsUser:
        """A user with a home; an earlier one of that name is gone."""
        home = self.folder / f"home-{name}"
        home.mkdir(parents=True, exist_ok=True)
        self._entries[name] = SimpleNamespace(
            pw_name=name, pw_uid=uid, pw_gid=uid, pw_dir=str(home), pw_shell=shell
        )
        user = self.users.find_user(name)
        assert user is not None
        return user

    def remove(self, name: str) -> None:
        """The account is deleted; its home stays."""
        del self._entries[name]

    def caller(self, username: str, os_user: str) -> Caller:
        """An account that names C{os_user}."""
        self.accounts[username] = os_user
        return make_caller(
            username=username, admin=False, can_bypass_permissions=True, os_user=os_user
        )

    def act(self, user: OsUser | None, work: Callable[[], _T]) -> _T:
        """As L{tservice.core.users.file_identity.call_as_user}, which cannot be nested either."""
        if user is None:
            return work()
        assert self.acting is None, "acting twice"
        self.acted.append(user.name)
        self.acting = user.name
        try:
            return work()
        finally:
            self.acting = None

    # -- what the places of OS users are made of

    def setups(self, tmux: str) -> None:
        """No pane of this world has a process."""

    def account(self, name: str) -> AccountRights | None:
        """What is known of an account; whoever names no OS user is an admin, all have the grant."""
        if name in self.removed:
            return None
        rights = name not in self.demoted
        return AccountRights(
            is_enabled=name not in self.disabled,
            is_admin=rights and name not in self.accounts,
            os_user=self.accounts.get(name),
            may_bypass_permissions=rights,
        )

    def place(self, user: OsUser) -> Location:
        """That user's."""
        found = self.places().find_location(make_os_user_location(user.name, user.uid))
        assert found is not None
        return found

    def places(self) -> LocationRegistry:
        """Those of this world's users, and one of nobody's for the service."""
        return places_of(own_location(self.folder), self)

    @property
    def hooks(self) -> Callable[[OsUser], HookAccess]:
        return lambda user: HookAccess(secret_file=self.path_of(user), put=lambda: self._put(user))

    @property
    def prefix(self) -> Callable[[OsUser], Sequence[str]]:
        return partial(make_user_prefix, "/s", "/p")

    def path_of(self, user: OsUser) -> Path:
        """Where the secret of C{user}'s hooks is."""
        return self.folder / f"{user.uid}.hook-secret"

    def _put(self, user: OsUser) -> None:
        if self.refuse is not None:
            raise self.refuse
        self.secrets.append(user.name)
