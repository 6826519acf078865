"""Intake of agents' hooks, which derives signals from them (protocol-hooks, protocol-signals)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field
from twisted.internet.interfaces import IReactorTime

from tservice.agents.activity.machine import Doing
from tservice.agents.activity.sources import Agents
from tservice.agents.activity.tracker import Tracker
from tservice.agents.approvals.model import tool_summary
from tservice.agents.hooks.model import CLEAR, Dialogs, PaneConversations, Tools
from tservice.agents.hooks.senders import told_of
from tservice.agents.hooks.todos import Todos
from tservice.agents.model import DIALOGS, WORK, HookEvent, HookNotice, reduce_data
from tservice.agents.store import AgentStore
from tservice.agents.todos import current_of
from tservice.agents.transcripts.proofs import Proofs
from tservice.clis.interfaces import HookSupport, ICliRegistry
from tservice.core.clock import now_ms
from tservice.core.errors import ServiceError
from tservice.core.event_payloads import HookEventPayload, OccurrencePayload
from tservice.core.events import Event, EventHub, EventName
from tservice.core.identity import Identity
from tservice.core.payload import Payload
from tservice.sessions.interfaces import ISessions, Session
from tservice.terminal.model_name import sanitize_text

CONVERSATIONS = 50
"""Maximum number of conversation ids that a session keeps, the newest."""

REASON_CHARS = 120
"""Maximum characters of the running tool in C{statusReason}."""

_NAMES = {event: name for event in HookEvent for name in EventName if name == f"hook:{event}"}

_CONVERSATION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}")


_WORK = ("current_tool", "background_tasks", "todos", "current_task")
_RESTS = {
    EventName.SESSION_IDLE: _WORK[:1],
    EventName.SESSION_EXIT: _WORK,
    EventName.SESSION_INTERACTIVE: _WORK,
}
"""Fields of a session's work that are cleared by an event."""


@define
class _Told:
    """State collected from the hooks of one session."""

    conversations: PaneConversations
    dialogs: Dialogs = field(factory=Dialogs)
    tools: Tools = field(factory=Tools)
    todos: Todos = field(factory=Todos)


