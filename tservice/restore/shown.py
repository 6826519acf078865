"""Wire form of the offer and of its outcomes (protocol-restore)."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from tservice.core.event_payloads import RestoreReportPayload
from tservice.core.payload import Payload, omit_if_false, omit_if_none
from tservice.restore.model import Rebuilt, RestoreOutcome
from tservice.restore.offer import Offer, Offered


class OfferedAnswer(Payload):
    """One session that can be brought back."""

    id: str
    name: str
    working_dir: str
    mode: str
    owner: str | None = omit_if_none()
    last_activity_at: int
    resumes: bool = Field(description="Its agent goes on with its last conversation")
    scrollback: bool = Field(description="What it showed was kept")


class OfferAnswer(Payload):
    """What can be brought back; times in Unix milliseconds."""

    sessions: list[OfferedAnswer]
    expires_at: int | None = Field(description="Null when nothing is offered")
    restoring: bool = Field(description="A restore of the caller's is running")


class RebuiltAnswer(Payload):
    """One session's outcome; C{scrollbackRestored} when what it showed stands above what it shows
    now."""

    session_id: str
    outcome: RestoreOutcome
    scrollback_restored: bool = omit_if_false()


class ReportAnswer(RestoreReportPayload):
    """What became of each."""

    entries: list[RebuiltAnswer]


class DismissalAnswer(Payload):
    """How many sessions are not offered any more."""

    dismissed: int


def offer_answer(offer: Offer) -> OfferAnswer:
    """Return the response for an offer."""
    return OfferAnswer(
        sessions=[_offered(one) for one in offer.sessions],
        expires_at=offer.expires_at,
        restoring=offer.restoring,
    )


def report(done: Iterable[Rebuilt]) -> ReportAnswer:
    """Return the response to a restore, which is also the payload of C{restore:finished}."""
    entries = [
        RebuiltAnswer(
            session_id=one.session_id, outcome=one.outcome, scrollback_restored=one.scrollback
        )
        for one in done
    ]
    restored = sum(1 for entry in entries if entry.outcome is RestoreOutcome.RESTORED)
    return ReportAnswer(restored=restored, skipped=len(entries) - restored, entries=entries)


def _offered(one: Offered) -> OfferedAnswer:
    session = one.session
    return OfferedAnswer(
        id=session.id,
        name=session.name,
        working_dir=session.working_dir,
        mode=session.mode,
        owner=session.owner,
        last_activity_at=session.last_activity_at,
        resumes=one.resumes,
        scrollback=one.scrollback,
    )
