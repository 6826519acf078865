"""How many connections there may be: as many as leave the panes their descriptors."""

from __future__ import annotations

import resource

from twisted.logger import Logger

MAX_CONNECTIONS = 1024
"""Connections at a time, streams and WebSockets included.

For one more, one on which no answer is under way is dropped, else one whose answer is nobody's:
who opens connections and says nothing, says it slowly, or takes slowly what anybody may have, locks
nobody out.  Where there is none, the new one is closed at once; L{has_share} sees to that.
"""

FEW = 256
"""Of fewer than so many, one account may hold all: then more descriptors are asked for."""

OTHER_FILES = 200
"""Descriptors kept back for what is no connection: the database, logs, git, hooks, doctor."""

FILES_OF_A_SESSION = 4
"""Its client's three pipes, and its process while it is being ended."""

RELAYED = 256
"""Requests and sockets of web tabs at a time: each is a connection to its target as well."""

TABS_CONNECTIONS = 320
"""The same as L{MAX_CONNECTIONS}, of a listener of web tabs, where there is one."""

_log = Logger()


def kept_back(sessions: int, *, tabs_listener: bool = False) -> int:
    """How many descriptors are for something else.

    @param sessions: how many sessions there may be.
    @param tabs_listener: whether web tabs have a listener of their own.
    """
    return (
        OTHER_FILES
        + FILES_OF_A_SESSION * sessions
        + RELAYED
        + (TABS_CONNECTIONS if tabs_listener else 0)
    )


def room_for_connections(files: int, kept: int) -> int:
    """How many connections there may be, so that none of them takes a pane's descriptors.

    @param files: how many descriptors this process may have (C{ulimit -n}).
    @param kept: how many of them are L{kept_back}.
    """
    return max(1, min(MAX_CONNECTIONS, files - kept))


def has_share(held: int, used: int, most: int) -> bool:
    """Whether an account may have as many answers under way as it has.

    No more than are left for everybody else, so that one of them leaves half of all, and two a
    quarter; and a sixteenth is left whatever they do, for who looks after the service.

    @param held: connections on which the account's answers are under way, with the new one.
    @param used: the same of all accounts.
    @param most: how many connections there may be.
    """
    return used <= 1 or held <= most - most // 16 - used


def claim_room(kept: int) -> int:
    """The same for this process, which takes more descriptors where that would be L{FEW}.

    Those that its limits withhold are told of in the log: nobody would know why they are let in no
    more.
    """
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if room_for_connections(files, kept) < FEW:
        files = min(most, kept + FEW)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    room = room_for_connections(files, kept)
    if room < FEW:
        _log.warn(
            "only {room} connections at a time: of {files} descriptors (ulimit -n) {kept} are kept"
            " for sessions and the rest; allow {wanted}, or set max-sessions lower",
            room=room,
            files=files,
            kept=kept,
            wanted=kept + FEW,
        )
    return room
