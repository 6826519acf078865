"""Old uploads, taken away again (protocol-uploads)."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from tservice.core.kernelfiles import open_plain
from tservice.files.model import KEPT_SECONDS, OLDER_UPLOADS, OURS, UPLOADS

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

NAMES = 100_000
"""Of one folder that are looked at in one sweep."""


def sweep_workspace(workspace: str, now: float) -> int:
    """Take away what is older than L{KEPT_SECONDS} and has a name of ours.

    @param now: Unix seconds.
    @return: how many files went.
    """
    try:
        top = open_plain(workspace, os.O_PATH | os.O_DIRECTORY)
    except OSError:  # it is gone, and its uploads with it
        return 0
    try:
        return sum(_sweep(top, name, now) for name in (UPLOADS, OLDER_UPLOADS))
    finally:
        os.close(top)


def _sweep(top: int, name: str, now: float) -> int:
    try:
        folder = os.open(name.encode(), _FOLDER, dir_fd=top)
    except OSError:  # none, or no folder
        return 0
    try:
        return sweep_folder(folder, now)
    finally:
        os.close(folder)


def sweep_folder(folder: int, now: float) -> int:
    """As L{sweep_workspace}, in one folder by its descriptor."""
    gone = 0
    with os.scandir(folder) as found:
        old = [
            os.fsencode(each.name)
            for each, _ in zip(found, range(NAMES), strict=False)
            if OURS.fullmatch(each.name) and _is_old(each, now)
        ]
    for name in old:
        with suppress(OSError):  # somebody else was faster, or it is not to be had
            os.unlink(name, dir_fd=folder)
            gone += 1
    return gone


def _is_old(each: os.DirEntry[str], now: float) -> bool:
    try:
        status = each.stat(follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and now - status.st_mtime > KEPT_SECONDS
