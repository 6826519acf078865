"""Reader of the changes of a session against a base (protocol-changes).

Git compares.  It runs with the restrictions of reading, and writes nothing.
"""

from __future__ import annotations

import base64
from collections.abc import Coroutine, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar, overload

from attrs import evolve, frozen
from twisted.internet.defer import Deferred, FirstError, gatherResults

from tservice.core.kernel.errors import make_failure_error, make_not_found_error
from tservice.git.interfaces import (
    DIFF_WORDS,
    STATUS_WORDS,
    ChangedPaths,
    GitHead,
    WorkingCopy,
    WorkingFile,
    parse_changed_paths,
)
from tservice.review.comparison.bases import BaseWish, find_base, read_head
from tservice.review.comparison.hunks import (
    Hunk,
    HunkPage,
    make_replaced_hunks,
    parse_hunks,
    select_page,
)
from tservice.review.comparison.raw_diff import parse_raw_diff
from tservice.review.model import (
    DIFF_BYTES,
    IMAGE_BYTES,
    MAX_FILES,
    ChangedFile,
    ChangeTotals,
    ComparisonBase,
    FileStatus,
    RepositoryChanges,
    is_generated_name,
)

LIST_BYTES = 64 * 1024 * 1024
"""Maximum bytes of the list of changed files."""
_ATTRIBUTE_PATHS = 500
"""Maximum number of paths whose attributes are asked for, because they are on the command line."""
_IMAGES = {
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
    ".webp": "image/webp",
}  # fmt: skip
"""Types of images that are shown.  SVG is text, and may hold programs."""

WHITESPACE_WORDS = {
    "show": (),
    "ignore-end": ("--ignore-space-at-eol",),
    "ignore-amount": ("--ignore-space-change",),
    "ignore": ("--ignore-all-space",),
}
"""Options of git for the treatment of white space."""


@frozen(kw_only=True)
class DiffOptions:
    """Options for the hunks of one file.

    @ivar context: number of lines around a change.
    @ivar whitespace: key of L{WHITESPACE_WORDS}.
    @ivar start: index of the first row of the answer.
    """

    context: int
    whitespace: str = "show"
    start: int = 0


@frozen(kw_only=True)
class ImageSide:
    """Image before or after the change, as base64."""

    media_type: str
    data: str


_SAME_KIND = frozenset({FileStatus.MODIFIED, FileStatus.RENAMED, FileStatus.CONFLICTED})
"""States of a file that is of the same kind on both sides."""

_First = TypeVar("_First")
_Second = TypeVar("_Second")


@frozen(kw_only=True)
class FileDiff:
    """Difference of one file.

    @ivar is_cut: true if git's output was longer than L{DIFF_BYTES}.
    """

    file: ChangedFile
    page: HunkPage
    is_cut: bool = False
    old_image: ImageSide | None = None
    new_image: ImageSide | None = None


async def read_changes(copy: WorkingCopy, wish: BaseWish) -> RepositoryChanges:
    """Return the changes in one repository.

    @raise ServiceError: 400 for an unknown base; 422 if git fails.
    """
    # Both look at every file of a large repository, so they run at the same time.
    paths, (head, base, files) = await _wait_for_both(
        _read_paths(copy), _read_differences(copy, wish)
    )
    committed = await _list_committed(copy, head, base)
    listed = _merge_kinds(files, paths, committed)
    merged = [each for each in listed if _is_changed(each, paths)]
    kept = await _describe_files(copy, merged[:MAX_FILES])
    totals = ChangeTotals(
        files=len(merged) + max(0, paths.untracked_count - len(paths.untracked)),
        added=sum(file.added for file in [*kept, *merged[MAX_FILES:]]),
        removed=sum(file.removed for file in merged),
    )
    return RepositoryChanges(
        path=copy.path,
        name=copy.name,
        base=base,
        branch=head.branch,
        commit=head.commit,
        is_detached=head.detached,
        files=kept,
        totals=totals,
        is_truncated=totals.files > len(kept),
    )


async def read_commit_changes(
    copy: WorkingCopy, base: ComparisonBase, target: ComparisonBase
) -> RepositoryChanges:
    """Return the differences of two commits.

    @raise ServiceError: 422 if git fails.
    """
    head = await read_head(copy)
    files = await _read_raw_diff(copy, base.tree, target.tree)
    listed = [*files.values()]
    generated = await _list_generated(copy, [file.path for file in listed[:MAX_FILES]])
    kept = [
        evolve(file, is_generated=file.path in generated or is_generated_name(file.display_path))
        for file in listed[:MAX_FILES]
    ]
    totals = ChangeTotals(
        files=len(listed),
        added=sum(file.added for file in listed),
        removed=sum(file.removed for file in listed),
    )
    return RepositoryChanges(
        path=copy.path,
        name=copy.name,
        base=base,
        branch=head.branch,
        commit=head.commit,
        is_detached=head.detached,
        files=kept,
        totals=totals,
        is_truncated=len(listed) > len(kept),
        target=target,
    )


