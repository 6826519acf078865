"""The users of the operating system that panes can run as (protocol-os-users, C{osUser})."""

from __future__ import annotations

import os
import pwd
import re
import stat
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Protocol, TypeVar

from attrs import field, frozen

from tservice.core.errors import ServiceError, failed

_T = TypeVar("_T")

NO_LOGIN = frozenset({"nologin", "false", "true", "sync", "halt", "shutdown"})
"""Names of the programs that stand in for the shell of who may not log in."""

_NOBODY = 65534
_LOCALE = re.compile(
    "LC_(?:ALL|CTYPE|NUMERIC|TIME|COLLATE|MONETARY|MESSAGES"
    "|PAPER|NAME|ADDRESS|TELEPHONE|MEASUREMENT|IDENTIFICATION)"
)
"""Others only look like it: C{LC_TERMINAL} names a terminal, so that ssh hands it on."""
_SHARED = frozenset({"LANG", "LANGUAGE", "TZ"})
"""Of the service's own environment, what is the machine's rather than root's."""


@frozen(kw_only=True)
class OsUserId:
    """What is remembered of an OS user: a name that was given to somebody else is noticed."""

    name: str
    uid: int


@frozen(kw_only=True)
class OsUser:
    """An OS user.

    @ivar groups: every group, C{gid} among them.
    """

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: Path
    shell: str

    @property
    def id(self) -> OsUserId:
        """What a session remembers."""
        return OsUserId(name=self.name, uid=self.uid)


class Act(Protocol):
    """Calls a function with a user's rights to files; L{tservice.core.users.acting.act_as}."""

    def __call__(self, user: OsUser | None, work: Callable[[], _T], /) -> _T: ...


@frozen(kw_only=True)
class OsUserSupport:
    """What this machine and this process allow.

    @ivar obstacle: why nothing can run as another user; C{None}: it can.
    @ivar entry: the account's line (C{pwd.getpwnam}); C{KeyError} or C{ValueError} without one.
    @ivar groups: the groups of a name and its first group.
    """

    obstacle: str | None
    act: Act
    entry: Callable[[str], Any] = pwd.getpwnam
    groups: Callable[[str, int], Sequence[int]] = os.getgrouplist


def not_here(user: OsUser | None, work: Callable[[], _T], /) -> _T:
    """Does work as nobody but this process itself; for a service without root's rights."""
    if user is not None:
        raise OSError(f"cannot work on files as {user.name}")
    return work()


async def _at_hand(name: str) -> None:
    """C{Host} answers without waiting."""


NO_ROOT = OsUserSupport(obstacle="panes can only run as the service's own user", act=not_here)


@frozen
class OsUsers:
    """Judges and recalls OS users, and works on files as one of them.

    @ivar refresh: has the system's word on a name at hand, for what is judged and recalled then;
        raises C{ServiceError} (422, 429) where the system does not answer.
    """

    host: OsUserSupport = field(default=NO_ROOT)
    refresh: Callable[[str], Awaitable[None]] = field(default=_at_hand)

    async def ask(self, name: str | None) -> None:
        """As C{refresh}, also for nobody else than the service's own user."""
        if name is not None:
            await self.refresh(name)

    def judge(self, name: str) -> OsUser:
        """The OS user C{name}, as whom panes may run.

        @raise ServiceError: 422 naming C{osUser}: this service cannot change users, there is no
            such user, it is root, it may not log in, or its home cannot be entered.
        """
        if self.host.obstacle is not None:
            raise _refused(self.host.obstacle)
        user = self.find(name)
        if user is None:
            raise _refused(f"there is no OS user {name[:64]!r}")
        if user.uid == 0:
            raise _refused(f"{user.name} is root, from whom nothing is apart")
        if PurePath(user.shell).name in NO_LOGIN:
            raise _refused(f"{user.name} may not log in: its shell is {user.shell}")
        if not self.host.act(user, lambda: can_enter(str(user.home))):
            raise _refused(f"the home folder of {user.name} is missing, or closed to it")
        return user

    def judge_again(self, known: OsUserId) -> OsUser:
        """As L{judge}, for one that a session was made for.

        @raise ServiceError: 422, also when the name is somebody else's by now.
        """
        user = self.judge(known.name)
        if user.uid != known.uid:
            raise _refused(f"{known.name} is another OS user than when the session was made")
        return user

    def recall(self, known: OsUserId) -> OsUser:
        """Who a session was made for, whatever became of that account: what runs, runs on.

        One that is gone has no home, no shell and no groups but nobody's.
        """
        user = self.find(known.name)
        if user is not None and user.uid == known.uid:
            return user
        return nobody(known.name, known.uid)

    def act(self, user: OsUser | None, work: Callable[[], _T]) -> _T:
        """Work on files as C{user}; C{None}: as this process (see L{act_as})."""
        return self.host.act(user, work)

    def find(self, name: str) -> OsUser | None:
        """The user as the system has it, fit for anything or not."""
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


