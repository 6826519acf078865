"""Becomes a program in a user namespace, as C{rootlesskit} does it for docker without root.

Its root is a user of this machine, and it has a range of further users. It has mounts and a network
of its own.  Usage, by root: python rootless.py USER PROGRAM WORDS...
"""

from __future__ import annotations

import ctypes
import os
import sys

RANGE = (200_000, 65_536)
"""Where the further users begin on this machine, and how many they are."""

_NEW_USER, _NEW_MOUNTS, _NEW_NETWORK = 0x10000000, 0x00020000, 0x40000000


def main(user: int, command: list[str]) -> None:
    """Enter the namespaces and become C{command}."""
    told, tell = os.pipe()
    this = os.getpid()
    mapper = os.fork()
    if not mapper:
        # Whoever is inside may map nobody but itself.
        os.read(told, 1)
        for kind in ("uid", "gid"):
            with open(f"/proc/{this}/{kind}_map", "w") as file:
                file.write(f"0 {user} 1\n1 {RANGE[0]} {RANGE[1]}\n")
        os._exit(0)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_USER | _NEW_MOUNTS | _NEW_NETWORK):
        raise OSError(ctypes.get_errno(), "unshare")
    os.write(tell, b".")
    if os.waitpid(mapper, 0)[1]:
        raise OSError("the users could not be mapped")
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
