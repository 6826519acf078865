"""Users of the operating system that panes can run as (protocol-os-users, C{osUser})."""

from __future__ import annotations

import os
import pwd
import re
import stat
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Protocol, TypeVar

from attrs import field, frozen

from tservice.core.kernel.errors import ServiceError, make_failure_error

_T = TypeVar("_T")

NO_LOGIN = frozenset({"nologin", "false", "true", "sync", "halt", "shutdown"})
"""Names of programs that are the shell of users who may not log in."""

_NOBODY = 65534
_LOCALE = re.compile(
    "LC_(?:ALL|CTYPE|NUMERIC|TIME|COLLATE|MONETARY|MESSAGES"
    "|PAPER|NAME|ADDRESS|TELEPHONE|MEASUREMENT|IDENTIFICATION)"
)
"""Names of variables that are categories of the locale.

C{LC_TERMINAL} is not one: it names a terminal, with this prefix so that ssh forwards it.
"""
_SHARED = frozenset({"LANG", "LANGUAGE", "TZ"})
"""Variables of the service's environment that belong to the machine rather than to root."""


@frozen(kw_only=True)
class OsUserId:
    """Stored reference to an OS user, with the id to detect a name that was given to another
    user.
    """

    name: str
    uid: int


@frozen(kw_only=True)
class OsUser:
    """User of the operating system.

    @ivar groups: the ids of all groups, including C{gid}.
    """

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: Path
    shell: str

    @property
    def id(self) -> OsUserId:
        """Reference to this user that a session stores."""
        return OsUserId(name=self.name, uid=self.uid)


class ActAsUser(Protocol):
    """Calls a function with a user's rights to files.

    See L{tservice.core.users.file_identity.call_as_user}.
    """

    def __call__(self, user: OsUser | None, work: Callable[[], _T], /) -> _T: ...


@frozen(kw_only=True)
class OsUserSupport:
    """Ability of this machine and process to act as other OS users.

    @ivar obstacle: the reason why nothing can run as another user.  C{None} if it can.
    @ivar entry: returns the passwd entry of an account, as C{pwd.getpwnam} does; raises C{KeyError}
        or C{ValueError} without one.
    @ivar groups: returns the group ids of a user, given the name and the first group.
    """

    obstacle: str | None
    act: ActAsUser
    entry: Callable[[str], Any] = pwd.getpwnam
    groups: Callable[[str, int], Sequence[int]] = os.getgrouplist


def act_without_root(user: OsUser | None, work: Callable[[], _T], /) -> _T:
    """Call C{work} with the rights of this process; for a service that is not root."""
    if user is not None:
        raise OSError(f"cannot work on files as {user.name}")
    return work()


async def _do_not_refresh(name: str) -> None:
    """Do nothing, because the lookup functions of L{OsUserSupport} need no refresh."""


NO_ROOT = OsUserSupport(
    obstacle="panes can only run as the service's own user", act=act_without_root
)


@frozen
class OsUsers:
    """Looks up and checks OS users, and accesses files as one of them.

    @ivar refresh: loads the system's data of a user name before a check or lookup.  Raises
        C{ServiceError} (422, 429) if the user database does not answer.
    """

    host: OsUserSupport = field(default=NO_ROOT)
    refresh: Callable[[str], Awaitable[None]] = field(default=_do_not_refresh)

    async def refresh_user(self, name: str | None) -> None:
        """Load the data of the OS user C{name}; C{None} is the service's user, which needs no
        lookup.
        """
        if name is not None:
            await self.refresh(name)

    def get_usable_user(self, name: str) -> OsUser:
        """Return the OS user C{name} if panes may run as this user.

        @raise ServiceError: 422 naming C{osUser}: this service cannot change users, or the user
            does not exist, is root, may not log in, or has a home folder that cannot be entered.
        """
        if self.host.obstacle is not None:
            raise _os_user_error(self.host.obstacle)
        user = self.find_user(name)
        if user is None:
            raise _os_user_error(f"there is no OS user {name[:64]!r}")
        if user.uid == 0:
            raise _os_user_error(f"{user.name} is root, which cannot be isolated")
        if PurePath(user.shell).name in NO_LOGIN:
            raise _os_user_error(f"{user.name} may not log in: its shell is {user.shell}")
        if not self.host.act(user, lambda: can_enter_folder(str(user.home))):
            raise _os_user_error(f"the home folder of {user.name} is missing or not accessible")
        return user

    def get_usable_known_user(self, known: OsUserId) -> OsUser:
        """Return the OS user of an existing session after the checks of L{get_usable_user}.

        @raise ServiceError: 422, also if the name now belongs to another user.
        """
        user = self.get_usable_user(known.name)
        if user.uid != known.uid:
            raise _os_user_error(f"{known.name} now belongs to another OS user than the session")
        return user

    def get_known_user(self, known: OsUserId) -> OsUser:
        """Return the OS user of an existing session, even if the OS user was removed.

        The session of a removed user keeps running.  The result then has no home and no shell, and
        only group 65534.
        """
        user = self.find_user(known.name)
        if user is not None and user.uid == known.uid:
            return user
        return make_missing_user(known.name, known.uid)

    def act_as_user(self, user: OsUser | None, work: Callable[[], _T]) -> _T:
        """Call C{work} with C{user}'s rights to files (see L{act_as}); C{None} for those of this
        process.
        """
        return self.host.act(user, work)

    def find_user(self, name: str) -> OsUser | None:
        """Return the user from the system's database, usable or not; C{None} if it does not
        exist.
        """
        try:
            entry = self.host.entry(name)
        except (KeyError, ValueError):
            return None
        groups = {entry.pw_gid, *self.host.groups(entry.pw_name, entry.pw_gid)}
        return OsUser(
            name=entry.pw_name,
            uid=entry.pw_uid,
            gid=entry.pw_gid,
            groups=tuple(sorted(groups)),
            home=Path(entry.pw_dir),
            shell=entry.pw_shell or "/bin/sh",
        )


