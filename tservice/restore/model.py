"""The machine's boots, and what becomes of each session that is brought back (protocol-restore).

Pure.
"""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from tservice.core.payloads import ExitTold

OFFERED_MS = 24 * 60 * 60 * 1000
"""How long an offer stands."""


class RestoreOutcome(StrEnum):
    """What became of one session."""

    RESTORED = "restored"
    ALREADY_LIVE = "already-live"
    CAPACITY_REACHED = "capacity-reached"
    WORKSPACE_MISSING = "workspace-missing"
    WORKSPACE_FORBIDDEN = "workspace-forbidden"
    AGENT_FAILED = "agent-failed"
    """It did not start, or ended with an error within 3 s."""


@frozen(kw_only=True)
class LastHost:
    """The machine as the service saw it last.

    @ivar boot_id: C{None}: it has no names for its boots.
    @ivar stopped_at: Unix milliseconds when the service was stopped in good order.
    """

    boot_id: str | None
    stopped_at: int | None


@frozen(kw_only=True)
class Rebuilt:
    """One session's outcome.

    @ivar scrollback: what it had shown before stands above what it shows now.
    """

    session_id: str
    outcome: RestoreOutcome
    scrollback: bool = False


def rebooted(before: LastHost | None, boot_id: str | None) -> bool:
    """Whether the machine may have gone down since C{before}.

    Without names for boots nobody knows; who is alive tells then.
    """
    return before is not None and (boot_id is None or before.boot_id != boot_id)


def is_lost(ending: ExitTold) -> bool:
    """Whether C{ending} tells of a process that did not end well by itself."""
    return ending.status != 0
