"""Limit on the number of connections, which reserves file descriptors for the panes."""

from __future__ import annotations

import resource

from twisted.logger import Logger

MAX_CONNECTIONS = 1024
"""Limit on concurrent connections, streams and WebSockets included.

A further connection replaces a connection without a response in progress.  If there is none, it
replaces one whose response belongs to no account.  Clients that hold silent or slow connections
therefore lock no user out.  If no connection can be replaced, the new one is closed at once;
L{is_within_share} prevents this case.
"""

FEW = 256
"""Minimum number of connections for which the service raises its descriptor limit."""

OTHER_FILES = 200
"""Number of descriptors reserved for other purposes: the database, logs, git, hooks, doctor."""

FILES_OF_A_SESSION = 4
"""Number of descriptors of a session: three pipes of its control client, and one for its process
while the session is being ended.
"""

RELAYED = 256
"""Limit on concurrent requests and sockets of web tabs, each of which needs a connection to its
target too.
"""

TABS_CONNECTIONS = 320
"""Limit on concurrent connections of a separate listener for web tabs, if there is one."""

_log = Logger()


def count_reserved_descriptors(sessions: int, *, tabs_listener: bool = False) -> int:
    """Return the number of descriptors that are not available for connections.

    @param sessions: the maximum number of sessions.
    @param tabs_listener: true if web tabs have a separate listener.
    """
    return (
        OTHER_FILES
        + FILES_OF_A_SESSION * sessions
        + RELAYED
        + (TABS_CONNECTIONS if tabs_listener else 0)
    )


def count_possible_connections(files: int, kept: int) -> int:
    """Return the number of connections that leaves enough descriptors for the panes.

    @param files: the descriptor limit of this process (C{ulimit -n}).
    @param kept: the number of reserved descriptors, see L{count_reserved_descriptors}.
    """
    return max(1, min(MAX_CONNECTIONS, files - kept))


def is_within_share(held: int, used: int, most: int) -> bool:
    """Return whether an account may have its current number of responses in progress.

    An account may use no more connections than are free for all others: one account uses at most
    half, two at most three quarters.  A sixteenth always stays free, for administration of the
    service.

    @param held: connections on which the account's responses are in progress, including the new
        one.
    @param used: connections on which responses of any account are in progress.
    @param most: the limit on connections.
    """
    return used <= 1 or held <= most - most // 16 - used


def raise_descriptor_limit(kept: int) -> int:
    """Return the number of connections for this process, raising its descriptor limit if needed.

    The descriptor limit is raised if it would allow fewer than L{FEW} connections.  If it cannot be
    raised so far, this is logged, so that the operator knows why callers are refused.

    @param kept: the number of reserved descriptors, see L{count_reserved_descriptors}.
    """
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if count_possible_connections(files, kept) < FEW:
        files = min(most, kept + FEW)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    room = count_possible_connections(files, kept)
    if room < FEW:
        _log.warn(
            "only {room} connections at a time: ulimit -n allows {files} descriptors, and {kept}"
            " are reserved for sessions and other files; allow {wanted}, or lower max-sessions",
            room=room,
            files=files,
            kept=kept,
            wanted=kept + FEW,
        )
    return room
