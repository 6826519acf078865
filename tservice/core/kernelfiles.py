"""Folders whose files are the kernel's: nobody works there.

What is below them means something else to each process that looks (C{/proc/self} is whoever asks),
so that a folder found there by the service is not the one that a pane would get.
"""

from __future__ import annotations

import os
from pathlib import PurePath

KERNEL_FOLDERS = ("/proc", "/sys", "/dev")
"""Refused as working directories, with all below (protocol-create)."""

LINKS = 40
"""Symbolic links that the kernel follows in one path."""


def leads_to_kernel(path: str) -> bool:
    """Whether looking up C{path}, which is absolute, passes through a folder of the kernel.

    Its end alone would not tell: C{/proc/self/cwd} ends wherever the process works.
    """
    found, left, links = "/", _parts(path), 0
    while left:
        part = left.pop()
        if part == "..":
            found = os.path.dirname(found)
            continue
        found = os.path.join(found, part)
        if in_kernel(found):
            return True
        target = _target(found)
        if target is None:
            continue
        links += 1
        if links > LINKS:
            return False
        found = "/" if target.startswith("/") else os.path.dirname(found)
        left += _parts(target)
    return False


def in_kernel(path: str) -> bool:
    """Whether C{path} itself, links aside, is such a folder or below one."""
    plain = PurePath(os.path.normpath("/" + path.lstrip("/")))
    return any(plain.is_relative_to(folder) for folder in KERNEL_FOLDERS)


def _parts(path: str) -> list[str]:
    """The steps of C{path}, the first one last."""
    return [part for part in reversed(path.split("/")) if part not in ("", ".")]


def _target(path: str) -> str | None:
    try:
        return os.readlink(path)
    except OSError:
        return None
