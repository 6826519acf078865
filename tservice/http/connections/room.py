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

_log = Logger()


def room_for_connections(files: int, sessions: int) -> int:
    """How many connections there may be, so that none of them takes a pane's descriptors.

    @param files: how many descriptors this process may have (C{ulimit -n}).
    @param sessions: how many sessions there may be.
    """
    return max(1, min(MAX_CONNECTIONS, files - _kept_back(sessions)))


def has_share(held: int, used: int, most: int) -> bool:
    """Whether an account may have as many answers under way as it has.

    No more than are left for everybody else, so that one of them leaves half of all, and two a
    quarter; and a sixteenth is left whatever they do, for who looks after the service.

    @param held: connections on which the account's answers are under way, with the new one.
    @param used: the same of all accounts.
    @param most: how many connections there may be.
    """
    return used <= 1 or held <= most - most // 16 - used


def claim_room(sessions: int) -> int:
    """The same for this process, which takes more descriptors where that would be L{FEW}.

    Those that its limits withhold are told of in the log: nobody would know why they are let in no
    more.
    """
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if room_for_connections(files, sessions) < FEW:
        files = min(most, _kept_back(sessions) + FEW)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    room = room_for_connections(files, sessions)
    if room < FEW:
        _log.warn(
            "only {room} connections at a time: {files} descriptors (ulimit -n) are few for"
            " {sessions} sessions; allow {wanted}, or set max-sessions lower",
            room=room,
            files=files,
            sessions=sessions,
            wanted=_kept_back(sessions) + FEW,
        )
    return room


def _kept_back(sessions: int) -> int:
    return OTHER_FILES + FILES_OF_A_SESSION * sessions
