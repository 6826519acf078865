"""Records of the machine's boot and of restored sessions, and rules to detect a reboot
(protocol-restore).
"""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from tservice.core.kernel.event_payloads import SessionExited

OFFERED_MS = 24 * 60 * 60 * 1000
"""Milliseconds after which an offer to restore a session expires."""


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
    """Boot of the machine, as the service last recorded it.

    @ivar boot_id: id of the boot; C{None} if the system has no boot ids.
    @ivar stopped_at: time of the service's last clean stop, Unix milliseconds.
    """

    boot_id: str | None
    stopped_at: int | None


@frozen(kw_only=True)
class RestoredSession:
    """Result of restoring one session.

    @ivar scrollback: true if the saved scrollback is shown above the current output.
    """

    session_id: str
    outcome: RestoreOutcome
    scrollback: bool = False


def may_have_rebooted(before: LastBoot | None, boot_id: str | None) -> bool:
    """Return true if the machine may have rebooted since C{before} was recorded.

    Without boot ids this is unknown and the result is true.  Sessions that still have a process are
    not restored in any case.
    """
    return before is not None and (boot_id is None or before.boot_id != boot_id)


def is_abnormal_exit(ending: SessionExited) -> bool:
    """Return true if the process exited with an error or was killed."""
    return ending.status != 0
