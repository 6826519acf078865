"""Sockets and status files of sessions, in a folder that no other user may enter."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from tservice.clis.interfaces import STATUS_SUFFIX

LONGEST = 100
"""Maximum bytes of a socket's path; with a longer one there is no channel."""
OWN_FOLDER = "codex-daemon-"
"""Beginning of the name of Codex' own folder for sockets, to which it links."""

_SUFFIX = ".sock"

RunFileWork = Callable[[Callable[[], None]], Awaitable[None]]


class CodexSockets:
    """Folder of the sockets.

    @param run: runs blocking work in a thread.
    """

    def __init__(self, folder: Path, run: RunFileWork) -> None:
        self._folder = folder.absolute()
        self._run = run

    def get_path(self, session_id: str) -> Path | None:
        """Return the path of a session's socket; C{None} if it is too long."""
        path = self._folder / (session_id + _SUFFIX)
        return path if len(os.fsencode(path)) <= LONGEST else None

    def make_folder(self) -> bool:
        """Create the folder with mode 0700, and return true if only this user can enter it.

        This blocks.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = self._folder.stat(follow_symlinks=False)
        return about.st_uid == os.getuid() and about.st_mode & 0o777 == 0o700

    async def remove(self, session_id: str) -> None:
        """Remove a session's socket, the one that it links to, and the session's status file."""
        path = self.get_path(session_id)
        if path is not None:
            await self._run(lambda: _remove_socket(path))


def _remove_socket(path: Path) -> None:
    # An agent that is killed at that moment leaves the new file beside the old one.
    for suffix in (STATUS_SUFFIX, f"{STATUS_SUFFIX}.new"):
        path.with_suffix(suffix).unlink(missing_ok=True)
    if not path.is_symlink():
        path.unlink(missing_ok=True)
        return
    target = path.readlink()
    path.unlink(missing_ok=True)
    if target.parent.name.startswith(OWN_FOLDER) and target.is_socket():
        target.unlink(missing_ok=True)
        target.with_name(f"{target.name}.lock").unlink(missing_ok=True)
