"""Immediate writes of a few bytes, without waiting for the reactor's next iteration.

Twisted's transports pass data to the system only after the reactor has polled for writability, one
iteration for each write.  For a keystroke and its echo that iteration is a large part of the
latency.
"""

from __future__ import annotations

from typing import Any

from twisted.internet.abstract import FileDescriptor

SMALL = 4096
"""Maximum size in bytes of a write that is sent immediately.

Larger writes stay in the transport's buffer, where one system call sends several of them.
"""


def write_immediately(transport: Any, descriptor: Any, data: bytes) -> None:
    """Write C{data} and send it immediately if the system accepts it.

    Buffered data is sent first.  Errors are left to the reactor, which finds them at its next
    iteration and notifies the protocol as usual.

    @param transport: the transport to write to; its producer, if it has one, must not be paused.
    @param descriptor: the descriptor below C{transport}.  If it is not a L{FileDescriptor}, as for
        TLS, the data is written in the normal way.
    """
    transport.write(data)
    small = len(data) <= SMALL and isinstance(descriptor, FileDescriptor)
    if small and descriptor.connected and not descriptor.disconnecting:
        descriptor.doWrite()
