"""Comparison of a working tree with another tree of files, which git need not know.

Git compares both with one commit.  A file that only the working tree changed differs as git says;
the contents of the others are compared here.  Renames are a removed and an added file.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Hashable, Sequence
from functools import partial
from typing import Generic, Protocol, TypeVar

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.errors import make_failure_error, make_not_found_error
from tservice.git.interfaces import WorkingCopy, WorkingFile
from tservice.review.comparison.bases import BaseWish
from tservice.review.comparison.changes import DiffOptions, FileDiff, find_file, read_changes
from tservice.review.comparison.hunks import HunkPage, RowKind, compare_texts, select_page
from tservice.review.model import (
    MAX_FILES,
    ChangedFile,
    ChangeTotals,
    ComparisonBase,
    FileStatus,
    RepositoryChanges,
)

MAX_COMPARED = 300
"""Maximum number of files whose contents on both sides are compared."""
CONTENT_BYTES = 1024 * 1024
"""Maximum bytes of a file whose lines are compared."""
RECENT_SECONDS = 5.0
"""Seconds for which a comparison is reused to find one of its files."""
MAX_RECENT = 10
"""Maximum number of comparisons that are kept for that."""
_BATCH = 25
"""Number of files whose contents are in memory at the same time, on each side."""

_Key = TypeVar("_Key", bound=Hashable)


class ComparedTree(Protocol):
    """Tree of files with which a working tree is compared."""

    async def list_changed_paths(self) -> Collection[bytes]:
        """Return the paths whose files differ from the base's commit.

        @raise ServiceError: 422: there are too many.
        """

    async def read_files(self, paths: Sequence[bytes], content_limit: int) -> Sequence[WorkingFile]:
        """Return files; see L{WorkingCopy.read_files}."""


@frozen(kw_only=True)
class TreeComparison:
    """Changes of a repository, with both trees."""

    mine: WorkingCopy
    other: ComparedTree
    changes: RepositoryChanges


class RecentComparisons(Generic[_Key]):
    """Comparisons that are reused to find one of their files."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._found: OrderedDict[_Key, tuple[float, Sequence[TreeComparison]]] = OrderedDict()

    def save(self, key: _Key, found: Sequence[TreeComparison]) -> None:
        """Keep the comparisons of a session's repositories for L{RECENT_SECONDS}."""
        self._found.pop(key, None)
        self._found[key] = (self._clock.seconds(), found)
        while len(self._found) > MAX_RECENT:
            self._found.popitem(last=False)

    def find(self, key: _Key) -> Sequence[TreeComparison] | None:
        """Return the kept comparisons; C{None} if there are none."""
        at, found = self._found.get(key, (0.0, None))
        return found if self._clock.seconds() - at < RECENT_SECONDS else None

    def list_keys(self) -> Sequence[_Key]:
        """Return the keys of all that are kept, oldest first."""
        return [*self._found]


async def compare_trees(
    mine: WorkingCopy, other: ComparedTree, base: ComparisonBase
) -> TreeComparison:
    """Compare a working tree with another tree.

    @param base: describes C{other}; its commit is one that C{mine} has.
    @raise ServiceError: 422: git fails, or too many files differ.
    """
    changes = await read_changes(mine, BaseWish(named=base.commit))
    own = {file.path: file for file in changes.files if file.original is None}
    compared = {*await other.list_changed_paths()}
    compared |= {
        path for file in changes.files if file.original is not None
        for path in (file.path, file.base_path)
    }  # fmt: skip
    compared -= {path for path, file in own.items() if file.is_submodule}
    if len(compared) > MAX_COMPARED:
        raise make_failure_error("base: too many files were changed there to compare")
    paths = sorted(path for path in compared if not path.endswith(b"/"))
    files = [file for path, file in own.items() if path not in compared]
    for at in range(0, len(paths), _BATCH):
        files += await _compare_files(mine, other, paths[at : at + _BATCH], own)
    files.sort(key=lambda file: file.path)
    totals = ChangeTotals(
        files=len(files) + max(0, changes.totals.files - len(changes.files)),
        added=sum(file.added for file in files),
        removed=sum(file.removed for file in files),
    )
    changes = evolve(
        changes,
        base=base,
        files=files[:MAX_FILES],
        totals=totals,
        is_truncated=changes.is_truncated or len(files) > MAX_FILES,
    )
    return TreeComparison(mine=mine, other=other, changes=changes)


async def read_tree_diff(
    found: Sequence[TreeComparison], repo: str | None, path: str, options: DiffOptions
) -> FileDiff:
    """Return one page of the difference of a file in the list of changes.

    @param found: the comparisons of all repositories.
    @raise ServiceError: 404 if the file is not in the list.
    """
    chosen = next((each for each in found if repo in (None, each.mine.path)), None)
    if chosen is None:
        raise make_not_found_error("Repository")
    file = find_file(chosen.changes, path)
    (old,) = await chosen.other.read_files([file.path], CONTENT_BYTES)
    (new,) = await chosen.mine.read_files([file.path], CONTENT_BYTES)
    file = evolve(file, hash=new.hash, is_binary=old.is_binary or new.is_binary)
    if file.is_binary or _lacks_content(old) or _lacks_content(new):
        is_cut = not file.is_binary
        return FileDiff(file=file, page=HunkPage(hunks=()), is_cut=is_cut)
    work = partial(
        compare_texts, old.data or b"", new.data or b"", options.context, options.whitespace
    )
    hunks = await chosen.mine.run_in_thread(work)
    page = await chosen.mine.run_in_thread(partial(select_page, hunks, options.start))
    return FileDiff(file=file, page=page)


async def _compare_files(
    mine: WorkingCopy, other: ComparedTree, paths: Sequence[bytes], own: dict[bytes, ChangedFile]
) -> list[ChangedFile]:
    olds = await other.read_files(paths, CONTENT_BYTES)
    news = await mine.read_files(paths, CONTENT_BYTES)

    def compare_all() -> list[ChangedFile]:
        triples = zip(paths, olds, news, strict=True)
        found = (_compare_file(path, old, new, own.get(path)) for path, old, new in triples)
        return [file for file in found if file is not None]

    return await mine.run_in_thread(compare_all)


def _compare_file(
    path: bytes, old: WorkingFile, new: WorkingFile, known: ChangedFile | None
) -> ChangedFile | None:
    """Return the difference of a file; C{None} if it is the same in both trees."""
    if (old.mode, old.hash) == (new.mode, new.hash):
        return None
    status = FileStatus.MODIFIED
    if not old.exists:
        status = FileStatus.ADDED
    elif not new.exists:
        status = FileStatus.DELETED
    elif old.mode[:2] != new.mode[:2]:
        status = FileStatus.TYPE_CHANGED
    is_binary = old.is_binary or new.is_binary
    rows = []
    if not is_binary and not _lacks_content(old) and not _lacks_content(new):
        hunks = compare_texts(old.data or b"", new.data or b"", 0, "show")
        rows = [row for hunk in hunks for row in hunk.rows]
    return ChangedFile(
        path=path,
        status=status,
        old_mode=old.mode,
        new_mode=new.mode,
        added=sum(row.kind is RowKind.ADDED for row in rows),
        removed=sum(row.kind is RowKind.REMOVED for row in rows),
        is_binary=is_binary,
        is_generated=known is not None and known.is_generated,
        kinds=() if known is None else known.kinds,
        hash=new.hash,
    )


def _lacks_content(file: WorkingFile) -> bool:
    """Return true if a file is too large to be compared."""
    return file.exists and file.data is None
