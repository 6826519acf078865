"""Intake of status line reports, for the session's figures and the plan's limits
(protocol-telemetry).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from twisted.internet.interfaces import IReactorTime

from tservice.agents.hooks.hook_permissions import get_reported_session
from tservice.agents.hooks.status_line_report import (
    StatusLineReport,
    format_footer,
    make_telemetry_payload,
    parse_report,
)
from tservice.agents.model import PlanUsage
from tservice.agents.store import AgentStore
from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.event_payloads import TelemetryPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.locations.location import OWN_LOCATION
from tservice.sessions.interfaces import ISessions, ModelSource, Session, TokenUsage


class TelemetryIntake:
    """Handler of status line reports, which keeps the last one of each session until the session is
    deleted.
    """

    def __init__(
        self,
        clock: IReactorTime,
        hub: EventHub,
        sessions: Callable[[], ISessions],
        store: AgentStore,
    ) -> None:
        self._clock = clock
        self._hub = hub
        self._sessions = sessions
        self._store = store
        self._told: dict[str, TelemetryPayload] = {}
        self.stop = hub.subscribe(self._handle_event)

    def handle_telemetry_report(
        self, session_id: str, data: Mapping[str, Any] | None, caller: Identity | None = None
    ) -> str:
        """Handle one report.

        @param data: the input of the status line as received.
        @param caller: the caller who sends the report; C{None} for the service itself.
        @return: the footer line to show.
        @raise ServiceError: 404: no such session, or not visible to C{caller}.
        """
        session = get_reported_session(self._sessions(), session_id, caller)
        report = parse_report(data)
        self._update_record(session, report)
        usage = report.make_plan_usage(get_unix_ms(self._clock))
        if usage is not None and session.location_id == OWN_LOCATION:
            # An agent in another place signs in by itself, and its plan concerns its own user only.
            self._store.save_plan_usage(usage)
        self._publish_report(session, report)
        return format_footer(report)

    def get_plan_usage(self) -> PlanUsage | None:
        """Return the plan's usage in the last report of a session that runs as the service's user;
        C{None} without one.
        """
        return self._store.get_plan_usage()

    def _update_record(self, session: Session, report: StatusLineReport) -> None:
        fields: dict[str, Any] = {}
        if report.context_used is not None:
            fields["context_used_percentage"] = report.context_used
        if report.cost is not None:
            fields |= {"total_cost": float(report.cost), "cost_unknown": None}
        if report.input_tokens is not None or report.output_tokens is not None:
            fields["tokens"] = _merge_tokens(session.tokens, report)
        sessions = self._sessions()
        if fields:
            sessions.update_record(session.id, durable=False, **fields)
        if report.model is not None and session.models.get(ModelSource.STATUSLINE) != report.model:
            sessions.report_model(session.id, ModelSource.STATUSLINE, report.model)

    def _publish_report(self, session: Session, report: StatusLineReport) -> None:
        told = make_telemetry_payload(session.id, report)
        if self._told.get(session.id, TelemetryPayload(session_id=session.id)) == told:
            return
        self._told[session.id] = told
        self._hub.publish(
            Event(
                name=EventName.SESSION_STATUS_TELEMETRY,
                payload=told,
                session_id=session.id,
                owner=session.owner,
            )
        )

    def _handle_event(self, event: Event) -> None:
        if event.name is EventName.SESSION_DELETED and event.session_id is not None:
            self._told.pop(event.session_id, None)


def _merge_tokens(before: TokenUsage, report: StatusLineReport) -> TokenUsage:
    taken = before.input if report.input_tokens is None else report.input_tokens
    given = before.output if report.output_tokens is None else report.output_tokens
    return TokenUsage.from_counts(taken, given)
