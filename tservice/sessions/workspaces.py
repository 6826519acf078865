"""Where sessions may work: folders, cases and whose they are (wire 1.3, 1.4, 20)."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from attrs import frozen

from tservice.core.errors import ErrorCode, ServiceError, invalid, not_found
from tservice.core.identity import Identity

CASE_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")
MARKER = ".service-agent-case.json"
"""Tells that an agent had the folder made; see L{Workspaces.make_case}."""

_GUIDE = """# {name}

Notes for the agents that work in this folder.  Say here what the project is, how it is built and
tested, and what to leave alone.
"""
_POINTER = """# {name}

The notes for agents are in CLAUDE.md.
"""


@frozen(kw_only=True)
class Workspaces:
    """The folders of this machine.

    @ivar cases_dir: where local cases are; in multi-user mode one folder below it per user.
    """

    cases_dir: Path
    home: Path
    multiuser: bool = False

    def folder(self, text: str, caller: Identity) -> str:
        """C{text} as a working directory.

        @raise ServiceError: 400: not absolute, missing or no folder; 403: not the caller's.
        """
        path = Path(text)
        if "\0" in text or not path.is_absolute():
            raise invalid("workingDir", "must be an absolute path")
        if not path.is_dir():
            raise invalid("workingDir", "must be an existing folder")
        self._check_own(path, caller)
        return os.path.normpath(path)

    def default(self, caller: Identity, chosen: str | None) -> str:
        """Where a session works that does not say: C{chosen}, the user's cases, or home."""
        if self.multiuser and not caller.admin:
            cases = self._cases(caller)
            cases.mkdir(parents=True, exist_ok=True)
            return str(cases)
        return self.folder(chosen or str(self.home), caller)

    def case(self, name: str, caller: Identity) -> str:
        """The folder of a case that exists.

        @raise ServiceError: 400: no case name; 404: there is none.
        """
        path = self._cases(caller) / self._check_case_name(name)
        if not path.is_dir():
            raise not_found(f"Case {name}")
        return self.folder(str(path), caller)

    def make_case(self, name: str, caller: Identity) -> tuple[str, bool]:
        """The folder of a case, made and scaffolded where it is missing.

        @return: the folder, and whether this call made it.
        @raise ServiceError: 400: no case name, or something else has it.
        """
        path = self._cases(caller) / self._check_case_name(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir()
        except FileExistsError:
            return self.folder(str(path), caller), False
        except OSError as error:
            raise invalid("caseName", f"its folder cannot be made: {error.strerror}") from error
        (path / "CLAUDE.md").write_text(_GUIDE.format(name=name), "utf-8")
        (path / "AGENTS.md").write_text(_POINTER.format(name=name), "utf-8")
        return self.folder(str(path), caller), True

    def mark_agent_made(
        self, folder: str, origin: str, parent_session_id: str | None, at: int
    ) -> None:
        """Note in the folder which agent had it made (wire 1.4)."""
        marker: dict[str, object] = {"version": 1, "createdAt": at, "createdBy": origin}
        if parent_session_id is not None:
            marker["parentSessionId"] = parent_session_id
        (Path(folder) / MARKER).write_text(json.dumps(marker), "utf-8")

    def _cases(self, caller: Identity) -> Path:
        return self.cases_dir / caller.username if self.multiuser else self.cases_dir

    def _check_case_name(self, name: str) -> str:
        if CASE_NAME.fullmatch(name) is None:
            raise invalid("caseName", "1 to 128 letters, digits, _ and -")
        return name

    def _check_own(self, path: Path, caller: Identity) -> None:
        """Symlinks are followed first, or one in the workspace would lead out of it."""
        if not self.multiuser or caller.admin:
            return
        own = self._cases(caller).resolve()
        if not path.resolve().is_relative_to(own):
            raise ServiceError(
                ErrorCode.FORBIDDEN, "workingDir: outside the workspace of this account"
            )
