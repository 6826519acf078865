"""Creates session records. Every rule of protocol-create is checked before a record is saved."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import PurePosixPath

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.cases.interfaces import ICases, ResolvedCase
from tservice.clis.interfaces import HookSupport, ICliRegistry
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_failure_error,
    make_field_error,
    make_not_found_error,
)
from tservice.core.locations.location import Location, LocationId, LocationKind
from tservice.sessions.life.capacity import check_capacity
from tservice.sessions.life.launcher import PaneLauncher
from tservice.sessions.record.display import initial_models
from tservice.sessions.record.model import (
    MODEL_PARAMS,
    NameSource,
    Session,
    location_fields,
)
from tservice.sessions.record.names import check_name, generate_name
from tservice.sessions.record.requests import CreateRequest
from tservice.sessions.registry import SessionRegistry, may_see

CHILDREN = 8
"""Maximum number of existing sessions that an agent created with its token."""


@frozen(kw_only=True)
class CreationDefaults:
    """Values for fields that a request omits (settings C{defaultMode}, C{defaultWorkingDir})."""

    mode: str = "primary"
    working_dir: str | None = None


@frozen(kw_only=True)
class SessionCaps:
    """Maximum number of sessions (C{SERVICE_MAX_SESSIONS}, C{_PER_USER})."""

    total: int
    per_user: int


class SessionCreator:
    """Makes session records from requests.

    @ivar random_bytes: returns random bytes for the session ids.
    """

    def __init__(
        self,
        *,
        clock: IReactorTime,
        roster: SessionRegistry,
        clis: ICliRegistry,
        launcher: PaneLauncher,
        cases: ICases,
        defaults: Callable[[], CreationDefaults],
        caps: SessionCaps,
        random_bytes: Callable[[int], bytes],
    ) -> None:
        self._clock = clock
        self._roster = roster
        self._clis = clis
        self._launcher = launcher
        self._cases = cases
        self._defaults = defaults
        self._caps = caps
        self._random_bytes = random_bytes

    async def make_record(self, request: CreateRequest, caller: Identity) -> Session:
        """Return the record of a new session, which is neither saved nor started.

        The method does not wait after the checks of capacity and names, so the caller must save the
        record immediately.

        @raise ServiceError: 400 naming the field; 403: a folder or mode that the caller may not
            use; 404: no such case or parent; 422: the CLI is missing, capacity is reached, or a
            folder is not reachable.
        """
        self._clis.get_enabled_entry(self.find_requested_mode(request))
        self._choose_name_and_source(request)
        if request.attach is not None:
            return self._build_record(
                request, caller, *await self._locate_attached(request.attach, caller)
            )
        name = request.case_name
        case = None if name is None else await self._cases.resolve_case(name, caller)
        folder = await self._find_working_folder(request, case, caller)
        place = await self._find_location(case, caller)
        if not place.has_local_files:
            folder = _expand_home(folder, place)
        if case is None:
            return self._build_record(request, caller, place, None, folder)
        self._cases.check_not_removed(case.name, caller)
        return self._build_record(request, caller, place, case.name, folder)

    def _build_record(
        self,
        request: CreateRequest,
        caller: Identity,
        place: Location,
        case_name: str | None,
        folder: str,
    ) -> Session:
        mode = self.find_requested_mode(request)
        entry = self._clis.get_enabled_entry(mode)
        owner = self._cases.get_owner_name(caller)
        name, source = self._choose_name_and_source(request)
        custom = request.custom_model
        session = Session(
            id=str(uuid.UUID(bytes=self._random_bytes(16), version=4)),
            mode=mode,
            name=name,
            name_source=source,
            working_dir=folder,
            case_name=case_name,
            created_at=get_unix_ms(self._clock),
            last_activity_at=get_unix_ms(self._clock),
            owner=owner,
            parent_session_id=self._find_permitted_parent(request.parent_session_id, caller, owner),
            agent_origin=request.agent_origin,
            position=self._roster.next_position(),
            params=_launch_params(request),
            env_overrides=dict(request.env_overrides),
            custom_model=custom,
            models=initial_models(None if custom is None else custom.model_id),
            conversation_ids=(request.resume_session_id,) if request.resume_session_id else (),
            cols=request.cols,
            rows=request.rows,
            hooks_available=entry.capabilities.hooks is not HookSupport.NONE
            and place.hooks is not None,
            statusline_telemetry=request.statusline_telemetry,
            **location_fields(place.id),
        )
        return self._add_params_and_name(session, caller)

    async def _locate_attached(
        self, known: LocationId, caller: Identity
    ) -> tuple[Location, str | None, str]:
        """Return the location of an existing tmux session, no case, and the home folder in that
        location.

        The caller will type into an unknown program, usually a shell. This needs the grant to
        bypass permissions, which an agent's token does not have.
        """
        places = self._launcher.places.places
        if not (caller.admin and caller.can_bypass_permissions):
            raise ServiceError(ErrorCode.FORBIDDEN, "Only admins may use attachRemoteSession")
        if not places.has_provider(known.kind) or places.find_location(known) is None:
            raise make_not_found_error(f"Remote host {known.name}")
        await places.prepare_location(known)
        place = places.get_usable_location(known, None)
        return place, None, str(place.home)

    async def create_worktree(
        self, request: CreateRequest, caller: Caller
    ) -> tuple[CreateRequest, ResolvedCase | None]:
        """Create the worktree that the request asks for.

        @param caller: authorized again before git creates the worktree.
        @return: the request changed to use the worktree, and the new worktree or C{None}.
        @raise ServiceError: 400 naming C{worktree}; as L{ICases.add_worktree}.
        """
        if request.worktree is None:
            return request, None
        name, text, wish = request.case_name, request.working_dir, request.worktree
        if name is not None and text is None:
            made = await self._cases.add_worktree(name, wish, caller)
        elif text is not None and name is None:
            folder = await self._cases.resolve_folder(text, caller)
            made = await self._cases.add_worktree_of_folder(folder, wish, caller)
        else:
            raise make_field_error("worktree", "needs either a caseName or a workingDir")
        return evolve(request, case_name=made.name, working_dir=None, worktree=None), made

    def find_requested_mode(self, request: CreateRequest) -> str:
        """Return the mode of the requested session. The mode may not exist."""
        # The program in a foreign tmux session is unknown.
        usual = "shell" if request.attach is not None else self._defaults().mode
        return request.mode or usual

    def find_parent(self, text: str | None, caller: Identity) -> str | None:
        """Return the id of the parent session; C{None} if C{text} is not a valid parent.

        The parent is a running session of the same owner. An invalid one is ignored instead of
        refused (protocol-quickstart).

        @param text: the id of a session, or its first 8 characters.
        """
        if text is None:
            return None
        owner = self._cases.get_owner_name(caller)
        ids = [
            record.id
            for record in self._roster.list_records()
            if record.pid is not None and record.owner == owner
        ]
        if text in ids:
            return text
        found = [session_id for session_id in ids if session_id.startswith(text)]
        return found[0] if len(text) >= 8 and len(found) == 1 else None

    def generate_name(self, session: Session) -> str:
        """Return a generated name that no other session of the owner has."""
        taken = {
            record.name
            for record in self._roster.list_records()
            if record.owner == session.owner and record.id != session.id
        }
        return generate_name(session.working_dir, session.mode, taken)

    def _add_params_and_name(self, session: Session, caller: Identity) -> Session:
        resume = session.conversation_ids[-1] if session.conversation_ids else None
        plan = self._launcher.make_plan(
            session, granted=caller.can_bypass_permissions, resume=resume
        )
        check_capacity(
            self._roster.list_records(),
            session.owner,
            total=self._caps.total,
            per_user=self._caps.per_user,
        )
        name = session.name or self.generate_name(session)
        return evolve(session, params=dict(plan.params), name=name)

    def _choose_name_and_source(self, request: CreateRequest) -> tuple[str, NameSource]:
        name = check_name(request.name or "")
        return name, NameSource.MANUAL if name else NameSource.PLACEHOLDER

    async def _find_location(self, case: ResolvedCase | None, caller: Identity) -> Location:
        """Return the location of the new session, once it is ready for use."""
        places = self._launcher.places
        if case is None or case.place is None:
            return places.find_caller_location(caller)
        await places.places.prepare_location(case.place)
        return places.places.get_usable_location(case.place, None)

    async def _find_working_folder(
        self, request: CreateRequest, case: ResolvedCase | None, caller: Identity
    ) -> str:
        if case is not None and case.place is not None:
            return await self._resolve_case_folder(case, request.working_dir, caller)
        if request.working_dir is not None:
            return await self._cases.resolve_folder(request.working_dir, caller)
        if case is not None:
            return case.path
        return await self._cases.default_folder(caller, self._defaults().working_dir)

    async def _resolve_case_folder(
        self, case: ResolvedCase, wanted: str | None, caller: Identity
    ) -> str:
        """Return the folder of a session at a location that is not on this machine.

        Only the folder of the case is allowed.
        """
        if wanted is None:
            return case.path
        if case.place is not None and case.place.kind is LocationKind.REMOTE:
            raise make_field_error("workingDir", "a remote case has a fixed folder")
        folder = await self._cases.resolve_folder(wanted, caller)
        if not PurePosixPath(folder).is_relative_to(case.path):
            raise make_field_error(
                "workingDir", "must be inside the case's folder, the only one in its container"
            )
        return folder

    def _find_permitted_parent(
        self, parent: str | None, caller: Identity, owner: str | None
    ) -> str | None:
        if caller.parent is not None:
            return self._check_agent_may_create(caller.parent, parent)
        if parent is None:
            return None
        live = self._roster.find(parent)
        if live is None or live.record.owner != owner or not may_see(live.record, caller):
            raise _make_parent_error(parent)
        return parent

    def _check_agent_may_create(self, parent: str, named: str | None) -> str:
        """Check that an agent may create a session. Return the parent of the new session
        (protocol-agent-tokens).

        @param parent: the agent's own session.
        @param named: the parent that the request names.
        """
        if named not in (None, parent):
            raise _make_parent_error(named or "")
        if self._roster.find(parent) is None:
            raise _make_parent_error(parent)
        if len(self._roster.find_child_ids(parent)) >= CHILDREN:
            raise make_failure_error(f"capacity reached: {CHILDREN} children of a session")
        return parent


def _expand_home(folder: str, place: Location) -> str:
    """Return the absolute path of a folder on another machine, with the home folder expanded."""
    return str(place.home) + folder[1:] if folder.split("/", 1)[0] == "~" else folder


def _launch_params(request: CreateRequest) -> dict[str, object]:
    """Return the launch parameters; a custom model replaces the model parameters."""
    if request.custom_model is None:
        return dict(request.params)
    return {name: value for name, value in request.params.items() if name not in MODEL_PARAMS}


def _make_parent_error(parent: str) -> ServiceError:
    return make_not_found_error(f"parentSessionId: Session {parent}")
