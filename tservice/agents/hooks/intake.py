"""Intake of hook events, which derives signals from them (protocol-hooks, protocol-signals)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, evolve, field
from twisted.internet.interfaces import IReactorTime

from tservice.agents.activity.activity_machine import AgentState
from tservice.agents.activity.activity_tracker import ActivityTracker
from tservice.agents.activity.agent_registry import AgentRegistry
from tservice.agents.approvals.model import summarize_tool
from tservice.agents.hooks.hook_classification import (
    CLEAR,
    DuplicateDialogFilter,
    PaneConversations,
    RunningTools,
)
from tservice.agents.hooks.hook_permissions import get_reported_session
from tservice.agents.hooks.todo_tracker import TodoTracker
from tservice.agents.model import (
    CONVERSATIONS,
    DIALOGS,
    WORK,
    HookEvent,
    HookNotice,
    reduce_data,
)
from tservice.agents.store import AgentStore
from tservice.agents.todos import find_current_todo
from tservice.agents.transcripts.prompt_proofs import PromptProofs
from tservice.clis.interfaces import HookSupport, ICliRegistry
from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.event_payloads import HookEventPayload, OccurrencePayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.values.payload import Payload
from tservice.sessions.interfaces import ISessions, Session
from tservice.terminal.model_name import sanitize_text

REASON_CHARS = 120
"""Maximum characters of the running tool's description in C{statusReason}."""

_NAMES = {event: name for event in HookEvent for name in EventName if name == f"hook:{event}"}

_CONVERSATION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}")


_WORK = ("current_tool", "background_tasks", "todos", "current_task")
_RESTS = {
    EventName.SESSION_IDLE: _WORK[:1],
    EventName.SESSION_EXIT: _WORK,
    EventName.SESSION_INTERACTIVE: _WORK,
}
"""Fields of a session's record that an event clears, because the work that they describe is over.
"""


@define
class _SessionHookState:
    """State collected from the hooks of one session."""

    conversations: PaneConversations
    dialogs: DuplicateDialogFilter = field(factory=DuplicateDialogFilter)
    tools: RunningTools = field(factory=RunningTools)
    todos: TodoTracker = field(factory=TodoTracker)


