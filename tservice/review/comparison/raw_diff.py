"""Parser of C{git diff --raw --numstat -z} (protocol-changes)."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from tservice.core.kernel.errors import make_failure_error
from tservice.review.model import SUBMODULE_MODE, ChangedFile, FileStatus

_STATUS = {
    b"A": FileStatus.ADDED,
    b"M": FileStatus.MODIFIED,
    b"D": FileStatus.DELETED,
    b"R": FileStatus.RENAMED,
    b"T": FileStatus.TYPE_CHANGED,
    b"U": FileStatus.CONFLICTED,
}
_NO_MODE = "000000"


def parse_raw_diff(output: bytes) -> dict[bytes, ChangedFile]:
    """Return the changed files by path, in git's order.

    The hash of a file in a working tree is zero: git has not calculated it.

    @raise ServiceError: 422: the output has another form.
    """
    files: dict[bytes, ChangedFile] = {}
    fields = iter(output.split(b"\0"))
    try:
        for first in fields:
            if not first:
                continue
            if first.startswith(b":"):
                _add_file(files, _parse_record(first, fields))
            else:
                _add_numbers(files, first, fields)
    except (StopIteration, RuntimeError, ValueError, KeyError):
        raise make_failure_error("git's output could not be read") from None
    return files


def _parse_record(first: bytes, fields: Iterator[bytes]) -> ChangedFile:
    old_mode, new_mode, old_blob, new_blob, letter = first[1:].split(b" ")
    original = next(fields) if letter[:1] in (b"R", b"C") else None
    path = next(fields)
    old, new = (_decode_mode(mode) for mode in (old_mode, new_mode))
    return ChangedFile(
        path=path,
        original=original,
        status=FileStatus.ADDED if letter[:1] == b"C" else _STATUS[letter[:1]],
        old_mode=old,
        new_mode=new,
        old_blob=old_blob.decode() if old else None,
        hash=new_blob.decode(),
        similarity=int(letter[1:]) if original is not None else None,
        kinds=("submodule",) if SUBMODULE_MODE in (old, new) else (),
    )


def _decode_mode(mode: bytes) -> str:
    text = mode.decode()
    return "" if text == _NO_MODE else text


def _add_file(files: dict[bytes, ChangedFile], file: ChangedFile) -> None:
    earlier = files.get(file.path)
    if earlier is not None and FileStatus.CONFLICTED in (earlier.status, file.status):
        # An unmerged path is listed again with the difference of its file.
        known = file if earlier.status is FileStatus.CONFLICTED else earlier
        file = evolve(known, status=FileStatus.CONFLICTED)
    files[file.path] = file


def _add_numbers(files: dict[bytes, ChangedFile], first: bytes, fields: Iterator[bytes]) -> None:
    added, removed, path = first.split(b"\t", 2)
    if not path:
        next(fields)
        path = next(fields)
    binary = added == b"-"
    known = files[path]
    files[path] = evolve(
        known,
        added=0 if binary else int(added),
        removed=0 if binary else int(removed),
        is_binary=binary,
    )
