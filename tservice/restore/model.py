"""Boots of the machine, and outcomes of restored sessions (protocol-restore).

Pure.
"""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from tservice.core.event_payloads import SessionExited

OFFERED_MS = 24 * 60 * 60 * 1000
"""Lifetime of an offer in milliseconds."""


class RestoreOutcome(StrEnum):
    """Result of the restore of one session."""

    RESTORED = "restored"
    ALREADY_LIVE = "already-live"
    CAPACITY_REACHED = "capacity-reached"
    WORKSPACE_MISSING = "workspace-missing"
    WORKSPACE_FORBIDDEN = "workspace-forbidden"
    AGENT_FAILED = "agent-failed"
    """The agent did not start, or ended with an error within 3 s."""


@frozen(kw_only=True)
class LastBoot:
    """The machine as the service last recorded it.

    @ivar boot_id: C{None}: it has no boot ids.
    @ivar stopped_at: Unix milliseconds when the service was stopped cleanly.
    """

    boot_id: str | None
    stopped_at: int | None


@frozen(kw_only=True)
class RestoredSession:
    """Outcome of one session.

    @ivar scrollback: its saved scrollback is shown above its current output.
    """

    session_id: str
    outcome: RestoreOutcome
    scrollback: bool = False


def may_have_rebooted(before: LastBoot | None, boot_id: str | None) -> bool:
    """Return whether the machine may have rebooted since C{before}.

    Without boot ids this is unknown, and the running processes decide.
    """
    return before is not None and (boot_id is None or before.boot_id != boot_id)


def is_abnormal_exit(ending: SessionExited) -> bool:
    """Return whether C{ending} reports a process that failed or was killed."""
    return ending.status != 0