class HookIntake:
    """Handler of all hook events of all sessions.

    Each event is broadcast as C{hook:<event>}. Signals come only from the session's own agent, not
    from shells or from modes without hooks. An agent that another agent started has the same
    environment, so it reports for the same session; it causes no signals either.
    """

    def __init__(
        self,
        clock: IReactorTime,
        hub: EventHub,
        sessions: Callable[[], ISessions],
        clis: ICliRegistry,
        agents: AgentRegistry,
        store: AgentStore,
        proofs: PromptProofs,
    ) -> None:
        self._clock = clock
        self._hub = hub
        self._sessions = sessions
        self._clis = clis
        self._agents = agents
        self._store = store
        self._proofs = proofs
        self._told: dict[str, _SessionHookState] = {}
        self.stop = hub.subscribe(self._handle_event)

    def handle_hook_event(
        self,
        event: HookEvent,
        session_id: str,
        data: Mapping[str, Any] | None,
        caller: Identity | None = None,
    ) -> HookNotice:
        """Handle one hook event, and return its reduced form.

        @param data: the hook's payload as received.
        @param caller: the caller who reports the event; C{None} for the service itself.
        @raise ServiceError: 404: no such session, or not visible to C{caller}.
        """
        notice = self.read_hook_event(event, session_id, data, caller)
        self.announce_hook_event(notice, data)
        return notice

    def read_hook_event(
        self,
        event: HookEvent,
        session_id: str,
        data: Mapping[str, Any] | None,
        caller: Identity | None = None,
    ) -> HookNotice:
        """Return the reduced form of a hook event, and announce nothing.

        @raise ServiceError: see L{handle_hook_event}.
        """
        session = get_reported_session(self._sessions(), session_id, caller)
        notice = HookNotice(
            session_id=session_id,
            event=event,
            at=get_unix_ms(self._clock),
            data=reduce_data(data),
            source=_get_text(data, "source"),
            subagent=bool(_get_text(data, "agent_id")),
            background=_count_entries(data, "background_tasks"),
        )
        return evolve(notice, own=self._is_own_event(session, notice))

    def announce_hook_event(self, notice: HookNotice, data: Mapping[str, Any] | None) -> None:
        """Broadcast an event that was read, and derive the signals and records from it."""
        session = self._sessions().get(notice.session_id)
        told = HookEventPayload(session_id=session.id, at=notice.at, data=dict(notice.data))
        self._publish_event(session, _NAMES[notice.event], told)
        if notice.own:
            self._handle_own_event(session, notice, data or {})

    # -- internal

    def _does_mode_have_hooks(self, session: Session) -> bool:
        entry = self._clis.get_entry(session.mode)
        return entry is not None and entry.capabilities.hooks is not HookSupport.NONE

    def _is_own_event(self, session: Session, notice: HookNotice) -> bool:
        """Return true if the session's own agent reports the event, of a mode with hooks."""
        if not self._does_mode_have_hooks(session):
            return False
        told = self._told.get(session.id)
        if told is None:
            last = session.conversation_ids[-1] if session.conversation_ids else None
            told = self._told[session.id] = _SessionHookState(PaneConversations(last))
        return told.conversations.is_event_of_pane_agent(
            notice.event, _get_conversation(notice), notice.source
        )

    def _handle_own_event(
        self, session: Session, notice: HookNotice, data: Mapping[str, Any]
    ) -> None:
        """Handle an event of the session's agent."""
        told = self._told[session.id]
        conversation = _get_conversation(notice)
        self._record_conversation(session, notice, conversation)
        if notice.event is HookEvent.PROMPT_SUBMITTED:
            self._proofs.add_hook_report(
                session.id, data.get("prompt"), notice.at, data.get("prompt_id")
            )
        if notice.event is HookEvent.SESSION_START and notice.source == CLEAR:
            told.todos = TodoTracker()
        elif notice.event is HookEvent.TOOL_ENDED and not notice.subagent:
            tool, given = _get_text(data, "tool_name"), data.get("tool_input")
            told.todos.update_from_tool(tool, given, data.get("tool_response"))
        self._record_work(session, notice, told)
        self._send_signals(session, notice, told.dialogs)

    def _record_conversation(self, session: Session, notice: HookNotice, conversation: str) -> None:
        fields: dict[str, Any] = {}
        if not session.hooks_available:
            fields["hooks_available"] = True
        known = session.conversation_ids
        if _CONVERSATION.fullmatch(conversation) and known[-1:] != (conversation,):
            others = tuple(each for each in known if each != conversation)
            fields["conversation_ids"] = (*others, conversation)[-CONVERSATIONS:]
        if fields:
            self._sessions().update_record(session.id, **fields)
        path = notice.data.get("transcript_path")
        if path and path != self._store.get_transcript_path(session.id):
            self._store.save_transcript_path(session.id, path)

    def _record_work(self, session: Session, notice: HookNotice, told: _SessionHookState) -> None:
        """Record the work in the turn and in the background, without the work of subagents."""
        if not notice.subagent:
            told.tools.handle_event(notice.event, _describe_tool(notice))
        fields: dict[str, Any] = {}
        if told.tools.current_tool != session.current_tool:
            fields["current_tool"] = told.tools.current_tool
        todos = told.todos.entries or None
        if todos != session.todos:
            fields |= {"todos": todos, "current_task": find_current_todo(told.todos.entries)}
        if notice.event is HookEvent.STOP and notice.background != session.background_tasks:
            fields["background_tasks"] = notice.background
        if fields:
            self._sessions().update_record(session.id, durable=False, **fields)

    def _send_signals(
        self, session: Session, notice: HookNotice, dialogs: DuplicateDialogFilter
    ) -> None:
        watch = self._agents.get_watch(session.id)
        reason = _describe_reason(notice)
        if notice.event in DIALOGS:
            blocked = self._is_blocked(session.id)
            if watch is not None:
                watch.tracker.record_dialog(reason)
            if dialogs.reports_new_dialog(notice.name, blocked=blocked):
                self._agents.blocked_signals.announce_dialog(
                    session, notice.at, lambda: self._is_blocked(session.id)
                )
            return
        if notice.event in (HookEvent.PROMPT_SUBMITTED, HookEvent.STOP, HookEvent.SESSION_START):
            dialogs.forget_reported_dialogs()
        if notice.event is HookEvent.STOP:
            self._publish_signal(session, EventName.SESSION_STOP, notice.at)
        if watch is not None:
            _record_event_in_tracker(watch.tracker, notice, reason)

    def _is_blocked(self, session_id: str) -> bool:
        watch = self._agents.get_watch(session_id)
        return watch is not None and watch.tracker.state is AgentState.BLOCKED

    def _publish_signal(self, session: Session, name: EventName, at: int) -> None:
        self._publish_event(session, name, OccurrencePayload(id=session.id, at=at))

    def _publish_event(self, session: Session, name: EventName, payload: Payload) -> None:
        self._hub.publish(
            Event(
                name=name,
                payload=payload,
                session_id=session.id,
                owner=session.owner,
            )
        )

    def _handle_event(self, event: Event) -> None:
        """Drop the state of earlier hooks when a session gets a new process or ends."""
        if event.name in (EventName.SESSION_INTERACTIVE, EventName.SESSION_DELETED):
            self._told.pop(event.session_id or "", None)
            self._proofs.forget_session(event.session_id or "")
        if event.name is EventName.SESSION_INTERACTIVE and event.session_id is not None:
            self._told[event.session_id] = _SessionHookState(PaneConversations(None))
        if event.name in _RESTS and event.session_id is not None:
            # No hook reports Escape, nor a crash.
            if event.session_id in self._told:
                self._told[event.session_id].tools.clear_tools()
            self._clear_work_fields(event.session_id, _RESTS[event.name])

    def _clear_work_fields(self, session_id: str, names: tuple[str, ...]) -> None:
        """Clear the fields C{names} of the session's record, because the work is over."""
        try:
            session = self._sessions().get(session_id)
        except ServiceError:
            return  # the session and its record are gone
        fields: dict[str, Any] = {n: None for n in names if getattr(session, n) is not None}
        if fields:
            self._sessions().update_record(session_id, durable=False, **fields)


