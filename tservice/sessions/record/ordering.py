"""Order of the session list (protocol-sessions, C{PUT /api/session-order})."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def reorder_positions(positions: Mapping[str, int], order: Iterable[str]) -> dict[str, int]:
    """Return the new positions of the sessions in C{order}, which contains each id once.

    The sessions exchange the positions that they held, so sessions outside C{order} keep theirs.

    @param positions: current positions by session id.
    """
    wanted = list(order)
    places = sorted(positions[session_id] for session_id in wanted)
    return dict(zip(wanted, places, strict=True))
