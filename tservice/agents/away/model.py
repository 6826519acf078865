"""Records of what a session did since its owner looked last."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class Absence:
    """Counts of one session since its owner looked last.

    @ivar looked_at: Unix milliseconds.
    @ivar cost: the session's cost at that time, in US dollars.
    @ivar turns: turns that ended since.
    @ivar answered: questions that were answered since.
    @ivar by_rule: those of them that approval rules answered.
    """

    session_id: str
    looked_at: int
    cost: float = 0.0
    turns: int = 0
    answered: int = 0
    by_rule: int = 0

    @property
    def is_empty(self) -> bool:
        """True if nothing was counted."""
        return self.turns == 0 and self.answered == 0
