"""Writing a few bytes without waiting for the reactor's next turn.

A transport of Twisted's hands to the system what it was given once the reactor has asked whether
there is room: a turn for each write.  For a key and its echo that turn is a good part of the way.
"""

from __future__ import annotations

from typing import Any

from twisted.internet.abstract import FileDescriptor

SMALL = 4096
"""Bytes up to which it is worth it; more is gathered by the transport, one call for many writes."""


def write_at_once(transport: Any, descriptor: Any, data: bytes) -> None:
    """Write C{data}, and hand it to the system now if it takes it.

    What waits there already goes first.  An error is left for the reactor, which meets it at its
    next turn and tells the protocol as ever.

    @param transport: takes C{data}; its producer, if it has one, must not be paused.
    @param descriptor: what C{transport} writes to; one that is no L{FileDescriptor}, such as
        TLS, is left to the reactor.
    """
    transport.write(data)
    small = len(data) <= SMALL and isinstance(descriptor, FileDescriptor)
    if small and descriptor.connected and not descriptor.disconnecting:
        descriptor.doWrite()
