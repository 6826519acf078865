"""Creates a case and a session in one call (protocol-quickstart)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.cases.interfaces import AgentMarker, ICases, ResolvedCase
from tservice.core.callers.caller import Caller
from tservice.core.kernel.clock import get_unix_ms
from tservice.sessions.life.creator import SessionCreator
from tservice.sessions.record.display import clean_line
from tservice.sessions.record.model import Session
from tservice.sessions.record.names import check_name
from tservice.sessions.record.requests import CreateRequest

ORIGIN_LENGTH = 64
"""Maximum characters of an agent's origin."""


@frozen(kw_only=True)
class QuickStartRequest:
    """Request for a case and a session in it.

    @ivar session: the session as specified by the request body.
    @ivar parent_hint: header C{X-Service-Parent-Session}, used if the body contains no parent.
    @ivar origin_hint: header C{X-Service-Agent-Origin}, used if the body contains no origin.
    """

    case_name: str
    session: CreateRequest
    parent_hint: str | None = None
    origin_hint: str | None = None


@frozen(kw_only=True)
class PreparedSession:
    """Session record that is ready to be saved.

    @ivar made: folders and worktrees to remove if the session is not created.
    """

    session: Session
    made: Sequence[ResolvedCase]


class QuickStartPreparer:
    """Prepares a session's folder and record. The caller starts the session."""

    def __init__(self, clock: IReactorTime, creator: SessionCreator, cases: ICases) -> None:
        self._clock = clock
        self._creator = creator
        self._cases = cases

    async def prepare_session(self, wanted: QuickStartRequest, caller: Caller) -> PreparedSession:
        """Create the case's folder if it is missing, and return the session's record.

        @param caller: authorized again before git creates a worktree.
        @raise ServiceError: as L{SessionCreator.make_record}, L{ICases.open_or_create} and
            L{ICases.add_worktree}. Created folders are then removed again.
        """
        check_name(wanted.session.name or "", "sessionName")
        parent = wanted.session.parent_session_id
        if parent is None:
            parent = self._creator.find_parent(wanted.parent_hint, caller)
        origin = wanted.session.agent_origin or _parse_origin(wanted.origin_hint)
        marker = None
        if origin is not None:
            at = get_unix_ms(self._clock)
            marker = AgentMarker(created_at=at, created_by=origin, parent_session_id=parent)
        made = [await self._cases.open_or_create(wanted.case_name, caller, marker)]
        request = evolve(
            wanted.session,
            case_name=made[0].name,
            parent_session_id=parent,
            agent_origin=origin,
            start=True,
        )
        try:
            request, worktree = await self._creator.create_worktree(request, caller)
            made += [] if worktree is None else [worktree]
            session = await self._creator.make_record(request, caller)
        except Exception:
            await undo_created(made)
            raise
        return PreparedSession(session=session, made=made)


async def undo_created(made: Sequence[ResolvedCase]) -> None:
    """Remove the created folders and worktrees, the last first."""
    for place in reversed(made):
        await place.undo()


def _parse_origin(text: str | None) -> str | None:
    """Return the origin from a header; C{None} if it is malformed."""
    if text is None or len(text) > ORIGIN_LENGTH or clean_line(text, ORIGIN_LENGTH) != text:
        return None
    return text or None
