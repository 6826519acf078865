"""Files at the ends of a session's turns, as sides of a comparison (protocol-changes)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attrs import field, frozen

from tservice.core.callers.caller import Caller
from tservice.core.kernel.errors import make_conflict_error, make_field_error
from tservice.git.interfaces import WorkingCopy, WorkingFile
from tservice.review.comparison.bases import resolve_commit
from tservice.review.comparison.comparer import SideName
from tservice.review.comparison.trees import CommitTree, ComparedTree, make_file
from tservice.review.model import BaseSource, ComparisonBase
from tservice.review.turns.store import (
    CompressedContent,
    RecordedFile,
    RecordedTree,
    TurnStore,
)

_MAX_DIGITS = 16


class TurnTrees:
    """Files at the ends of turns of the same session.

    Every error is a C{ServiceError}.
    """

    prefix = "turn:"

    def __init__(self, store: TurnStore) -> None:
        self._store = store

    def list_turns(self, session_id: str, copy: WorkingCopy) -> Sequence[int]:
        """Return the ends of turns that can be compared in a repository, latest first."""
        return self._store.list_turns(session_id, copy.path)

    def check_access(self, session_id: str, side: SideName, caller: Caller) -> None:
        """See L{TreeSource}: who may read the session may read its turns."""
        self._parse_end(side)

    async def open_trees(
        self, session_id: str, side: SideName, copies: Sequence[WorkingCopy]
    ) -> Mapping[str, ComparedTree]:
        """See L{TreeSource}.

        @raise ServiceError: 409: the files are no longer kept.
        """
        trees = {
            tree.repo: tree for tree in self._store.list_trees(session_id, self._parse_end(side))
        }
        found: dict[str, ComparedTree] = {}
        for copy in copies:
            tree = trees.get(copy.path)
            # Git may remove a commit that no branch has any more.
            if tree is not None and await resolve_commit(copy, tree.commit) is not None:
                found[copy.path] = self._make_tree(session_id, side.name, copy, tree)
        if not found:
            text = "the files at the end of this turn are no longer kept"
            raise make_conflict_error(f"{side.field}: {text}")
        return found

    def _parse_end(self, side: SideName) -> int:
        """Return the end of a turn in Unix milliseconds.

        @raise ServiceError: 400.
        """
        text = side.name.removeprefix(self.prefix)
        if not text.isascii() or not text.isdigit() or len(text) > _MAX_DIGITS:
            raise make_field_error(side.field, "turn: must be followed by the end of a listed turn")
        return int(text)

    def _make_tree(
        self, session_id: str, name: str, copy: WorkingCopy, tree: RecordedTree
    ) -> ComparedTree:
        described = ComparisonBase(
            ref=name, commit=tree.commit, source=BaseSource.TURN, tree=tree.commit
        )
        return _TurnTree(
            session_id=session_id, copy=copy, described=described, tree=tree, store=self._store
        )


@frozen(kw_only=True)
class _TurnTree:
    """Files of a repository at the end of a turn.

    A file that was not recorded was that of the commit.
    """

    session_id: str
    copy: WorkingCopy
    described: ComparisonBase
    tree: RecordedTree
    store: TurnStore
    _modes: Mapping[bytes, str] = field(init=False)

    @_modes.default
    def _list_modes(self) -> Mapping[bytes, str]:
        return {file.path: file.mode for file in self.tree.files}

    async def list_changed_paths(self) -> Collection[bytes]:
        """See L{ComparedTree}."""
        return self._modes.keys()

    async def read_files(self, paths: Sequence[bytes], content_limit: int) -> Sequence[WorkingFile]:
        """See L{ComparedTree}."""
        found = await self._read_recorded([path for path in paths if path in self._modes])
        others = [path for path in paths if path not in self._modes]
        if others:
            commit = CommitTree(copy=self.copy, described=self.described)
            found |= zip(others, await commit.read_files(others, content_limit), strict=True)
        return [found[path] for path in paths]

    async def _read_recorded(self, paths: Sequence[bytes]) -> dict[bytes, WorkingFile]:
        wanted = {*paths}
        files = [file for file in self.tree.files if file.path in wanted]
        contents = [self.store.find_content(self.session_id, file.hash) for file in files]

        def make_all() -> dict[bytes, WorkingFile]:
            pairs = zip(files, contents, strict=True)
            return {file.path: _make_recorded(file, content) for file, content in pairs}

        return await self.copy.run_in_thread(make_all)


def _make_recorded(file: RecordedFile, content: CompressedContent | None) -> WorkingFile:
    if content is None:
        return WorkingFile(mode=file.mode, hash=file.hash)
    return make_file(file.mode, file.hash, content.decompress())