def make_missing_user(name: str, uid: int = _NOBODY) -> OsUser:
    """Return a placeholder for a removed user, without home and shell, in the group C{nogroup}."""
    return OsUser(
        name=name, uid=uid, gid=_NOBODY, groups=(_NOBODY,), home=Path("/nonexistent"), shell=""
    )


class ProcessIdentity(Protocol):
    """User and groups of a process, such as those of an L{OsUser}."""

    @property
    def uid(self) -> int:
        """The user id."""

    @property
    def gid(self) -> int:
        """The id of the first group."""

    @property
    def groups(self) -> tuple[int, ...]:
        """The ids of all groups."""


def make_user_prefix(setsid: str, setpriv: str, user: ProcessIdentity) -> list[str]:
    """Return the command prefix that runs a command as C{user}, for a service that is root.

    util-linux's setpriv drops every right of root before it executes the command.  The command
    leads a new session, so that it has no terminal of root's, and is killed when this process ends.
    The prefix costs a few milliseconds.  C{spawnProcess(uid=...)} would run Python in the child
    with root's rights, and the child would outlive a killed service.

    @param setsid: absolute path of the program.
    @param setpriv: absolute path of the program.
    """
    groups = ",".join(map(str, user.groups))
    identity = ["--reuid", str(user.uid), "--regid", str(user.gid), "--groups", groups]
    return [setsid, setpriv, *identity, "--inh-caps=-all", "--pdeathsig", "KILL", "--"]


def is_locale_variable(name: str) -> bool:
    """Return whether an environment variable of that name is a category of the locale."""
    return _LOCALE.fullmatch(name) is not None


def build_user_environment(
    user: OsUser, environ: Mapping[str, str], named: Sequence[str] = ()
) -> dict[str, str]:
    """Return the environment of C{user}'s child processes, in place of the service's.

    No variable of root's session is passed on, such as sockets of a key agent.  Folders of C{PATH}
    in root's home are omitted.

    @param environ: the environment that the service was started with.
    @param named: additional variables that the operator passes through (C{SERVICE_PANE_ENV}).
    """
    kept = {
        name: value
        for name, value in environ.items()
        if name in _SHARED or is_locale_variable(name) or name in named
    }
    folders = environ.get("PATH", "/usr/local/bin:/usr/bin:/bin").split(":")
    own = {
        "PATH": ":".join(each for each in folders if not _is_inside(each, environ.get("HOME", ""))),
        "HOME": str(user.home),
        "USER": user.name,
        "LOGNAME": user.name,
        "SHELL": user.shell,
    }
    runtime = f"/run/user/{user.uid}"
    if _is_folder_of(runtime, user.uid):
        own["XDG_RUNTIME_DIR"] = runtime
    return {**kept, **own}


def can_enter_folder(folder: str) -> bool:
    """Return whether C{folder} is a folder that can be entered.

    Call it with the rights of the user in question.
    """
    try:
        return stat.S_ISDIR(os.stat(os.path.join(folder, ".")).st_mode)
    except (OSError, ValueError):
        return False


def can_run_program(path: str | Path) -> bool:
    """Return whether C{path} is a program that can be run.

    Call it with the rights of the user in question.  C{os.access} would check the real user of this
    process, who is root.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    mode = os.fstat(descriptor).st_mode
    os.close(descriptor)
    return stat.S_ISREG(mode) and bool(mode & 0o111)


def find_process_owner(pid: int) -> int | None:
    """Return the real user id of a process; C{None} if the process does not exist.

    The process ids that a pane reports come from its user, so root checks this before it signals or
    renices one.
    """
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            found = next((line.split() for line in file if line.startswith("Uid:")), ["", ""])
    except OSError:
        return None
    return int(found[1]) if found[1].isdigit() else None


def _is_inside(folder: str, home: str) -> bool:
    if not folder.startswith("/"):
        return True
    return home not in ("", "/") and PurePath(folder).is_relative_to(home)


def _is_folder_of(path: str, uid: int) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == uid


def _os_user_error(why: str) -> ServiceError:
    return make_failure_error(f"osUser: {why}")