async def _read_raw_diff(copy: WorkingCopy, *trees: str) -> dict[bytes, ChangedFile]:
    """Return the differences of a tree from another one, or else from the working tree."""
    words = (*DIFF_WORDS, "--raw", "--numstat", "-z", "--no-abbrev", *trees, "--")
    output, cut = await copy.run_git(words, LIST_BYTES)
    if cut:
        raise make_failure_error("the repository has too many changes")
    return await copy.run_in_thread(partial(parse_raw_diff, output))


async def _read_paths(copy: WorkingCopy) -> ChangedPaths:
    status, cut = await copy.run_git(STATUS_WORDS, LIST_BYTES)
    if cut:
        raise make_failure_error("the repository has too many changes")
    _, paths = await copy.run_in_thread(partial(parse_changed_paths, status, MAX_FILES))
    return paths


async def _read_differences(
    copy: WorkingCopy, wish: BaseWish
) -> tuple[GitHead, ComparisonBase, dict[bytes, ChangedFile]]:
    head = await read_head(copy)
    base = await find_base(copy, head, wish)
    return head, base, await _read_raw_diff(copy, base.tree)


async def _wait_for_both(
    first: Coroutine[Any, Any, _First], second: Coroutine[Any, Any, _Second]
) -> tuple[_First, _Second]:
    """Run both, and return their results; cancelling ends both.

    @raise ServiceError: the error of the one that failed first; the other one is ended.
    """
    works: list[Deferred[Any]] = [Deferred.fromCoroutine(first), Deferred.fromCoroutine(second)]
    both = gatherResults(works, consumeErrors=True)
    try:
        found = await both
    except FirstError as error:
        for work in works:
            work.cancel()
        error.subFailure.raiseException()
    return found[0], found[1]


def find_file(changes: RepositoryChanges, path: str) -> ChangedFile:
    """Return the changed file with this path as clients see it.

    @raise ServiceError: 404.
    """
    for file in changes.files:
        if file.display_path == path:
            return file
    raise make_not_found_error("File")


async def read_file_diff(
    copy: WorkingCopy, base: ComparisonBase, file: ChangedFile, options: DiffOptions
) -> FileDiff:
    """Return one page of the hunks of a file, or its images.

    @raise ServiceError: 422 if git fails.
    """
    if file.is_submodule or "repository" in file.kinds:
        return FileDiff(file=file, page=HunkPage(hunks=()))
    if file.is_binary:
        old, new = await _read_images(copy, file)
        return FileDiff(file=file, page=HunkPage(hunks=()), old_image=old, new_image=new)
    hunks, cut = await read_hunks(copy, base, file, options)
    page = await copy.run_in_thread(partial(select_page, hunks, options.start))
    return FileDiff(file=file, page=page, is_cut=cut)


async def read_hunks(
    copy: WorkingCopy, base: ComparisonBase, file: ChangedFile, options: DiffOptions
) -> tuple[Sequence[Hunk], bool]:
    """Return all hunks of a text file, and true if they were cut.

    @raise ServiceError: 422 if git fails.
    """
    if "untracked" in file.kinds or file.status is FileStatus.DELETED:
        return await _compare_whole(copy, file)
    if file.status is FileStatus.ADDED:
        found = await _compare_whole(copy, file, converts_line_ends=True)
        if found is not None:
            return found
    words = (*DIFF_WORDS, f"-U{options.context}", *WHITESPACE_WORDS[options.whitespace])
    patch, cut = await copy.run_git((*words, *_name_sides(base, file)), DIFF_BYTES)
    return await copy.run_in_thread(partial(parse_hunks, patch)), cut


def _name_sides(base: ComparisonBase, file: ChangedFile) -> Sequence[str | bytes]:
    """Return the words of git for both sides of a tracked file.

    With a tree and a path git compares every file of the index with every other one: half a minute
    for 100,000 files.  With the blob itself it looks at the one file alone.
    """
    if file.old_blob is not None and file.status in _SAME_KIND:
        return (file.old_blob, "--", file.path)
    paths = [file.path] if file.original is None else [file.original, file.path]
    return (base.tree, "--", *paths)


async def read_base_content(copy: WorkingCopy, file: ChangedFile, limit: int) -> bytes | None:
    """Return the content of the file in the base.

    @return: C{None} if it was not there, or is longer than C{limit} bytes.
    @raise ServiceError: 422 if git fails.
    """
    if file.old_blob is None or file.is_submodule:
        return None
    data, cut = await copy.run_git(("cat-file", "blob", file.old_blob), limit)
    return None if cut else data


@overload
async def _compare_whole(copy: WorkingCopy, file: ChangedFile) -> tuple[Sequence[Hunk], bool]: ...


@overload
async def _compare_whole(
    copy: WorkingCopy, file: ChangedFile, *, converts_line_ends: bool
) -> tuple[Sequence[Hunk], bool] | None: ...


