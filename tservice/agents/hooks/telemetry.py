"""Intake of status line reports: the session's figures and the plan's limits
(protocol-telemetry).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from twisted.internet.interfaces import IReactorTime

from tservice.agents.hooks.senders import told_of
from tservice.agents.hooks.telemetry_model import Telemetry, footer, read_telemetry, told_of_report
from tservice.agents.model import PlanUsage
from tservice.agents.store import AgentStore
from tservice.core.clock import now_ms
from tservice.core.event_payloads import TelemetryPayload
from tservice.core.events import Event, EventHub, EventName
from tservice.core.identity import Identity
from tservice.core.places.location import OWN_LOCATION
from tservice.sessions.interfaces import ISessions, ModelSource, Session, TokenUsage


class TelemetryIntake:
    """Handler of reports, which remembers the last one of each session until the session is
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
        self.stop = hub.subscribe(self._heard)

    def take(
        self, session_id: str, data: Mapping[str, Any] | None, caller: Identity | None = None
    ) -> str:
        """Handle one report.

        @return: the footer line to show.
        @raise ServiceError: 404: no such session, or not visible to C{caller}.
        """
        session = told_of(self._sessions(), session_id, caller)
        report = read_telemetry(data)
        self._update(session, report)
        usage = report.plan_usage(now_ms(self._clock))
        if usage is not None and session.location_id == OWN_LOCATION:
            # An agent in another place signs in by itself, and its plan concerns its own user only.
            self._store.keep_plan_usage(usage)
        self._tell(session, report)
        return footer(report)

    def plan_usage(self) -> PlanUsage | None:
        """Return the usage of the plan's limits, as last reported by a session of the service's
        user.
        """
        return self._store.plan_usage()

    def _update(self, session: Session, report: Telemetry) -> None:
        fields: dict[str, Any] = {}
        if report.context_used is not None:
            fields["context_used_percentage"] = report.context_used
        if report.cost is not None:
            fields["total_cost"] = float(report.cost)
        if report.input_tokens is not None or report.output_tokens is not None:
            fields["tokens"] = _tokens(session.tokens, report)
        sessions = self._sessions()
        if fields:
            sessions.update_record(session.id, durable=False, **fields)
        if report.model is not None and session.models.get(ModelSource.STATUSLINE) != report.model:
            sessions.report_model(session.id, ModelSource.STATUSLINE, report.model)

    def _tell(self, session: Session, report: Telemetry) -> None:
        told = told_of_report(session.id, report)
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

    def _heard(self, event: Event) -> None:
        if event.name is EventName.SESSION_DELETED and event.session_id is not None:
            self._told.pop(event.session_id, None)


def _tokens(before: TokenUsage, report: Telemetry) -> TokenUsage:
    taken = before.input if report.input_tokens is None else report.input_tokens
    given = before.output if report.output_tokens is None else report.output_tokens
    return TokenUsage.from_counts(taken, given)
