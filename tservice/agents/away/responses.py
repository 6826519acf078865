"""Wire form of what happened while a person was away (protocol-away)."""

from __future__ import annotations

from tservice.core.values.payload import Payload, omit_if_none


class AwaySessionResponse(Payload):
    """Numbers of one session since its owner looked last.

    @ivar since: time of that look, Unix milliseconds.
    @ivar answered: questions that were answered.
    @ivar by_rule: those of them that approval rules answered.
    @ivar files: files that the agent's tools changed.
    @ivar commits: commits that the agent's shell commands made.
    @ivar checks: state of the last run of the checks that ended since; absent if none did.
    @ivar cost: US dollars.
    """

    id: str
    name: str
    since: int
    turns: int
    answered: int
    by_rule: int
    files: int
    commits: int
    checks: str | None = omit_if_none()
    cost: float
    is_busy: bool


class AwayResponse(Payload):
    """Sessions in which something happened, those with the most turns first.

    @ivar total: number of such sessions; the list has 50 of them at most.
    """

    sessions: list[AwaySessionResponse]
    total: int