async def _compare_whole(
    copy: WorkingCopy, file: ChangedFile, *, converts_line_ends: bool = False
) -> tuple[Sequence[Hunk], bool] | None:
    """Return the hunks of a file of which one side is missing, and true if it is too large.

    An untracked file that the base has left the index: git then compares nothing.  So all its lines
    count as replaced, unless they are the same.

    @param converts_line_ends: true if git may convert the line ends of this file; C{None} is
        returned if it has some to convert.
    """
    before = await read_base_content(copy, file, DIFF_BYTES) or b""
    (found,) = await copy.read_files([file.path], DIFF_BYTES)
    now = found.data or b""
    if converts_line_ends and b"\r\n" in now:
        return None
    hunks = await copy.run_in_thread(partial(make_replaced_hunks, before, now))
    return hunks, found.exists and found.data is None


async def _list_committed(
    copy: WorkingCopy, head: GitHead, base: ComparisonBase
) -> frozenset[bytes]:
    if head.commit is None or base.commit in (None, head.commit):
        return frozenset()
    words = ("diff-tree", "-r", "--name-only", "-z", "--no-ext-diff", base.tree, "HEAD", "--")
    output, _ = await copy.run_git(words, LIST_BYTES)
    return frozenset(output.split(b"\0"))


def _merge_kinds(
    files: dict[bytes, ChangedFile], paths: ChangedPaths, committed: frozenset[bytes]
) -> Iterable[ChangedFile]:
    """Yield the files with their kinds, then the untracked ones that git's comparison lacks."""
    groups = (
        ("committed", committed),
        ("staged", paths.staged),
        ("unstaged", paths.unstaged),
        ("untracked", frozenset(paths.untracked)),
        ("conflicted", paths.conflicted),
    )
    for file in files.values():
        kinds = tuple(name for name, group in groups if file.path in group)
        if file.status is FileStatus.DELETED and "untracked" in kinds:
            file = evolve(file, status=FileStatus.MODIFIED)
        yield evolve(file, kinds=(*kinds, *file.kinds))
    for path in paths.untracked:
        if path not in files:
            kinds = ("untracked", "repository") if path.endswith(b"/") else ("untracked",)
            yield ChangedFile(path=path, status=FileStatus.ADDED, kinds=kinds)


def _is_changed(file: ChangedFile, paths: ChangedPaths) -> bool:
    """Return false for a file of which only the times changed: git compares it with the base until
    its index is written again.
    """
    if file.status is not FileStatus.MODIFIED or file.old_mode != file.new_mode or file.kinds:
        return True
    has_lines = file.added or file.removed or file.is_binary
    return bool(has_lines) and not paths.is_complete


async def _describe_files(copy: WorkingCopy, files: Sequence[ChangedFile]) -> Sequence[ChangedFile]:
    """Add what git does not say: hashes, the lines of untracked files, and what is generated."""
    found = await copy.read_files([file.path.rstrip(b"/") for file in files])
    generated = await _list_generated(copy, [file.path for file in files])
    return [
        _describe_file(file, now, is_generated=file.path in generated)
        for file, now in zip(files, found, strict=True)
    ]


def _describe_file(file: ChangedFile, now: WorkingFile, *, is_generated: bool) -> ChangedFile:
    generated = is_generated or is_generated_name(file.display_path)
    file = evolve(file, hash=now.hash, is_generated=generated)
    if "untracked" not in file.kinds:
        return file
    same = file.old_blob == now.hash
    return evolve(
        file,
        new_mode=now.mode,
        added=0 if same else now.lines,
        removed=0 if same else file.removed,
        is_binary=now.is_binary,
    )


async def _list_generated(copy: WorkingCopy, paths: Sequence[bytes]) -> frozenset[bytes]:
    """Return the paths that the repository declares generated (C{linguist-generated})."""
    if not paths:
        return frozenset()
    words = ("check-attr", "-z", "linguist-generated", "--")
    output, _ = await copy.run_git([*words, *paths[:_ATTRIBUTE_PATHS]], LIST_BYTES)
    fields = output.split(b"\0")
    triples = zip(fields[::3], fields[2::3], strict=False)
    return frozenset(path for path, value in triples if value in (b"set", b"true"))


async def _read_images(
    copy: WorkingCopy, file: ChangedFile
) -> tuple[ImageSide | None, ImageSide | None]:
    old_type, new_type = _find_image_type(file.base_path), _find_image_type(file.path)
    old = await read_base_content(copy, file, IMAGE_BYTES) if old_type else None
    (now,) = await copy.read_files([file.path], IMAGE_BYTES) if new_type else [WorkingFile()]
    return make_image(file.base_path, old), make_image(file.path, now.data)


def make_image(path: bytes, data: bytes | None) -> ImageSide | None:
    """Return a file as an image; C{None} if there is none, or its name is not that of an image."""
    media_type = _find_image_type(path)
    if media_type is None or data is None:
        return None
    return ImageSide(media_type=media_type, data=base64.b64encode(data).decode())


def _find_image_type(path: bytes) -> str | None:
    name = path.decode("utf-8", "backslashreplace").lower()
    return next((_IMAGES[end] for end in _IMAGES if name.endswith(end)), None)
