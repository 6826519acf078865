"""Making session records: every rule of protocol-create before anything is kept."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.clis.interfaces import Hooks, ICliRegistry
from tservice.core.clock import now_ms
from tservice.core.errors import ServiceError, not_found
from tservice.core.identity import Identity
from tservice.sessions.life.capacity import check_capacity
from tservice.sessions.life.launcher import Launcher
from tservice.sessions.life.workspaces import Workspaces
from tservice.sessions.record.model import NameSource, Session
from tservice.sessions.record.names import check_name, placeholder
from tservice.sessions.record.requests import CreateRequest
from tservice.sessions.roster import Roster, may_see


@frozen(kw_only=True)
class Defaults:
    """What a request leaves open (settings C{defaultMode}, C{defaultWorkingDir})."""

    mode: str = "primary"
    working_dir: str | None = None


@frozen(kw_only=True)
class Caps:
    """How many sessions there may be (C{SERVICE_MAX_SESSIONS}, C{_PER_USER})."""

    total: int
    per_user: int


class Creator:
    """Turns requests into records.

    @ivar random_bytes: where session ids come from.
    """

    def __init__(
        self,
        *,
        clock: IReactorTime,
        roster: Roster,
        clis: ICliRegistry,
        launcher: Launcher,
        workspaces: Workspaces,
        defaults: Callable[[], Defaults],
        caps: Caps,
        random_bytes: Callable[[int], bytes],
    ) -> None:
        self._clock = clock
        self._roster = roster
        self._clis = clis
        self._launcher = launcher
        self._workspaces = workspaces
        self._defaults = defaults
        self._caps = caps
        self._random_bytes = random_bytes

    def record(self, request: CreateRequest, caller: Identity) -> Session:
        """The record of a new session; nothing is kept or started yet.

        @raise ServiceError: 400 naming the field; 403: a folder or mode that the caller may not
            use; 404: no such case or parent; 422: the CLI is missing, or capacity is reached.
        """
        mode = request.mode or self._defaults().mode
        entry = self._clis.require(mode)
        user = self._launcher.os_users.of_caller(caller)
        owner = caller.username if self._workspaces.multiuser else None
        name, source = self._name(request)
        session = Session(
            id=str(uuid.UUID(bytes=self._random_bytes(16), version=4)),
            mode=mode,
            name=name,
            name_source=source,
            working_dir=self._folder(request, caller),
            case_name=request.case_name,
            created_at=now_ms(self._clock),
            last_activity_at=now_ms(self._clock),
            owner=owner,
            parent_session_id=self._parent(request.parent_session_id, caller, owner),
            agent_origin=request.agent_origin,
            position=self._roster.next_position(),
            params=dict(request.params),
            env_overrides=dict(request.env_overrides),
            conversation_ids=(request.resume_session_id,) if request.resume_session_id else (),
            cols=request.cols,
            rows=request.rows,
            hooks_available=entry.capabilities.hooks is not Hooks.NONE,
            statusline_telemetry=request.statusline_telemetry,
            os_user=None if user is None else user.id,
        )
        return self._complete(session, caller)

    def folders(self, request: CreateRequest) -> list[str]:
        """Where the session of C{request} may come to work."""
        return [request.working_dir or self._defaults().working_dir or ""]

    def find_parent(self, text: str | None, caller: Identity) -> str | None:
        """The living session of the same owner that C{text} names, whole or by 8 characters.

        A bad one is dropped, never an error (protocol-quickstart).
        """
        if text is None:
            return None
        owner = caller.username if self._workspaces.multiuser else None
        ids = [
            record.id
            for record in self._roster.records()
            if record.pid is not None and record.owner == owner
        ]
        if text in ids:
            return text
        found = [session_id for session_id in ids if session_id.startswith(text)]
        return found[0] if len(text) >= 8 and len(found) == 1 else None

    def fallback_name(self, session: Session) -> str:
        """A generated name that no other session of the owner has."""
        taken = {
            record.name
            for record in self._roster.records()
            if record.owner == session.owner and record.id != session.id
        }
        return placeholder(session.working_dir, session.mode, taken)

    def _complete(self, session: Session, caller: Identity) -> Session:
        resume = session.conversation_ids[-1] if session.conversation_ids else None
        plan = self._launcher.plan(session, granted=caller.can_bypass_permissions, resume=resume)
        check_capacity(
            self._roster.records(),
            session.owner,
            total=self._caps.total,
            per_user=self._caps.per_user,
        )
        name = session.name or self.fallback_name(session)
        return evolve(session, params=dict(plan.params), name=name)

    def _name(self, request: CreateRequest) -> tuple[str, NameSource]:
        name = check_name(request.name or "")
        return name, NameSource.MANUAL if name else NameSource.PLACEHOLDER

    def _folder(self, request: CreateRequest, caller: Identity) -> str:
        if request.case_name is not None:
            case = self._workspaces.case(request.case_name, caller)
            if request.working_dir is None:
                return case
        if request.working_dir is not None:
            return self._workspaces.folder(request.working_dir, caller)
        return self._workspaces.default(caller, self._defaults().working_dir)

    def _parent(self, parent: str | None, caller: Identity, owner: str | None) -> str | None:
        if parent is None:
            return None
        live = self._roster.find(parent)
        if live is None or live.record.owner != owner or not may_see(live.record, caller):
            raise _no_parent(parent)
        return parent


def _no_parent(parent: str) -> ServiceError:
    return not_found(f"parentSessionId: Session {parent}")
