"""Comparison of trees of files, which git need not know.

Git compares their commits, or the commit of one with the working tree.  A file that only they
changed differs as git says; the contents of the others are compared here.  A renamed file of
those is a removed and an added one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Protocol

from attrs import evolve, frozen

from tservice.core.kernel.errors import make_failure_error, make_not_found_error
from tservice.git.interfaces import WorkingCopy, WorkingFile, hash_blob, is_binary_content
from tservice.review.comparison.bases import BaseWish
from tservice.review.comparison.changes import (
    DiffOptions,
    FileDiff,
    find_file,
    make_image,
    read_changes,
    read_commit_changes,
)
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
_BATCH = 25
"""Number of files whose contents are in memory at the same time, on each side."""
_LIST_BYTES = 4 * 1024 * 1024
_LINK_MODE = "120000"


class ComparedTree(Protocol):
    """Tree of files of a repository.

    @ivar described: the tree; its commit is the one from which it differs.
    """

    @property
    def described(self) -> ComparisonBase: ...

    async def list_changed_paths(self) -> Collection[bytes]:
        """Return the paths whose files differ from the commit.

        @raise ServiceError: 422: there are too many.
        """

    async def read_files(self, paths: Sequence[bytes], content_limit: int) -> Sequence[WorkingFile]:
        """Return files; see L{WorkingCopy.read_files}."""


@frozen(kw_only=True)
class CommitTree:
    """Files of a commit as a checkout would write them."""

    copy: WorkingCopy
    described: ComparisonBase

    async def list_changed_paths(self) -> Collection[bytes]:
        """See L{ComparedTree}."""
        return ()

    async def read_files(self, paths: Sequence[bytes], content_limit: int) -> Sequence[WorkingFile]:
        """See L{ComparedTree}."""
        words: list[str | bytes] = ["ls-tree", "-z", self.described.tree, "--", *paths]
        output, _ = await self.copy.run_git(words, _LIST_BYTES)
        found = {}
        for entry in output.split(b"\0")[:-1]:
            fields, _, path = entry.partition(b"\t")
            mode, kind, blob = fields.decode("ascii").split()
            if kind == "blob":
                found[path] = await self._read_blob(path, mode, blob, content_limit)
        return [found.get(path, WorkingFile()) for path in paths]

    async def _read_blob(
        self, path: bytes, mode: str, blob: str, content_limit: int
    ) -> WorkingFile:
        words: tuple[str | bytes, ...] = ("cat-file", "blob", blob)
        if mode != _LINK_MODE:
            words = ("cat-file", "--filters", b"--path=" + path, blob)
        data, is_cut = await self.copy.run_git(words, content_limit)
        if is_cut:
            return WorkingFile(mode=mode, hash=blob, size=len(data))
        return make_file(mode, hash_blob(data), data)


@frozen(kw_only=True)
class TreeComparison:
    """Changes of a repository, with both trees.

    @ivar new: C{None} for the working tree of C{mine}.
    """

    mine: WorkingCopy
    old: ComparedTree
    new: ComparedTree | None
    changes: RepositoryChanges

    async def read_new_files(self, paths: Sequence[bytes]) -> Sequence[WorkingFile]:
        """Return files of the new side."""
        return await (self.new or self.mine).read_files(paths, CONTENT_BYTES)


async def compare_trees(
    mine: WorkingCopy, old: ComparedTree, new: ComparedTree | None
) -> TreeComparison:
    """Compare two trees of a repository.

    @param mine: has the commits of both.
    @param new: C{None} for the working tree of C{mine}.
    @raise ServiceError: 422: git fails, or too many files differ.
    """
    changes = await _compare_commits(mine, old, new)
    known = {file.path: file for file in changes.files}
    compared = {*await old.list_changed_paths()}
    if new is not None:
        compared |= {*await new.list_changed_paths()}
    for file in changes.files:
        if file.original is None:
            continue
        # An untracked file may stand where the renamed one was.
        if file.original in known or not compared.isdisjoint((file.path, file.original)):
            compared |= {file.path, file.original}
    compared -= {path for path, file in known.items() if file.is_submodule}
    if len(compared) > MAX_COMPARED:
        raise make_failure_error("base, target: too many files were changed there to compare")
    found = TreeComparison(mine=mine, old=old, new=new, changes=changes)
    paths = sorted(path for path in compared if not path.endswith(b"/"))
    files = [file for path, file in known.items() if path not in compared]
    for at in range(0, len(paths), _BATCH):
        files += await _compare_files(found, paths[at : at + _BATCH], known)
    return evolve(found, changes=_replace_files(changes, files, old.described))


async def _compare_commits(
    mine: WorkingCopy, old: ComparedTree, new: ComparedTree | None
) -> RepositoryChanges:
    if new is None:
        return await read_changes(mine, BaseWish(named=old.described.commit))
    return await read_commit_changes(mine, old.described, new.described)


def _replace_files(
    changes: RepositoryChanges, files: list[ChangedFile], base: ComparisonBase
) -> RepositoryChanges:
    files.sort(key=lambda file: file.path)
    unlisted = max(0, changes.totals.files - len(changes.files))
    return evolve(
        changes,
        base=base,
        files=files[:MAX_FILES],
        totals=ChangeTotals(
            files=len(files) + unlisted,
            added=sum(file.added for file in files),
            removed=sum(file.removed for file in files),
        ),
        is_truncated=changes.is_truncated or len(files) > MAX_FILES,
    )


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
    if file.is_submodule:
        return FileDiff(file=file, page=HunkPage(hunks=()))
    (old,) = await chosen.old.read_files([file.base_path], CONTENT_BYTES)
    (new,) = await chosen.read_new_files([file.path])
    file = evolve(file, hash=new.hash, is_binary=old.is_binary or new.is_binary)
    if file.is_binary:
        images = make_image(file.base_path, old.data), make_image(file.path, new.data)
        return FileDiff(
            file=file, page=HunkPage(hunks=()), old_image=images[0], new_image=images[1]
        )
    if _lacks_content(old) or _lacks_content(new):
        return FileDiff(file=file, page=HunkPage(hunks=()), is_cut=True)
    work = partial(
        compare_texts, old.data or b"", new.data or b"", options.context, options.whitespace
    )
    hunks = await chosen.mine.run_in_thread(work)
    page = await chosen.mine.run_in_thread(partial(select_page, hunks, options.start))
    return FileDiff(file=file, page=page)


async def _compare_files(
    found: TreeComparison, paths: Sequence[bytes], known: Mapping[bytes, ChangedFile]
) -> list[ChangedFile]:
    olds = await found.old.read_files(paths, CONTENT_BYTES)
    news = await found.read_new_files(paths)

    def compare_all() -> list[ChangedFile]:
        triples = zip(paths, olds, news, strict=True)
        files = (_compare_file(path, old, new, known.get(path)) for path, old, new in triples)
        return [file for file in files if file is not None]

    return await found.mine.run_in_thread(compare_all)


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


def make_file(mode: str, hash_: str, data: bytes) -> WorkingFile:
    """Return a file with its content."""
    return WorkingFile(
        mode=mode, hash=hash_, size=len(data), is_binary=is_binary_content(data), data=data
    )
