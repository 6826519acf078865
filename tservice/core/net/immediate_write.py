"""Immediate writes of a few bytes, without waiting for the reactor's next iteration.

A transport of Twisted passes data to the system only once the reactor has polled for room: one
iteration for each write.  For a keystroke and its echo that iteration is a large part of the
latency.
"""

from __future__ import annotations

from typing import Any

from twisted.internet.abstract import FileDescriptor

SMALL = 4096
"""Largest write in bytes that is sent immediately; larger ones are buffered by the transport, one
call for many writes.
"""


def write_immediately(transport: Any, descriptor: Any, data: bytes) -> None:
    """Write C{data} and send it immediately if the system accepts it.

    Buffered data is sent first.  Errors are left to the reactor, which finds them at its next
    iteration and notifies the protocol as usual.

    @param transport: accepts C{data}; its producer, if it has one, must not be paused.
    @param descriptor: the descriptor that C{transport} writes to; if it is not a L{FileDescriptor},
        such as TLS, it is left to the reactor.
    """
    transport.write(data)
    small = len(data) <= SMALL and isinstance(descriptor, FileDescriptor)
    if small and descriptor.connected and not descriptor.disconnecting:
        descriptor.doWrite()
