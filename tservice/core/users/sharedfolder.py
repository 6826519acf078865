"""Where root leaves for OS users what their panes need.

The data folder is closed to everybody but the service, so this is another one::

    /var/lib/tservice-osusers/            root 0711
        <digest of the data folder>/      root 0711: to pass through, not to list
            keeper.py tmux.conf           root 0644
            <uid>.hook-secret             the user's, 0400
            <uid>/                        the user's, 0700: sockets of the panes

Every folder on the way is root's, so no user can put a link in the place of anything that root
writes here; below C{<uid>/} root writes nothing.  It is on a disk, not in C{/run}: what a user
fills there must not be the machine's runtime files' room.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from tservice.core.files import FileError, UnsafeFile, read_text, replacement
from tservice.core.users.osuser import OsUser

BASE = Path("/var/lib/tservice-osusers")

_PASSAGE = 0o711
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class SharedFolder:
    """One data folder's part.

    @ivar path: the folder; made by L{prepare}.
    """

    def __init__(self, data_dir: Path, base: Path = BASE) -> None:
        digest = hashlib.sha256(os.fsencode(data_dir.absolute())).hexdigest()[:16]
        self.path = base / digest

    def prepare(self) -> None:
        """Make it.

        @raise UnsafeFile: somebody else could change what is on the way to it.
        @raise OSError: it cannot be made.
        """
        for folder in (self.path.parent, self.path):
            folder.mkdir(mode=_PASSAGE, exist_ok=True)
            self._own(folder, os.geteuid(), os.getegid(), _PASSAGE)

    def folder_of(self, user: OsUser) -> Path:
        """Where the sockets of C{user}'s panes are; made by L{prepare_for}."""
        return self.path / str(user.uid)

    def prepare_for(self, user: OsUser) -> Path:
        """Make L{folder_of} C{user}: the user's alone.

        @raise UnsafeFile: it is there and somebody else's.
        @raise OSError: it cannot be made.
        """
        self.prepare()
        folder = self.folder_of(user)
        folder.mkdir(mode=0o700, exist_ok=True)
        self._own(folder, user.uid, user.gid, 0o700)
        return folder

    def put(self, name: str, text: str, mode: int, user: OsUser | None = None) -> Path:
        """Have a file there with this content, owned by C{user} (C{None}: root).

        @raise OSError: it cannot be written.
        """
        path = self.path / name
        if _holds(path, text, mode):
            return path
        uid, gid = (os.geteuid(), os.getegid()) if user is None else (user.uid, user.gid)
        with replacement(path) as temporary:
            temporary.write_text(text, "utf-8")
            os.chown(temporary, uid, gid)
            temporary.chmod(mode)
        return path

    def folders(self) -> list[Path]:
        """Every user's folder that is there."""
        if not self.path.is_dir():
            return []
        return [each for each in self.path.iterdir() if each.name.isdigit() and each.is_dir()]

    def _own(self, folder: Path, uid: int, gid: int, mode: int) -> None:
        descriptor = os.open(folder, _FLAGS)
        try:
            if os.fstat(descriptor).st_uid not in (uid, os.geteuid()):
                raise UnsafeFile(f"{folder} belongs to somebody else")
            os.fchown(descriptor, uid, gid)
            os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)


def _holds(path: Path, text: str, mode: int) -> bool:
    try:
        found = path.lstat()
        same = stat.S_ISREG(found.st_mode) and stat.S_IMODE(found.st_mode) == mode
        return same and read_text(path) == text
    except (OSError, FileError):  # its owner may have put anything into it
        return False
