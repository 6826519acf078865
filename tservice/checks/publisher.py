"""Events about runs of checks."""

from __future__ import annotations

from attrs import define

from tservice.checks.model import CheckRun
from tservice.checks.store import CheckStore
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.event_payloads import CheckOutcomePayload, ChecksPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.sessions.interfaces import ISessions


@define(eq=False)
class CheckPublisher:
    """Publisher of C{check:started} and C{check:finished}."""

    hub: EventHub
    sessions: ISessions
    store: CheckStore

    def publish_started(self, run: CheckRun) -> None:
        """Publish that a run began."""
        self._publish(EventName.CHECK_STARTED, run, needs_person=False)

    def publish_finished(self, run: CheckRun, *, needs_person: bool = False) -> None:
        """Publish the result of a run, or that what follows it changed.

        @param needs_person: true if a person has to be notified.
        """
        self._publish(EventName.CHECK_FINISHED, run, needs_person=needs_person)

    def describe_last_runs(self, caller: Identity) -> list[ChecksPayload]:
        """Return the last run of each of the caller's sessions that has one."""
        visible = {session.id for session in self.sessions.list(caller)}
        return [
            make_checks_payload(run)
            for run in self.store.list_last_runs()
            if run.session_id in visible
        ]

    def _publish(self, name: EventName, run: CheckRun, *, needs_person: bool) -> None:
        try:
            owner = self.sessions.get_owner(run.session_id)
        except ServiceError:
            return  # the session was removed
        payload = make_checks_payload(run, needs_person=needs_person)
        self.hub.publish(Event(name=name, payload=payload, session_id=run.session_id, owner=owner))


def make_checks_payload(run: CheckRun, *, needs_person: bool = False) -> ChecksPayload:
    """Return the payload of an event about a run."""
    return ChecksPayload(
        session_id=run.session_id,
        run_id=run.id,
        state=run.state.value,
        trigger=run.trigger.value,
        follow_up=run.follow_up.value,
        attempt=run.attempt,
        needs_person=needs_person,
        at=run.finished_at or run.created_at,
        checks=[
            CheckOutcomePayload(
                name=each.name, state=each.state.value, passed=each.passed, failed=each.failed
            )
            for each in run.results
        ],
    )
