"""Detection of folders that are on another mount than the service's data.

The kernel's mount table is read.  No mount is accessed, so a dead mount cannot block the caller.
"""

from __future__ import annotations

import os
import re
import select

TABLE = "/proc/self/mountinfo"

_DEVICE, _POINT = 2, 4
_ESCAPED = re.compile(rb"\\([0-7]{3})")


class MountTable:
    """Table of mounts by device.

    A device that is mounted twice is one entry, because it hangs at both mount points.
    """

    def __init__(self, own: str, table: str = TABLE) -> None:
        """@param own: a folder of the service; its mount is never reported as another one.
        @param table: the path of the kernel's mount table.
        """
        self._own = os.path.realpath(own)
        self._table = open(table, "rb", buffering=0)  # noqa: SIM115
        self._changes = select.poll()
        self._changes.register(self._table, select.POLLPRI | select.POLLERR)
        self._devices = self._read_table()

    def close(self) -> None:
        """Close the table; afterwards every path counts as being on the service's mount."""
        self._table.close()

    def find_other_device(self, path: str) -> str:
        """Return the device of the absolute C{path}; empty for the device of the service's folder.

        Symbolic links are not followed, because reading one would access the mount.
        """
        if self._table.closed:
            return ""
        if self._changes.poll(0):
            self._devices = self._read_table()
        found = self._find_device(os.path.normpath(path))
        return "" if found == self._find_device(self._own) else found

    def _find_device(self, path: str) -> str:
        while path not in self._devices:
            parent = os.path.dirname(path)
            if parent == path:
                return ""
            path = parent
        return self._devices[path]

    def _read_table(self) -> dict[str, str]:
        self._table.seek(0)
        lines = [line.split() for line in self._table.readall().splitlines()]
        return {_unescape_path(line[_POINT]): os.fsdecode(line[_DEVICE]) for line in lines}


def _unescape_path(escaped: bytes) -> str:
    return os.fsdecode(_ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), escaped))
