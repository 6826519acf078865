"""A mount whose server answers until it is told not to: FUSE, an empty folder."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
import threading
from pathlib import Path

from tests.waiting import PATIENCE

_libc = ctypes.CDLL(None, use_errno=True)
_FORCE, _DETACH = 1, 2
_ASKED, _ANSWER = struct.Struct("<IIQQIIII"), struct.Struct("<IiQ")
_GETATTR, _INIT, _OPENDIR = 3, 26, 27
_FORGET, _BATCH_FORGET, _RELEASEDIR, _READDIR = 2, 42, 29, 28
_LOOKUP = 1
_ROOT = 1


class FrozenMount:
    """An empty folder at C{path}, whose server answers so many more requests and then none.

    Nothing of it is cached: whoever looks, asks.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.asked = 0
        self.frozen = threading.Event()
        self._last: int | None = None
        self._server = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self._server},rootmode=40000,user_id=0,group_id=0".encode()
        if _libc.mount(b"frozen", os.fsencode(path), b"fuse", 0, options) != 0:
            os.close(self._server)
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def freeze(self, after: int) -> None:
        """Answer nothing more once so many requests from now on were answered."""
        self._last = self.asked + after

    def thaw(self) -> None:
        """Take the mount away, with all who wait; there is an empty one in its place."""
        self.close()
        self.path.rmdir()
        self.__init__(self.path)  # type: ignore[misc]

    def close(self) -> None:
        """Take it away; those who wait get an error."""
        _libc.umount2(os.fsencode(self.path), _FORCE | _DETACH)
        self._thread.join(PATIENCE)
        os.close(self._server)

    def _serve(self) -> None:
        while True:
            try:
                asked = os.read(self._server, 1 << 20)
            except OSError:
                return  # it was taken away
            _, kind, unique, *_ = _ASKED.unpack_from(asked)
            if kind in (_FORGET, _BATCH_FORGET):
                continue
            if kind != _INIT:
                self.asked += 1
                if self._last is not None and self.asked > self._last:
                    self.frozen.set()
                    continue
            self._tell(unique, _said(kind))

    def _tell(self, unique: int, said: bytes | int) -> None:
        content = b"" if isinstance(said, int) else said
        error = -said if isinstance(said, int) else 0
        answer = _ANSWER.pack(_ANSWER.size + len(content), error, unique) + content
        try:
            os.write(self._server, answer)
        except FileNotFoundError:
            return  # who had asked was interrupted


def _said(kind: int) -> bytes | int:
    """The answer to a request, or the number of its error."""
    if kind == _INIT:
        return struct.pack("<IIIIHHII", 7, 31, 0, 0, 16, 12, 1 << 17, 1) + bytes(32)
    if kind == _GETATTR:
        mode = stat.S_IFDIR | 0o755
        head, times = struct.pack("<QII", 0, 0, 0), struct.pack("<6Q", _ROOT, 0, 0, 0, 0, 0)
        return head + times + struct.pack("<10I", 0, 0, 0, mode, 2, 0, 0, 0, 4096, 0)
    if kind == _OPENDIR:
        return struct.pack("<QII", 1, 0, 0)
    if kind in (_READDIR, _RELEASEDIR):
        return b""
    return errno.ENOENT if kind == _LOOKUP else errno.ENOSYS
