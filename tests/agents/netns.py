"""A network that ends at loopback, for the test process and all its children.

Agent CLIs try hosts of their own (updates, telemetry, marketplaces).  As root
the test process itself moves into a fresh network namespace whose only
interface is C{lo}: everything it starts from then on (the daemon, tmux, the
stub model, the CLI) is inside as well, and the test reaches the daemon over
plain TCP on 127.0.0.1, because its own new sockets are inside too.  No driver
script and no relay is needed.  Sockets opened before stay where they were.

Without root nothing is isolated; the CLIs then get a proxy that refuses
everything (L{dead_proxy}) and the report header says so.

A namespace belongs to a thread: enter and leave it on the main thread, and
start no thread in between that must outlive it.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

_CLONE_NEWNET = 0x40000000
_SIOCGIFFLAGS, _SIOCSIFFLAGS = 0x8913, 0x8914
_IFF_UP = 1
_OWN = "/proc/thread-self/ns/net"


def _call(name: str, *arguments: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16sh22x", b"lo", 0)
        answer = fcntl.ioctl(handle, _SIOCGIFFLAGS, request)
        flags = struct.unpack("16sh22x", answer)[1]
        fcntl.ioctl(handle, _SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", flags | _IFF_UP))


def can_isolate() -> bool:
    """Whether this process may make a network namespace."""
    return os.geteuid() == 0


@contextmanager
def loopback_only() -> Iterator[bool]:
    """Be inside a namespace of one's own; whether that was possible.

    @raise OSError: root is not allowed to (a container without the capability).
    """
    if not can_isolate():
        yield False
        return
    before = os.open(_OWN, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _call("unshare", _CLONE_NEWNET)
        try:
            _loopback_up()
            yield True
        finally:
            _call("setns", before, _CLONE_NEWNET)
    finally:
        os.close(before)


@contextmanager
def inside_network_of(pid: int) -> Iterator[None]:
    """Be inside the network namespace of a process.

    @raise OSError: it is over, or this process is not root.
    """
    other = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    before = os.open(_OWN, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _call("setns", other, _CLONE_NEWNET)
        try:
            yield
        finally:
            _call("setns", before, _CLONE_NEWNET)
    finally:
        os.close(other)
        os.close(before)


def interface_names() -> list[str]:
    """Names of the interfaces that this thread sees."""
    return [name for _, name in socket.if_nameindex()]


def dead_proxy() -> dict[str, str]:
    """Environment that sends every request but loopback's to a closed port."""
    refused = "http://127.0.0.1:9"
    return {
        "HTTP_PROXY": refused,
        "HTTPS_PROXY": refused,
        "http_proxy": refused,
        "https_proxy": refused,
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }
