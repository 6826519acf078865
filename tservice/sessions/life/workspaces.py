"""Where sessions may work: folders, cases and whose they are (protocol-sessions,
protocol-quickstart, protocol-cases)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from attrs import field, frozen

from tservice.core.errors import ErrorCode, ServiceError, invalid, not_found
from tservice.core.identity import Identity
from tservice.core.kernelfiles import in_kernel, leads_to_kernel
from tservice.core.users.osuser import OsUser, can_enter
from tservice.sessions.life.osusers import SessionOsUsers

CASE_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")
CASES = "service-cases"
"""Where an OS user's cases are, below its home (protocol-cases)."""

MARKER = ".service-agent-case.json"
"""Tells that an agent had the folder made; see L{Workspaces.make_case}."""

_T = TypeVar("_T")

_GUIDE = """# {name}

Notes for the agents that work in this folder.  Say here what the project is, how it is built and
tested, and what to leave alone.
"""
_POINTER = """# {name}

The notes for agents are in CLAUDE.md.
"""
_SCAFFOLD = {"CLAUDE.md": _GUIDE, "AGENTS.md": _POINTER}


@frozen(kw_only=True)
class Workspaces:
    """The folders of this machine.

    The sessions of an account that names an OS user work wherever that user may go: the system
    keeps them apart.  Its cases are in that user's home, and everything is looked at and made as
    that user, so that no link leads root anywhere.

    @ivar cases_dir: where local cases are; in multi-user mode one folder below it per user.
    """

    cases_dir: Path
    home: Path
    multiuser: bool = False
    os_users: SessionOsUsers = field(factory=SessionOsUsers)

    def folder(self, text: str, caller: Identity) -> str:
        """C{text} as a working directory.

        @raise ServiceError: 400: not absolute, missing, no folder, closed to the caller's OS user,
            or reached through a folder of the kernel (L{tservice.core.kernelfiles}); 403: not the
            caller's.
        """
        return self._as(caller, lambda user: self._folder(text, caller, user))

    def default(self, caller: Identity, chosen: str | None) -> str:
        """Where a session works that does not say: C{chosen}, the user's cases, or home."""
        return self._as(caller, lambda user: self._default(caller, chosen, user))

    def case(self, name: str, caller: Identity) -> str:
        """The folder of a case that exists.

        @raise ServiceError: 400: no case name; 404: there is none.
        """
        return self._as(caller, lambda user: self._case(name, caller, user))

    def make_case(self, name: str, caller: Identity) -> tuple[str, bool]:
        """The folder of a case, made and scaffolded where it is missing.

        @return: the folder, and whether this call made it.
        @raise ServiceError: 400: no case name, or something else has it.
        """
        return self._as(caller, lambda user: self._make_case(name, caller, user))

    def unmake_case(self, folder: str, caller: Identity) -> None:
        """Take back what L{make_case} has just made, the marker too; never anything else."""
        self._as(caller, lambda user: _remove_case(Path(folder)))

    def mark_agent_made(
        self, folder: str, caller: Identity, origin: str, parent_session_id: str | None, at: int
    ) -> None:
        """Note in the folder which agent had it made (protocol-quickstart)."""
        marker: dict[str, object] = {"version": 1, "createdAt": at, "createdBy": origin}
        if parent_session_id is not None:
            marker["parentSessionId"] = parent_session_id
        text = json.dumps(marker)
        self._as(caller, lambda user: (Path(folder) / MARKER).write_text(text, "utf-8"))

    # -- inside, as the caller's OS user

    def _as(self, caller: Identity, work: Callable[[OsUser | None], _T]) -> _T:
        user = self.os_users.of_caller(caller)
        return self.os_users.users.act(user, lambda: work(user))

    def _folder(
        self, text: str, caller: Identity, user: OsUser | None, named: str = "workingDir"
    ) -> str:
        path = Path(text)
        if "\0" in text or not path.is_absolute():
            raise invalid(named, "must be an absolute path")
        self._check_kernel(path, caller, user, named)
        if user is not None and not can_enter(text):
            raise invalid(named, f"must be an existing folder that {user.name} may enter")
        # First: what there is outside of a user's own folder is not to be told.
        self._check_own(path, caller, user, named)
        if user is None and not os.path.isdir(text):
            raise invalid(named, "must be an existing folder")
        return os.path.normpath(path)

    def _default(self, caller: Identity, chosen: str | None, user: OsUser | None) -> str:
        if user is not None:
            return str(user.home)
        if self.multiuser and not caller.admin:
            cases = self._cases(caller, user)
            cases.mkdir(parents=True, exist_ok=True)
            return str(cases)
        return self._folder(chosen or str(self.home), caller, user)

    def _case(self, name: str, caller: Identity, user: OsUser | None) -> str:
        path = self._cases(caller, user) / _check_case_name(name)
        if not can_enter(str(path)):
            raise not_found(f"Case {name}")
        return self._folder(str(path), caller, user, "caseName")

    def _make_case(self, name: str, caller: Identity, user: OsUser | None) -> tuple[str, bool]:
        path = self._cases(caller, user) / _check_case_name(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir()
        except FileExistsError as error:
            if not os.path.isdir(path):
                raise _not_made(error) from error
            return self._folder(str(path), caller, user, "caseName"), False
        except OSError as error:
            raise _not_made(error) from error
        try:
            for file, text in _SCAFFOLD.items():
                (path / file).write_text(text.format(name=name), "utf-8")
            return self._folder(str(path), caller, user, "caseName"), True
        except (OSError, ServiceError) as error:
            _remove_case(path)
            raise (_not_made(error) if isinstance(error, OSError) else error) from error

    def _cases(self, caller: Identity, user: OsUser | None) -> Path:
        if user is not None:
            return user.home / CASES
        return self.cases_dir / caller.username if self.multiuser else self.cases_dir

    def _check_kernel(self, path: Path, caller: Identity, user: OsUser | None, named: str) -> None:
        """Of links outside of a user's own folder nothing is told: they are not followed."""
        plain = Path(os.path.normpath(path))
        free = self._is_free(caller, user) or plain.is_relative_to(self._cases(caller, user))
        if in_kernel(str(path)) or (free and leads_to_kernel(str(path))):
            raise invalid(named, "must not be in /proc, /sys or /dev, nor lead through them")

    def _is_free(self, caller: Identity, user: OsUser | None) -> bool:
        """Whether the caller may work outside of the own cases."""
        return not self.multiuser or caller.admin or user is not None

    def _check_own(self, path: Path, caller: Identity, user: OsUser | None, named: str) -> None:
        """Symlinks are followed first, or one in the workspace would lead out of it."""
        if self._is_free(caller, user):
            return
        # Unlike Path.resolve it takes a loop of links as it is.
        own, found = (os.path.realpath(each) for each in (self._cases(caller, user), path))
        if not Path(found).is_relative_to(own):
            raise ServiceError(
                ErrorCode.FORBIDDEN, f"{named}: outside the workspace of this account"
            )


def _check_case_name(name: str) -> str:
    if CASE_NAME.fullmatch(name) is None:
        raise invalid("caseName", "1 to 128 letters, digits, _ and -")
    return name


def _not_made(error: OSError) -> ServiceError:
    return invalid("caseName", f"its folder cannot be made: {error.strerror}")


def _remove_case(path: Path) -> None:
    """Remove a folder that holds no more than a new case does."""
    with suppress(OSError):
        for name in (*_SCAFFOLD, MARKER):
            (path / name).unlink(missing_ok=True)
        path.rmdir()
