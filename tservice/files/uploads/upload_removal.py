"""Removal of old uploads (protocol-uploads)."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from tservice.core.disk.kernel_paths import open_without_magic_links
from tservice.files.model import GENERATED_NAME, KEPT_SECONDS, LEGACY_UPLOADS, UPLOADS

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

NAMES = 100_000
"""Maximum number of names that are read from one folder at a time."""


def remove_old_workspace_uploads(workspace: str, now: float) -> int:
    """Remove uploads that are older than L{KEPT_SECONDS} and have a generated name.

    @param workspace: path of the workspace folder.
    @param now: Unix seconds.
    @return: the number of removed files.
    """
    try:
        top = open_without_magic_links(workspace, os.O_PATH | os.O_DIRECTORY)
    except OSError:  # the folder was removed with its uploads
        return 0
    try:
        return sum(
            _remove_old_from_folder_named(top, name, now) for name in (UPLOADS, LEGACY_UPLOADS)
        )
    finally:
        os.close(top)


def _remove_old_from_folder_named(top: int, name: str, now: float) -> int:
    try:
        folder = os.open(name.encode(), _FOLDER, dir_fd=top)
    except OSError:  # missing, or no folder
        return 0
    try:
        return remove_old_folder_uploads(folder, now)
    finally:
        os.close(folder)


def remove_old_folder_uploads(folder: int, now: float) -> int:
    """Remove old uploads from the folder with descriptor C{folder}; see
    L{remove_old_workspace_uploads}.
    """
    gone = 0
    with os.scandir(folder) as found:
        old = [
            os.fsencode(each.name)
            for each, _ in zip(found, range(NAMES), strict=False)
            if GENERATED_NAME.fullmatch(each.name) and _is_old(each, now)
        ]
    for name in old:
        with suppress(OSError):  # removed already, or not permitted
            os.unlink(name, dir_fd=folder)
            gone += 1
    return gone


def _is_old(each: os.DirEntry[str], now: float) -> bool:
    try:
        status = each.stat(follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and now - status.st_mtime > KEPT_SECONDS
