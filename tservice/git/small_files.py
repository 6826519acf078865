"""Safe reading of small files whose content or type an attacker may control."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from tservice.core.disk.kernel_paths import open_without_magic_links


def read_small_file(path: bytes, limit: int, *, links: bool = True) -> bytes | None:
    """Return the content of a plain file of at most C{limit} bytes.

    C{None} means that the file is missing, too large, or not a plain file.  The call never waits
    for a FIFO and never opens a device.

    @param links: true if C{path} may be a symbolic link to a plain file.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | (0 if links else os.O_NOFOLLOW)
    with suppress(OSError):
        if not stat.S_ISREG(os.stat(path, follow_symlinks=links).st_mode):
            return None
        with open(open_without_magic_links(os.fsdecode(path), flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            data = file.read(limit + 1)
        return data if len(data) <= limit else None
    return None
