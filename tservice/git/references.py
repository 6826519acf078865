"""Lookup of a reference in the files of a repository, without running git."""

from __future__ import annotations

import os
import re

from tservice.git.model import GitRepository
from tservice.git.small_files import read_small_file

_PACKED_LIMIT = 32 * 1024 * 1024
_LOOSE_LIMIT = 4096
_HASHES = (40, 64)
"""Number of hexadecimal digits of a hash, for SHA-1 and SHA-256."""
_HASH = re.compile(rb"[0-9a-f]+")
_LINE_END = ord("\n")
_FOLDERS = (b"refs/remotes/", b"refs/heads/", b"refs/")


def is_valid_reference(name: bytes) -> bool:
    """Return whether C{name} is the full name of a reference as git permits it."""
    from dulwich.refs import Ref, check_ref_format  # 3 MB that an idle service does not need

    return check_ref_format(Ref(name))


def has_reference(repository: GitRepository, short: str) -> bool:
    """Return true if a reference has the short name C{short}, for example C{origin/main}."""
    names = [folder + short.encode() for folder in _FOLDERS]
    names = [name for name in names if is_valid_reference(name)]
    return any(_has_loose_reference(repository, name) for name in names) or _has_packed_reference(
        repository, set(names)
    )


def _has_loose_reference(repository: GitRepository, name: bytes) -> bool:
    text = read_small_file(os.path.join(repository.common, name), _LOOSE_LIMIT)
    return bool(text and text.strip())


def _has_packed_reference(repository: GitRepository, names: set[bytes]) -> bool:
    text = read_small_file(os.path.join(repository.common, b"packed-refs"), _PACKED_LIMIT)
    if text is None:
        return False
    return any(_has_reference_line(text, name) for name in names)


def _has_reference_line(text: bytes, name: bytes) -> bool:
    """Return true if C{text}, the content of C{packed-refs}, has a line with a hash and C{name}.

    The text is not split into lines, because a file of millions of lines would block other work.
    """
    wanted = b" " + name
    at = text.find(wanted)
    while at >= 0:
        ends = text[at + len(wanted) : at + len(wanted) + 1]
        if ends in (b"", b"\n", b"\r") and any(_is_hash(text, at, size) for size in _HASHES):
            return True
        at = text.find(wanted, at + 1)
    return False


def _is_hash(text: bytes, end: int, size: int) -> bool:
    """Return true if the line's part before C{end} is exactly C{size} hexadecimal digits."""
    start = end - size
    begins = start == 0 or (start > 0 and text[start - 1] == _LINE_END)
    return begins and _HASH.fullmatch(text, start, end) is not None
