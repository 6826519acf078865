"""State of a session's workspace, by which a change since the last run is recognised."""

from __future__ import annotations

import json
from collections.abc import Mapping

from attrs import field, frozen

from tservice.core.kernel.errors import ServiceError, make_failure_error
from tservice.git.interfaces import (
    STATUS_WORDS,
    IWorkingCopies,
    WorkingCopy,
    parse_changed_paths,
)

MAX_FILES = 2000
"""Maximum number of changed files of a repository.  With more of them the state is unknown."""
_STATUS_BYTES = 4 * 1024 * 1024
_NAMES_BYTES = 1024 * 1024


@frozen
class WorkspaceState:
    """Commits and changed files of the repositories in a workspace.

    @ivar heads: the commit of HEAD by the path of the repository; empty before the first commit.
    @ivar files: mode and hash of each file that differs from HEAD, by its path in the workspace.
    """

    heads: Mapping[str, str] = field(factory=dict)
    files: Mapping[str, str] = field(factory=dict)

    def to_text(self) -> str:
        """Return the state as text, which is equal for equal states."""
        return json.dumps([self.heads, self.files], sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> WorkspaceState:
        """Return the state that L{to_text} wrote."""
        heads, files = json.loads(text)
        return cls(heads, files)


class WorkspaceStates:
    """Reader of the states of workspaces."""

    def __init__(self, copies: IWorkingCopies) -> None:
        self._copies = copies

    async def read_state(self, session_id: str) -> WorkspaceState | None:
        """Return the state of a session's workspace; C{None} if it cannot be known.

        That is so without a repository, and with very many changed files.
        """
        heads: dict[str, str] = {}
        files: dict[str, str] = {}
        try:
            for copy in await self._copies.open_working_copies(session_id):
                if not await _read_copy(copy, heads, files):
                    return None
        except ServiceError:
            return None
        return WorkspaceState(heads, files) if heads else None

    async def list_changed(
        self, session_id: str, before: WorkspaceState, now: WorkspaceState
    ) -> frozenset[str] | None:
        """Return the paths of files that differ between two states.

        @return: C{None} if any file may differ.
        """
        found = {
            path
            for path in {*before.files, *now.files}
            if before.files.get(path) != now.files.get(path)
        }
        if before.heads.keys() != now.heads.keys():
            return None
        try:
            for copy in await self._copies.open_working_copies(session_id):
                old, new = before.heads.get(copy.path), now.heads.get(copy.path)
                if old == new:
                    continue
                if not old or not new:
                    return None
                found |= await _list_committed(copy, old, new)
        except ServiceError:
            return None
        return frozenset(found)


async def _read_copy(copy: WorkingCopy, heads: dict[str, str], files: dict[str, str]) -> bool:
    """Add the state of one repository.  Return false if it has too many changed files."""
    output, is_cut = await copy.run_git(STATUS_WORDS, _STATUS_BYTES)
    if is_cut:
        return False
    head, paths = parse_changed_paths(output, MAX_FILES)
    if not paths.is_complete or paths.untracked_count > MAX_FILES:
        return False
    heads[copy.path] = head.commit or ""
    names = sorted({*paths.staged, *paths.unstaged, *paths.conflicted, *paths.untracked})
    read = [name for name in names if not name.endswith(b"/")]
    for name, found in zip(read, await copy.read_files(read), strict=True):
        files[_make_path(copy, name)] = f"{found.mode} {found.hash}"
    return True


async def _list_committed(copy: WorkingCopy, old: str, new: str) -> set[str]:
    words = ("diff-tree", "-r", "-z", "--name-only", old, new)
    output, is_cut = await copy.run_git(words, _NAMES_BYTES)
    if is_cut:
        raise make_failure_error("the commits differ in very many files")
    return {_make_path(copy, name) for name in output.split(b"\0") if name}


def _make_path(copy: WorkingCopy, name: bytes) -> str:
    shown = name.decode("utf-8", "backslashreplace")
    return shown if copy.path == "." else f"{copy.path}/{shown}"
