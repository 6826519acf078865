"""Comparison of a session's working tree with what it was at the end of a turn."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attrs import field, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.errors import make_conflict_error, make_field_error
from tservice.git.interfaces import (
    IWorkingCopies,
    WorkingCopy,
    WorkingFile,
    hash_blob,
    is_binary_content,
)
from tservice.review.comparison.bases import resolve_commit
from tservice.review.comparison.changes import DiffOptions, FileDiff
from tservice.review.comparison.trees import (
    RecentComparisons,
    TreeComparison,
    compare_trees,
    read_tree_diff,
)
from tservice.review.model import BaseSource, ComparisonBase, RepositoryChanges
from tservice.review.turns.store import (
    CompressedContent,
    RecordedFile,
    RecordedTree,
    TurnStore,
)

PREFIX = "turn:"
"""Beginning of a base that is the end of a turn; no reference of git can have it."""
_LIST_BYTES = 4 * 1024 * 1024
_LINK_MODE = "120000"


def find_turn(base: str | None) -> int | None:
    """Return the end of the turn that a base names, in Unix milliseconds; C{None} if it names none.

    @raise ServiceError: 400: it is no number.
    """
    if base is None or not base.startswith(PREFIX):
        return None
    text = base.removeprefix(PREFIX)
    if not text.isascii() or not text.isdigit() or len(text) > 16:
        raise make_field_error("base", "turn: must be followed by the end of a listed turn")
    return int(text)


@frozen(kw_only=True)
class _TurnKey:
    session_id: str
    at: int


class TurnComparer:
    """Compares working trees with the ends of turns of the same session.

    Every error is a C{ServiceError}.
    """

    def __init__(self, clock: IReactorTime, copies: IWorkingCopies, store: TurnStore) -> None:
        self._copies, self._store = copies, store
        self._recent: RecentComparisons[_TurnKey] = RecentComparisons(clock)

    def list_turns(self, session_id: str, copy: WorkingCopy) -> Sequence[int]:
        """Return the ends of turns with which a repository can be compared, latest first."""
        return self._store.list_turns(session_id, copy.path)

    async def read_changes(self, session_id: str, at: int) -> Sequence[RepositoryChanges]:
        """Return the differences of a session's repositories from those at the end of a turn.

        @param at: end of the turn in Unix milliseconds.
        @raise ServiceError: 409: its files are no longer kept; 422: too many files differ.
        """
        return [each.changes for each in await self._compare(session_id, at)]

    async def read_file_diff(
        self, session_id: str, at: int, repo: str | None, path: str, options: DiffOptions
    ) -> FileDiff:
        """Return one page of the difference of a file in the list of changes.

        @raise ServiceError: 404 if it is not in the list; and see L{read_changes}.
        """
        found = self._recent.find(_TurnKey(session_id=session_id, at=at))
        if found is None:
            found = await self._compare(session_id, at)
        return await read_tree_diff(found, repo, path, options)

    async def _compare(self, session_id: str, at: int) -> Sequence[TreeComparison]:
        trees = {tree.repo: tree for tree in self._store.list_trees(session_id, at)}
        found = []
        for copy in await self._copies.open_working_copies(session_id):
            tree = trees.get(copy.path)
            # Git may remove a commit that no branch has any more.
            if tree is not None and await resolve_commit(copy, tree.commit) is not None:
                found.append(await self._compare_copy(session_id, at, copy, tree))
        if not found:
            raise make_conflict_error("base: the files at the end of this turn are no longer kept")
        self._recent.save(_TurnKey(session_id=session_id, at=at), found)
        return found

    async def _compare_copy(
        self, session_id: str, at: int, copy: WorkingCopy, tree: RecordedTree
    ) -> TreeComparison:
        base = ComparisonBase(
            ref=f"{PREFIX}{at}", commit=tree.commit, source=BaseSource.TURN, tree=tree.commit
        )
        other = _TurnTree(session_id=session_id, copy=copy, tree=tree, store=self._store)
        return await compare_trees(copy, other, base)


@frozen(kw_only=True)
class _TurnTree:
    """Files of a repository at the end of a turn.

    A file that was not recorded was that of the commit.
    """

    session_id: str
    copy: WorkingCopy
    tree: RecordedTree
    store: TurnStore
    _modes: Mapping[bytes, str] = field(init=False)

    @_modes.default
    def _list_modes(self) -> Mapping[bytes, str]:
        return {file.path: file.mode for file in self.tree.files}

    async def list_changed_paths(self) -> Collection[bytes]:
        """See L{tservice.review.comparison.trees.ComparedTree}."""
        return self._modes.keys()

    async def read_files(self, paths: Sequence[bytes], content_limit: int) -> Sequence[WorkingFile]:
        """See L{tservice.review.comparison.trees.ComparedTree}."""
        others = [path for path in paths if path not in self._modes]
        committed = await self._read_committed(others, content_limit) if others else {}
        recorded = await self._read_recorded([path for path in paths if path in self._modes])
        return [recorded.get(path) or committed.get(path, WorkingFile()) for path in paths]

    async def _read_recorded(self, paths: Sequence[bytes]) -> Mapping[bytes, WorkingFile]:
        wanted = {*paths}
        files = [file for file in self.tree.files if file.path in wanted]
        contents = [self.store.find_content(self.session_id, file.hash) for file in files]

        def make_all() -> dict[bytes, WorkingFile]:
            pairs = zip(files, contents, strict=True)
            return {file.path: _make_recorded(file, content) for file, content in pairs}

        return await self.copy.run_in_thread(make_all)

    async def _read_committed(
        self, paths: Sequence[bytes], content_limit: int
    ) -> Mapping[bytes, WorkingFile]:
        """Return the files of the commit as a checkout would write them, by path."""
        words: list[str | bytes] = ["ls-tree", "-z", self.tree.commit, "--", *paths]
        output, _ = await self.copy.run_git(words, _LIST_BYTES)
        found = {}
        for entry in output.split(b"\0")[:-1]:
            fields, _, path = entry.partition(b"\t")
            mode, kind, blob = fields.decode("ascii").split()
            if kind == "blob":
                found[path] = await self._read_blob(path, mode, blob, content_limit)
        return found

    async def _read_blob(
        self, path: bytes, mode: str, blob: str, content_limit: int
    ) -> WorkingFile:
        words: tuple[str | bytes, ...] = ("cat-file", "blob", blob)
        if mode != _LINK_MODE:
            words = ("cat-file", "--filters", b"--path=" + path, blob)
        data, is_cut = await self.copy.run_git(words, content_limit)
        if is_cut:
            return WorkingFile(mode=mode, hash=blob, size=len(data))
        return _make_file(mode, hash_blob(data), data)


def _make_recorded(file: RecordedFile, content: CompressedContent | None) -> WorkingFile:
    if content is None:
        return WorkingFile(mode=file.mode, hash=file.hash)
    return _make_file(file.mode, file.hash, content.decompress())


def _make_file(mode: str, hash_: str, data: bytes) -> WorkingFile:
    return WorkingFile(
        mode=mode, hash=hash_, size=len(data), is_binary=is_binary_content(data), data=data
    )