def nobody(name: str, uid: int = _NOBODY) -> OsUser:
    """A user without a home, a shell, or any group but nobody's."""
    return OsUser(
        name=name, uid=uid, gid=_NOBODY, groups=(_NOBODY,), home=Path("/nonexistent"), shell=""
    )


def run_as(setsid: str, setpriv: str, user: OsUser) -> list[str]:
    """The words before a command that run it as C{user}, for a service that is root.

    util-linux' setpriv takes every right of root away before it becomes the command, which leads a
    session of its own, so that it has no terminal of root's, and ends together with this process.
    That costs a few milliseconds; C{spawnProcess(uid=...)} would fork this process and run Python
    in the child with root's rights, and the child would outlive a killed service.

    @param setsid: absolute path of the program, as that of C{setpriv}.
    """
    groups = ",".join(map(str, user.groups))
    identity = ["--reuid", str(user.uid), "--regid", str(user.gid), "--groups", groups]
    return [setsid, setpriv, *identity, "--inh-caps=-all", "--pdeathsig", "KILL", "--"]


def is_of_locale(name: str) -> bool:
    """Return whether a variable of the environment is a category of the locale."""
    return _LOCALE.fullmatch(name) is not None


def environment_of(
    user: OsUser, environ: Mapping[str, str], named: Sequence[str] = ()
) -> dict[str, str]:
    """What a child of C{user} gets in place of the service's own environment.

    Nothing of root's comes along: no key of an agent, no folder or socket of its session.  Of
    C{PATH}, folders in root's home are left out.

    @param environ: what the service was started with.
    @param named: names that the operator lets through all the same (C{SERVICE_PANE_ENV}).
    """
    kept = {
        name: value
        for name, value in environ.items()
        if name in _SHARED or is_of_locale(name) or name in named
    }
    folders = environ.get("PATH", "/usr/local/bin:/usr/bin:/bin").split(":")
    own = {
        "PATH": ":".join(each for each in folders if not _inside(each, environ.get("HOME", ""))),
        "HOME": str(user.home),
        "USER": user.name,
        "LOGNAME": user.name,
        "SHELL": user.shell,
    }
    runtime = f"/run/user/{user.uid}"
    if _is_folder_of(runtime, user.uid):
        own["XDG_RUNTIME_DIR"] = runtime
    return {**kept, **own}


def can_enter(folder: str) -> bool:
    """Whether C{folder} is one, and can be entered; ask it as the user in question."""
    try:
        return stat.S_ISDIR(os.stat(os.path.join(folder, ".")).st_mode)
    except (OSError, ValueError):
        return False


def can_run(path: str | Path) -> bool:
    """Whether C{path} is a program that can be read; ask it as the user in question.

    C{os.access} would answer for the real user of this process, who is root.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    mode = os.fstat(descriptor).st_mode
    os.close(descriptor)
    return stat.S_ISREG(mode) and bool(mode & 0o111)


def process_owner(pid: int) -> int | None:
    """The real user id of a process; C{None} when there is none.

    What a pane tells of its processes is the word of the user whom it belongs to: root signals
    or renices nothing on it without this question.
    """
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            found = next((line.split() for line in file if line.startswith("Uid:")), ["", ""])
    except OSError:
        return None
    return int(found[1]) if found[1].isdigit() else None


def _inside(folder: str, home: str) -> bool:
    if not folder.startswith("/"):
        return True
    return home not in ("", "/") and PurePath(folder).is_relative_to(home)


def _is_folder_of(path: str, uid: int) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == uid


def _refused(why: str) -> ServiceError:
    return failed(f"osUser: {why}")