class HookIntake:
    """Handler of all hook events of all sessions.

    Each is broadcast as C{hook:<event>}. Signals come only from the session's own agent: not from
    shells, and not from agents that are known without hooks. An agent started by another one has
    the same environment and so reports in its name; it gives no signals either.
    """

    def __init__(
        self,
        clock: IReactorTime,
        hub: EventHub,
        sessions: Callable[[], ISessions],
        clis: ICliRegistry,
        agents: Agents,
        store: AgentStore,
        proofs: Proofs,
    ) -> None:
        self._clock = clock
        self._hub = hub
        self._sessions = sessions
        self._clis = clis
        self._agents = agents
        self._store = store
        self._proofs = proofs
        self._told: dict[str, _Told] = {}
        self.stop = hub.subscribe(self._heard)

    def take(
        self,
        event: HookEvent,
        session_id: str,
        data: Mapping[str, Any] | None,
        caller: Identity | None = None,
    ) -> HookNotice:
        """Handle one event.

        @param data: the hook's payload as received.
        @raise ServiceError: 404: no such session, or not visible to C{caller}.
        """
        session = told_of(self._sessions(), session_id, caller)
        notice = HookNotice(
            session_id=session_id,
            event=event,
            at=now_ms(self._clock),
            data=reduce_data(data),
            source=_text(data, "source"),
            subagent=bool(_text(data, "agent_id")),
            background=_count(data, "background_tasks"),
        )
        told = HookEventPayload(session_id=session_id, at=notice.at, data=dict(notice.data))
        self._publish(session, _NAMES[event], told)
        if self._speaks(session):
            self._own(session, notice, data or {})
        return notice

    # -- internal

    def _speaks(self, session: Session) -> bool:
        entry = self._clis.get_entry(session.mode)
        return entry is not None and entry.capabilities.hooks is not HookSupport.NONE

    def _own(self, session: Session, notice: HookNotice, data: Mapping[str, Any]) -> None:
        told = self._told.get(session.id)
        if told is None:
            last = session.conversation_ids[-1] if session.conversation_ids else None
            told = self._told[session.id] = _Told(PaneConversations(last))
        conversation = str(notice.data.get("session_id", ""))
        if not told.conversations.is_own(notice.event, conversation, notice.source):
            return
        self._remember(session, notice, conversation)
        if notice.event is HookEvent.PROMPT_SUBMITTED:
            self._proofs.heard(session.id, data.get("prompt"), notice.at, data.get("prompt_id"))
        if notice.event is HookEvent.SESSION_START and notice.source == CLEAR:
            told.todos = Todos()
        elif notice.event is HookEvent.TOOL_ENDED and not notice.subagent:
            tool, given = _text(data, "tool_name"), data.get("tool_input")
            told.todos.heard(tool, given, data.get("tool_response"))
        self._note_work(session, notice, told)
        self._signal(session, notice, told.dialogs)

    def _remember(self, session: Session, notice: HookNotice, conversation: str) -> None:
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
        if path and path != self._store.transcript(session.id):
            self._store.keep_transcript(session.id, path)

    def _note_work(self, session: Session, notice: HookNotice, told: _Told) -> None:
        """Record the work in the turn and in the background; the work of subagents is not
        recorded.
        """
        if not notice.subagent:
            told.tools.heard(notice.event, _tool(notice))
        fields: dict[str, Any] = {}
        if told.tools.current != session.current_tool:
            fields["current_tool"] = told.tools.current
        todos = told.todos.all or None
        if todos != session.todos:
            fields |= {"todos": todos, "current_task": current_of(told.todos.all)}
        if notice.event is HookEvent.STOP and notice.background != session.background_tasks:
            fields["background_tasks"] = notice.background
        if fields:
            self._sessions().update_record(session.id, durable=False, **fields)

    def _signal(self, session: Session, notice: HookNotice, dialogs: Dialogs) -> None:
        watch = self._agents.watch_of(session.id)
        reason = _reason(notice)
        if notice.event in DIALOGS:
            blocked = watch is not None and watch.tracker.doing is Doing.BLOCKED
            if watch is not None:
                watch.tracker.asked(reason)
            if dialogs.is_new(notice.name, blocked=blocked):
                self._publish_signal(session, EventName.SESSION_BLOCKED, notice.at)
            return
        if notice.event in (HookEvent.PROMPT_SUBMITTED, HookEvent.STOP, HookEvent.SESSION_START):
            dialogs.turn_over()
        if notice.event is HookEvent.STOP:
            self._publish_signal(session, EventName.SESSION_STOP, notice.at)
        if watch is not None:
            _move(watch.tracker, notice, reason)

    def _publish_signal(self, session: Session, name: EventName, at: int) -> None:
        self._publish(session, name, OccurrencePayload(id=session.id, at=at))

    def _publish(self, session: Session, name: EventName, payload: Payload) -> None:
        self._hub.publish(
            Event(
                name=name,
                payload=payload,
                session_id=session.id,
                owner=session.owner,
            )
        )

    def _heard(self, event: Event) -> None:
        """Handle a new process or the session's end: earlier hooks belong to the previous
        process.
        """
        if event.name in (EventName.SESSION_INTERACTIVE, EventName.SESSION_DELETED):
            self._told.pop(event.session_id or "", None)
            self._proofs.forget(event.session_id or "")
        if event.name is EventName.SESSION_INTERACTIVE and event.session_id is not None:
            self._told[event.session_id] = _Told(PaneConversations(None))
        if event.name in _RESTS and event.session_id is not None:
            # No hook reports Escape, nor a crash.
            if event.session_id in self._told:
                self._told[event.session_id].tools.over()
            self._forget_work(event.session_id, _RESTS[event.name])

    def _forget_work(self, session_id: str, names: tuple[str, ...]) -> None:
        """Clear the fields of the record about work that is over."""
        try:
            session = self._sessions().get(session_id)
        except ServiceError:
            return  # the session and its record are gone
        fields: dict[str, Any] = {n: None for n in names if getattr(session, n) is not None}
        if fields:
            self._sessions().update_record(session_id, durable=False, **fields)


def _text(data: Mapping[str, Any] | None, key: str) -> str:
    found = (data or {}).get(key)
    return found if isinstance(found, str) else ""


def _reason(notice: HookNotice) -> str:
    """Return one line for C{statusReason}: the starting tool, else the event."""
    if notice.event is not HookEvent.TOOL_STARTED or not notice.data.get("tool_name"):
        return f"{notice.event} hook"
    return sanitize_text(f"tool {_tool(notice)}", REASON_CHARS) or str(notice.event)


def _tool(notice: HookNotice) -> str:
    """Return the tool and its action, in one line."""
    words = (
        f"{notice.data.get('tool_name', '')} {tool_summary(notice.data.get('tool_input')) or ''}"
    )
    return sanitize_text(words, REASON_CHARS) or str(notice.event)


def _count(data: Mapping[str, Any] | None, key: str) -> int | None:
    found = (data or {}).get(key)
    return len(found) if isinstance(found, list) else None


def _move(tracker: Tracker, notice: HookNotice, reason: str) -> None:
    match notice.event:
        case HookEvent.STOP:
            tracker.stopped(reason)
        case HookEvent.PROMPT_SUBMITTED | HookEvent.AGENT_WORKING:
            tracker.prompted(reason)
        case HookEvent.ELICITATION_COMPLETE | HookEvent.ELICITATION_RESPONSE:
            tracker.answered(reason)
        case HookEvent.IDLE_PROMPT:
            tracker.resting(reason)
        case HookEvent.SESSION_START if notice.source == CLEAR:
            # Not a compaction, which continues after this hook.
            tracker.carried_out(reason)
        case event if event in WORK and not notice.subagent:
            tracker.acts(reason)
        case _:
            pass  # other events do not concern the turn
