"""A mount whose server never answers: FUSE, with nobody at the other end of its descriptor."""

from __future__ import annotations

import ctypes
import os
import tempfile
from functools import cache
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)
_DETACH = 2


class DeadMount:
    """Whoever looks below C{path} waits until L{close}."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(exist_ok=True)
        self._server = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self._server},rootmode=40000,user_id=0,group_id=0".encode()
        if _libc.mount(b"dead", os.fsencode(path), b"fuse", 0, options) != 0:
            os.close(self._server)
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def close(self) -> None:
        """Take it away; those who wait get an error."""
        if self._server >= 0:
            _libc.umount2(os.fsencode(self.path), _DETACH)
            os.close(self._server)
            self._server = -1


@cache
def dead_mount_obstacle() -> str | None:
    """Why there can be no such mount here; C{None}: there can."""
    if os.geteuid() != 0:
        return "mounting takes root"
    folder = Path(tempfile.mkdtemp(prefix="dead"))
    try:
        DeadMount(folder).close()
    except OSError as error:
        return f"no FUSE: {error}"
    finally:
        folder.rmdir()
    return None