def _get_conversation(notice: HookNotice) -> str:
    return str(notice.data.get("session_id", ""))


def _get_text(data: Mapping[str, Any] | None, key: str) -> str:
    found = (data or {}).get(key)
    return found if isinstance(found, str) else ""


def _describe_reason(notice: HookNotice) -> str:
    """Return one line for C{statusReason}: the tool that starts, otherwise the event."""
    if notice.event is not HookEvent.TOOL_STARTED or not notice.data.get("tool_name"):
        return f"{notice.event} hook"
    return sanitize_text(f"tool {_describe_tool(notice)}", REASON_CHARS) or str(notice.event)


def _describe_tool(notice: HookNotice) -> str:
    """Return the tool and its action, in one line."""
    words = (
        f"{notice.data.get('tool_name', '')} {summarize_tool(notice.data.get('tool_input')) or ''}"
    )
    return sanitize_text(words, REASON_CHARS) or str(notice.event)


def _count_entries(data: Mapping[str, Any] | None, key: str) -> int | None:
    found = (data or {}).get(key)
    return len(found) if isinstance(found, list) else None


def _record_event_in_tracker(tracker: ActivityTracker, notice: HookNotice, reason: str) -> None:
    match notice.event:
        case HookEvent.STOP:
            tracker.record_turn_end(reason)
        case HookEvent.PROMPT_SUBMITTED | HookEvent.AGENT_WORKING:
            tracker.record_turn_start(reason)
        case HookEvent.ELICITATION_COMPLETE | HookEvent.ELICITATION_RESPONSE:
            tracker.record_dialog_answer(reason)
        case HookEvent.IDLE_PROMPT:
            tracker.record_idle(reason)
        case HookEvent.SESSION_START if notice.source == CLEAR:
            # Not a compaction, which continues after this hook.
            tracker.record_command_end(reason)
        case event if event in WORK and not notice.subagent:
            tracker.record_action(reason)
        case _:
            pass  # other events do not concern the turn
