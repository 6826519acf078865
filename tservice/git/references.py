"""Looking up one reference, without a process."""

from __future__ import annotations

import os
from io import BytesIO

from dulwich.errors import PackedRefsException
from dulwich.refs import Ref, check_ref_format, read_packed_refs

from tservice.git.model import Repository
from tservice.git.smallfiles import read_small

_PACKED_LIMIT = 32 * 1024 * 1024
_LOOSE_LIMIT = 4096
_FOLDERS = (b"refs/remotes/", b"refs/heads/", b"refs/")


def has_reference(repository: Repository, short: str) -> bool:
    """Whether something goes by the short name C{short}, for example C{origin/main}."""
    names = [Ref(folder + short.encode()) for folder in _FOLDERS]
    names = [name for name in names if check_ref_format(name)]
    return any(_loose(repository, name) for name in names) or _packed(repository, set(names))


def _loose(repository: Repository, name: bytes) -> bool:
    text = read_small(os.path.join(repository.common, name), _LOOSE_LIMIT)
    return bool(text and text.strip())


def _packed(repository: Repository, names: set[Ref]) -> bool:
    text = read_small(os.path.join(repository.common, b"packed-refs"), _PACKED_LIMIT)
    if text is None:
        return False
    # read_packed_refs refuses the lines of peeled tags that git writes.
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith((b"^", b"#"))]
    try:
        return any(name in names for _, name in read_packed_refs(BytesIO(b"".join(lines))))
    except PackedRefsException:
        return False
