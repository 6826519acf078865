"""A case and a session in one call (protocol-quickstart)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.cases.interfaces import CasePlace, ICases, Marker
from tservice.core.clock import now_ms
from tservice.core.identity import Identity
from tservice.sessions.interfaces import Again
from tservice.sessions.life.create import Creator
from tservice.sessions.record.display import clean_line
from tservice.sessions.record.model import Session
from tservice.sessions.record.names import check_name
from tservice.sessions.record.requests import CreateRequest

ORIGIN_LENGTH = 64
"""Characters of an agent's origin."""


@frozen(kw_only=True)
class QuickStart:
    """What was asked for.

    @ivar session: the session as far as the body says.
    @ivar parent_hint: C{X-Service-Parent-Session}, used where the body is silent.
    @ivar origin_hint: C{X-Service-Agent-Origin}, likewise.
    """

    case_name: str
    session: CreateRequest
    parent_hint: str | None = None
    origin_hint: str | None = None


@frozen(kw_only=True)
class Prepared:
    """A record that may be kept.

    @ivar made: what is to be taken back, should it not come to that.
    """

    session: Session
    made: Sequence[CasePlace]


class QuickStarter:
    """Prepares the folder and the record; the session is started by the caller of it."""

    def __init__(self, clock: IReactorTime, creator: Creator, cases: ICases) -> None:
        self._clock = clock
        self._creator = creator
        self._cases = cases

    async def prepare(self, wanted: QuickStart, caller: Identity, again: Again) -> Prepared:
        """The record of the session, its folder made where it was missing.

        @param again: judges the caller once more, before git makes a worktree.
        @raise ServiceError: as L{Creator.record}, L{ICases.open} and L{ICases.add_worktree}.  What
            was made is gone again then.
        """
        check_name(wanted.session.name or "", "sessionName")
        parent = wanted.session.parent_session_id
        if parent is None:
            parent = self._creator.find_parent(wanted.parent_hint, caller)
        origin = wanted.session.agent_origin or _origin(wanted.origin_hint)
        marker = None
        if origin is not None:
            at = now_ms(self._clock)
            marker = Marker(created_at=at, created_by=origin, parent_session_id=parent)
        made = [await self._cases.open(wanted.case_name, caller, marker)]
        request = evolve(
            wanted.session,
            case_name=made[0].name,
            parent_session_id=parent,
            agent_origin=origin,
            start=True,
        )
        try:
            request, worktree = await self._creator.in_worktree(request, caller, again)
            made += [] if worktree is None else [worktree]
            session = await self._creator.record(request, caller)
        except Exception:
            await take_back(made)
            raise
        return Prepared(session=session, made=made)


async def take_back(made: Sequence[CasePlace]) -> None:
    """Undo what was made, the last first."""
    for place in reversed(made):
        await place.undo()


def _origin(text: str | None) -> str | None:
    """A header's origin, dropped when it is not fit to be kept."""
    if text is None or len(text) > ORIGIN_LENGTH or clean_line(text, ORIGIN_LENGTH) != text:
        return None
    return text or None
