"""Folder in which root provides the files that OS users' panes need.

The data folder is accessible to the service only, so this is a separate one::

    /var/lib/tservice-osusers/            root 0711
        <digest of the data folder>/      root 0711: to pass through, not to list
            keeper.py tmux.conf           root 0644
            <uid>.hook-secret             the user's, 0400
            <uid>/                        the user's, 0700: sockets of the panes

Every folder on the way belongs to root, so no user can replace a file that root writes by a link.
Root writes nothing below C{<uid>/}.  The folder is on a disk, not in C{/run}: users must not be
able to fill the space of the machine's runtime files.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from tservice.core.disk.files import FileError, UnsafeFile, read_text, replace_atomically
from tservice.core.users.os_users import OsUser

BASE = Path("/var/lib/tservice-osusers")

_PASSAGE = 0o711
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class SharedFolder:
    """Folder shared with OS users, one for each data folder.

    @ivar path: the folder, which L{create_folder} creates.
    """

    def __init__(self, data_dir: Path, base: Path = BASE) -> None:
        digest = hashlib.sha256(os.fsencode(data_dir.absolute())).hexdigest()[:16]
        self.path = base / digest

    def create_folder(self) -> None:
        """Create the folder.

        @raise UnsafeFile: another user could change one of its parent folders.
        @raise OSError: the folder cannot be created.
        """
        for folder in (self.path.parent, self.path):
            folder.mkdir(mode=_PASSAGE, exist_ok=True)
            self._set_owner(folder, os.geteuid(), os.getegid(), _PASSAGE)

    def get_user_folder(self, user: OsUser) -> Path:
        """Return the folder for the sockets of C{user}'s panes, which L{create_user_folder}
        creates.
        """
        return self.path / str(user.uid)

    def create_user_folder(self, user: OsUser) -> Path:
        """Create the folder for the sockets of C{user}'s panes, accessible to that user only.

        @raise UnsafeFile: the folder exists and belongs to another user.
        @raise OSError: the folder cannot be created.
        """
        self.create_folder()
        folder = self.get_user_folder(user)
        folder.mkdir(mode=0o700, exist_ok=True)
        self._set_owner(folder, user.uid, user.gid, 0o700)
        return folder

    def write_file(self, name: str, text: str, mode: int, user: OsUser | None = None) -> Path:
        """Write a file to the folder, unless its content is up to date.

        @param user: the owner of the file.  C{None} for root.
        @raise OSError: the file cannot be written.
        """
        path = self.path / name
        if _is_up_to_date(path, text, mode):
            return path
        uid, gid = (os.geteuid(), os.getegid()) if user is None else (user.uid, user.gid)
        with replace_atomically(path) as temporary:
            temporary.write_text(text, "utf-8")
            os.chown(temporary, uid, gid)
            temporary.chmod(mode)
        return path

    def list_user_folders(self) -> list[Path]:
        """Return the existing folders of all users."""
        if not self.path.is_dir():
            return []
        return [each for each in self.path.iterdir() if each.name.isdigit() and each.is_dir()]

    def _set_owner(self, folder: Path, uid: int, gid: int, mode: int) -> None:
        descriptor = os.open(folder, _FLAGS)
        try:
            if os.fstat(descriptor).st_uid not in (uid, os.geteuid()):
                raise UnsafeFile(f"{folder} belongs to another user")
            os.fchown(descriptor, uid, gid)
            os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)


def _is_up_to_date(path: Path, text: str, mode: int) -> bool:
    try:
        found = path.lstat()
        same = stat.S_ISREG(found.st_mode) and stat.S_IMODE(found.st_mode) == mode
        return same and read_text(path) == text
    except (OSError, FileError):  # its owner may have written anything to it
        return False
