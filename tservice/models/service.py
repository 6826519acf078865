"""Service for using models of custom endpoints in sessions (protocol-models)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.logger import Logger
from zope.interface import implementer

from tservice.clis.interfaces import CustomModelStyle, ICliRegistry, LaunchPlan
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_failure_error,
    make_field_error,
)
from tservice.core.kernel.event_payloads import AffectedSession, ModelSwapPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.models.discovery import ModelDiscovery
from tservice.models.injection import build_injection, make_target, remove_variables
from tservice.models.injection_folders import wrap_command
from tservice.models.injection_store import InjectionStore
from tservice.models.model import (
    MIN_SAFE_CONTEXT,
    SETTING,
    ModelEndpoint,
    check_model_id,
    find_displaced_model,
    is_context_small,
)
from tservice.models.registry import EndpointRegistry
from tservice.models.responses import (
    ChangedModel,
    Choice,
    EndpointAnswer,
    OfferedModelAnswer,
    RunningAnswer,
    make_changed_response,
    make_endpoint_response,
    make_model_responses,
    make_running_response,
)
from tservice.sessions.interfaces import (
    MODEL_PARAMS,
    ContextQuestion,
    EndpointModel,
    ICustomModels,
    ISessions,
    ModelConfirmationRequired,
    ModelRequest,
    ModelSource,
    Session,
    SessionLocationKind,
    SessionStatus,
    SwapQuestion,
)
from tservice.settings.interfaces import ISettings


@implementer(ICustomModels)
class ModelService:
    """Service that manages the endpoints, and the sessions that use their models."""

    _log = Logger()

    def __init__(
        self,
        *,
        registry: EndpointRegistry,
        discovery: Callable[[ModelService], ModelDiscovery],
        injections: InjectionStore,
        clis: ICliRegistry,
        sessions: ISessions,
        settings: ISettings,
        hub: EventHub,
    ) -> None:
        """Create the service.

        @param discovery: creates the discovery; called with this service.
        """
        self._registry = registry
        self._discovery = discovery(self)
        self._injections = injections
        self._clis = clis
        self._sessions = sessions
        self._settings = settings
        self._hub = hub
        self._unsubscribe: Callable[[], None] | None = None

    async def start(self) -> None:
        """Read the stored endpoints, remove leftover folders, and start the discovery."""
        await self._registry.load()
        try:
            await self._injections.restore_folders(self._sessions.list())
        except (OSError, ServiceError) as error:
            self._log.warn("cannot restore folders of custom models: {error}", error=str(error))
        self._unsubscribe = self._hub.subscribe(self._handle_event)
        self._discovery.start()

    def stop(self) -> Deferred[Any]:
        """Stop the discovery. The Deferred fires once no request and no removal of a folder is
        under way.
        """
        if self._unsubscribe is not None:
            self._unsubscribe()
        return self._discovery.stop().addCallback(lambda _: self._injections.wait_settled())

    def is_enabled(self) -> bool:
        """Return true while the settings enable custom models."""
        return self._settings.get().custom_model_endpoints_enabled

    def require_enabled(self) -> None:
        """Check that the settings enable custom models. Call this before any other check of a
        request.

        @raise ServiceError: 403 while custom models are turned off.
        """
        if not self.is_enabled():
            raise ServiceError(
                ErrorCode.FORBIDDEN, f"the setting {SETTING} is off; turn it on first"
            )

    # -- endpoints

    def list_endpoints(self) -> list[EndpointAnswer]:
        """Return every endpoint, without its key."""
        return [make_endpoint_response(endpoint) for endpoint in self._registry.list_endpoints()]

    async def add_endpoint(self, fields: Mapping[str, Any], caller: Caller) -> EndpointAnswer:
        """Add an endpoint; see L{EndpointRegistry.add}."""
        return make_endpoint_response(await self._registry.add(fields, caller))

    async def update_endpoint(
        self,
        endpoint_id: str,
        patch: Mapping[str, Any],
        caller: Caller,
    ) -> EndpointAnswer:
        """Change an endpoint; see L{EndpointRegistry.update_endpoint}."""
        by_token = caller.token is not None
        changed = await self._registry.update_endpoint(
            endpoint_id, patch, caller, by_token=by_token
        )
        return make_endpoint_response(changed)

    async def remove_endpoint(self, endpoint_id: str, caller: Caller) -> None:
        """Remove an endpoint that no live session uses.

        @param caller: authorized again after waiting for concurrent
            changes.
        @raise ServiceError: 404 if there is no such endpoint; 409 CONFLICT if a live session uses
            it.
        """

        def refuse_if_used() -> None:
            caller.reauthorize()
            users = self._find_sessions_using_model(endpoint_id)
            if users:
                raise make_conflict_error(f"{len(users)} live sessions use this endpoint")

        await self._registry.remove(endpoint_id, refuse_if_used)

    async def discover_models(self, endpoint_id: str, caller: Caller) -> list[OfferedModelAnswer]:
        """Fetch the current models of an endpoint; see L{ModelDiscovery.discover_models}."""
        endpoint = await self._discovery.discover_models(endpoint_id, caller)
        return make_model_responses(endpoint.models)

    async def get_running(self, endpoint_id: str) -> RunningAnswer:
        """Return the loaded models of an endpoint, if it reports them.

        @raise ServiceError: 404 if there is no such endpoint.
        """
        return make_running_response(
            await self._discovery.fetch_running(self._registry.get(endpoint_id))
        )

    # -- sessions

    async def choose_model(
        self, mode: str, wish: ModelRequest, caller: Identity, besides: str | None = None
    ) -> EndpointModel:
        """Choose a model; see L{ICustomModels.choose_model}.

        @param besides: id of the session that is to use the model. That session does not count as
            affected if another model is displaced.
        """
        self.require_enabled()
        endpoint = self._registry.get(wish.endpoint_id)
        check_model_id("modelId", wish.model_id)
        if self._model_style(mode) is CustomModelStyle.NONE:
            raise make_field_error(
                "customModel", f"{mode} does not support models of custom endpoints"
            )
        context = endpoint.find_context_length(wish.model_id)
        if context is not None and is_context_small(context) and not wish.confirmed_context:
            raise ModelConfirmationRequired(
                ContextQuestion(
                    model_id=wish.model_id,
                    context_length=context,
                    min_safe_context_tokens=MIN_SAFE_CONTEXT,
                )
            )
        if not wish.confirmed_swap:
            await self._ask_about_swap(endpoint, wish.model_id, caller, besides)
        return EndpointModel(endpoint_id=endpoint.id, model_id=wish.model_id, label=endpoint.label)

    async def switch_session_model(self, session_id: str, caller: Caller, **wish: Any) -> Choice:
        """Make a session use another model. A running agent is restarted and continues its
        conversation.

        @param caller: authorized again after each wait.
        @param wish: fields of a L{ModelRequest}.
        @return: the result, or a question that has to be answered first.
        @raise ServiceError: 409 SESSION_BUSY if the agent is in the middle of a turn; 400 if the
            session runs on another machine. Other errors are those of L{choose_model}, and of
            starting a session.
        """
        session = self._get_changeable_session(session_id)
        try:
            custom = await self.choose_model(session.mode, ModelRequest(**wish), caller, session_id)
        except ModelConfirmationRequired as question:
            return question.answer
        caller.reauthorize()
        return await self._apply_model(session_id, custom, caller)

    async def clear_model(self, session_id: str, caller: Caller) -> ChangedModel:
        """Make a session use its agent's own model again.

        @param caller: as for L{switch_session_model}.
        @raise ServiceError: as in L{switch_session_model}.
        """
        if self._get_changeable_session(session_id).custom_model is None:
            return make_changed_response(None, restarted=False)
        return await self._apply_model(session_id, None, caller)

    async def inject_model(self, session: Session, plan: LaunchPlan) -> LaunchPlan:
        custom = session.custom_model
        if custom is None:
            return plan
        try:
            self.require_enabled()
            endpoint = self._registry.get(custom.endpoint_id)
        except ServiceError as error:
            raise make_failure_error(f"customModel: {error.message}") from error
        target = make_target(
            endpoint, custom.model_id, folder=self._injections.get_folder(session), env=plan.env
        )
        made = build_injection(self._model_style(session.mode), target)
        if made is None:
            raise make_failure_error(f"customModel: {session.mode} does not support custom models")
        folder = await self._injections.write_injection(session, made)
        return evolve(
            plan,
            argv=wrap_command(plan.argv, folder),
            env={**remove_variables(plan.env, made.unset), **made.env},
        )

    def notify_displaced(self, endpoint: ModelEndpoint, model_id: str) -> None:
        """Notify the owners of live sessions with the model C{model_id} that it is no longer
        loaded.
        """
        by_owner: dict[str | None, list[Session]] = {}
        for session in self._find_sessions_using_model(endpoint.id, model_id):
            by_owner.setdefault(session.owner, []).append(session)
        for owner, sessions in by_owner.items():
            told = ModelSwapPayload(
                endpoint_id=endpoint.id, model_id=model_id, sessions=_session_names(sessions)
            )
            event = Event(name=EventName.MODEL_SWAPPED_OUT, payload=told, owner=owner)
            self._hub.publish(event)

    # -- inside

    async def _ask_about_swap(
        self, endpoint: ModelEndpoint, model_id: str, caller: Identity, besides: str | None
    ) -> None:
        running = await self._discovery.fetch_running(endpoint)
        loaded = find_displaced_model(running.loaded_names, model_id)
        if loaded is None:
            return
        affected = [
            each
            for each in self._find_sessions_using_model(endpoint.id, loaded)
            if each.id != besides and caller.can_access(each.owner, each.id)
        ]
        raise ModelConfirmationRequired(
            SwapQuestion(currently_loaded_model=loaded, affected_sessions=_session_names(affected))
        )

    async def _apply_model(
        self,
        session_id: str,
        custom: EndpointModel | None,
        caller: Caller,
    ) -> ChangedModel:
        session = self._get_changeable_session(session_id)
        restarted = session.pid is not None
        if restarted:
            await self._sessions.stop(session_id, "another model")
            caller.reauthorize()
        own = {name: word for name, word in session.params.items() if name not in MODEL_PARAMS}
        self._sessions.update_record(session_id, custom_model=custom, params=own)
        model_id = None if custom is None else custom.model_id
        self._sessions.report_model(session_id, ModelSource.CUSTOM_ENDPOINT, model_id)
        if restarted:
            await self._sessions.start(session_id, caller)
        if custom is None:
            self._injections.remove_folder(session_id)
        return make_changed_response(custom, restarted=restarted)

    def _get_changeable_session(self, session_id: str) -> Session:
        session = self._sessions.get(session_id)
        if session.location is not SessionLocationKind.LOCAL:
            raise make_field_error("customModel", "is available only for sessions on this machine")
        if session.detached:
            raise make_conflict_error(
                "the session is detached from its process; start the session first"
            )
        if session.pid is not None and session.status is SessionStatus.BUSY:
            raise ServiceError(ErrorCode.SESSION_BUSY, "the session is in the middle of a turn")
        return session

    def _model_style(self, mode: str) -> CustomModelStyle:
        entry = self._clis.get_entry(mode)
        if entry is None:
            entry = self._clis.get_enabled_entry(mode)
        return entry.capabilities.custom_model.style

    def _find_sessions_using_model(
        self, endpoint_id: str, model_id: str | None = None
    ) -> list[Session]:
        """Return the live sessions that use an endpoint.

        @param model_id: return only sessions that use this model. C{None} returns all.
        """
        found = []
        for session in self._sessions.list():
            custom = session.custom_model
            if session.pid is None or custom is None or custom.endpoint_id != endpoint_id:
                continue
            if model_id in (None, custom.model_id):
                found.append(session)
        return found

    def _handle_event(self, event: Event) -> None:
        if event.name is EventName.SESSION_DELETED and event.session_id is not None:
            self._injections.remove_folder(event.session_id)


def _session_names(sessions: Iterable[Session]) -> list[AffectedSession]:
    return [AffectedSession(id=each.id, name=each.name) for each in sessions]
