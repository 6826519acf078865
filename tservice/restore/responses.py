"""Wire form of offers to restore sessions, and of the results (protocol-restore)."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from tservice.core.kernel.event_payloads import RestoreReportPayload
from tservice.core.values.payload import Payload, omit_if_false, omit_if_none
from tservice.restore.model import RestoredSession, RestoreOutcome
from tservice.restore.offer import RestorableSession, RestoreOffer


class RestorableSessionResponse(Payload):
    """Session that can be restored."""

    id: str
    name: str
    working_dir: str
    mode: str
    owner: str | None = omit_if_none()
    last_activity_at: int
    resumes: bool = Field(description="True if its agent continues its last conversation")
    scrollback: bool = Field(description="True if its output was saved")


class RestoreOfferResponse(Payload):
    """Sessions that can be restored; times in Unix milliseconds."""

    sessions: list[RestorableSessionResponse]
    expires_at: int | None = Field(description="Null if nothing is offered")
    restoring: bool = Field(description="True while a restore of the caller's sessions is running")


class RestoredSessionResponse(Payload):
    """Result for one session. C{scrollbackRestored} is true if its earlier output is shown above
    the new output.
    """

    session_id: str
    outcome: RestoreOutcome
    scrollback_restored: bool = omit_if_false()


class RestoreReportResponse(RestoreReportPayload):
    """Result for each session."""

    entries: list[RestoredSessionResponse]


class OfferDismissedResponse(Payload):
    """Number of sessions that are no longer offered."""

    dismissed: int


def make_offer_response(offer: RestoreOffer) -> RestoreOfferResponse:
    """Return the wire form of an offer."""
    return RestoreOfferResponse(
        sessions=[_session_response(one) for one in offer.sessions],
        expires_at=offer.expires_at,
        restoring=offer.restoring,
    )


def make_report(done: Iterable[RestoredSession]) -> RestoreReportResponse:
    """Return the response to a restore; it is also the payload of C{restore:finished}."""
    entries = [
        RestoredSessionResponse(
            session_id=one.session_id, outcome=one.outcome, scrollback_restored=one.scrollback
        )
        for one in done
    ]
    restored = sum(1 for entry in entries if entry.outcome is RestoreOutcome.RESTORED)
    return RestoreReportResponse(
        restored=restored, skipped=len(entries) - restored, entries=entries
    )


def _session_response(one: RestorableSession) -> RestorableSessionResponse:
    session = one.session
    return RestorableSessionResponse(
        id=session.id,
        name=session.name,
        working_dir=session.working_dir,
        mode=session.mode,
        owner=session.owner,
        last_activity_at=session.last_activity_at,
        resumes=one.resumes,
        scrollback=one.scrollback,
    )
