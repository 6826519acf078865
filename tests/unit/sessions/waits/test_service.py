"""Waits as callers see them: what holds at once, narrowing, input first, what is told alongside."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, cast

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.event_helpers import make_event
from tests.fakes.multiplexer.multiplexer import FakeMultiplexer
from tests.unit.sessions.output.terminal_wire import SPEC
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ServiceError, make_conflict_error, make_not_found_error
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.mux.interface import IPane
from tservice.sessions.interfaces import InputDelivery, ISessions
from tservice.sessions.record.model import NameSource, ProcessPhase, Session, SessionStatus
from tservice.sessions.record.wire import make_session_answer
from tservice.sessions.waits.output_waits import ParkedOutputWaits
from tservice.sessions.waits.service import WaitRequest, WaitService
from tservice.sessions.waits.signal_waits import SessionSignal, WaitCaps, WaitSlots
from tservice.terminal.stream_matcher import SearchNeedle

ANN = Identity(username="ann", admin=True)


class WaitSessions:
    """The sessions C{s} (primary) and C{t} (shell)."""

    def __init__(self, pane: IPane) -> None:
        self.pane: IPane | None = pane
        record = Session(
            id="s",
            mode="primary",
            name="",
            name_source=NameSource.PLACEHOLDER,
            working_dir="/",
            created_at=0,
            last_activity_at=0,
            pid=7,
        )
        self.records = {"s": record, "t": evolve(record, id="t", mode="shell")}

    def get(self, session_id: str, caller: Identity | None = None) -> Session:
        if session_id not in self.records:
            raise make_not_found_error(f"Session {session_id}")
        return self.records[session_id]

    def get_pane(self, session_id: str) -> IPane | None:
        return self.pane

    def change(self, **fields: Any) -> None:
        self.records["s"] = evolve(self.records["s"], **fields)


class WaitingTests(SynchronousTestCase):
    """L{WaitService}."""

    def setUp(self) -> None:
        self.clock, self.hub = Clock(), EventHub()
        mux = FakeMultiplexer(self.clock)
        pane = self.successResultOf(Deferred.fromCoroutine(mux.create_pane(SPEC)))
        self.hosted = mux.host["s"]
        self.sessions = WaitSessions(pane)
        self.blocked = False
        self.signalling = {"primary"}
        slots = WaitSlots(WaitCaps())
        self.waiting = WaitService(
            self.clock,
            cast(ISessions, self.sessions),
            slots,
            ParkedOutputWaits(self.clock, slots),
            self.hub,
            lambda session_id: self.blocked,
            lambda mode: mode in self.signalling,
        )

    def start(self, work: Coroutine[Any, Any, dict[str, Any]]) -> Deferred[dict[str, Any]]:
        return Deferred.fromCoroutine(work)

    def wait(
        self, *until: SessionSignal, session: str = "s", fresh: bool = False
    ) -> Deferred[dict[str, Any]]:
        request = WaitRequest(until=until or None, timeout_ms=5000, fresh=fresh)
        return self.start(self.waiting.wait_for_signal(session, request, ANN))

    def tell(self, name: str, session: str = "s") -> None:
        self.hub.publish(make_event(f"session:{name}", session_id=session))
        self.clock.advance(0)

    def signal_of(self, wait: Deferred[dict[str, Any]]) -> tuple[str | None, bool]:
        found = self.successResultOf(wait)
        return found["wait"]["signal"], found["immediate"]

    def test_current_state_answers_immediately(self) -> None:
        self.assertEqual(("idle", True), self.signal_of(self.wait()))
        self.blocked = True
        self.assertEqual(
            ("blocked", True), self.signal_of(self.wait(SessionSignal.BLOCKED, SessionSignal.IDLE))
        )
        self.sessions.change(status=SessionStatus.BUSY)
        self.assertEqual(("working", True), self.signal_of(self.wait(SessionSignal.WORKING)))
        self.sessions.change(pid=None)
        self.assertEqual(("exit", True), self.signal_of(self.wait(fresh=True)))

    def test_exit_ends_a_wait_for_other_signals(self) -> None:
        """Nothing else can come of a session whose process is over."""
        turn = (SessionSignal.IDLE, SessionSignal.STOP)
        self.sessions.change(status=SessionStatus.BUSY)
        wait = self.wait(*turn)
        self.assertNoResult(wait)
        self.tell("exit")
        found = self.successResultOf(wait)["wait"]
        self.assertEqual(
            ("exit", False, ["idle", "stop"]), (found["signal"], found["timedOut"], found["until"])
        )
        self.sessions.change(pid=None)
        self.assertEqual(("exit", True), self.signal_of(self.wait(*turn)))
        self.assertEqual(("exit", True), self.signal_of(self.wait(*turn, fresh=True)))
        request = WaitRequest(until=turn, timeout_ms=5000, fresh=False)
        fleet = self.start(self.waiting.wait_for_sessions(["s"], request, ANN, need_all=True))
        self.assertEqual({"s": "exit"}, self.successResultOf(fleet)["signals"])

    def test_fresh_wait_needs_a_change(self) -> None:
        wait = self.wait(fresh=True)
        self.assertNoResult(wait)
        self.clock.advance(2)
        self.tell("stop")
        found = self.successResultOf(wait)
        self.assertEqual(
            {
                "wait": {
                    "signal": "stop",
                    "timedOut": False,
                    "timeoutMs": 5000,
                    "until": ["stop", "idle", "exit"],
                    "ended": False,
                },
                "waitedMs": 2000,
                "immediate": False,
                "status": "idle",
                "limitPaused": False,
            },
            found,
        )

    def test_status_in_the_answer_is_that_after_the_signal(self) -> None:
        self.sessions.change(status=SessionStatus.BUSY)
        wait = self.wait(SessionSignal.STOP)
        self.hub.publish(make_event("session:stop", session_id="s"))
        self.sessions.change(status=SessionStatus.IDLE)
        self.clock.advance(0)
        self.assertEqual("idle", self.successResultOf(wait)["status"])

    def test_shell_without_hooks_cannot_be_waited_for_by_stop(self) -> None:
        found = self.successResultOf(self.wait(session="t"))
        self.assertEqual(["idle", "exit"], found["wait"]["until"])
        refused = self.failureResultOf(
            self.wait(SessionSignal.STOP, session="t"), ServiceError
        ).value
        self.assertEqual("until: stop is not given by sessions of mode shell", refused.message)

    def test_unknown_session_is_not_found(self) -> None:
        self.failureResultOf(self.wait(session="nobody"), ServiceError)

    def test_deleted_session_ends_the_wait(self) -> None:
        wait = self.wait(fresh=True)
        del self.sessions.records["s"]
        self.tell("deleted")
        found = self.successResultOf(wait)
        self.assertEqual(("exit", True), (found["wait"]["signal"], found["wait"]["ended"]))
        self.assertEqual("stopped", found["status"])

    def test_detached_session_ends_the_wait(self) -> None:
        waits = [self.wait(SessionSignal.EXIT), self.wait(SessionSignal.EXIT, session="t")]
        output = self.wait_output("READY")

        async def deliver(submitting: Any) -> InputDelivery:
            submitting()
            return InputDelivery(delivered=True)

        typed = self.input_and_wait(deliver)
        self.let_go("s")
        self.let_go("t")
        for wait in (*waits, typed):
            found = self.successResultOf(wait)["wait"]
            self.assertEqual(
                ("exit", False, False), (found["signal"], found["timedOut"], found["ended"])
            )
        self.assertTrue(self.successResultOf(output)["wait"]["ended"])
        self.assertEqual(0, self.waiting.count_parked())

    def let_go(self, session: str) -> None:
        record = evolve(self.sessions.records[session], pid=None, phase=ProcessPhase.DETACHED)
        self.sessions.records[session] = record
        told = make_session_answer(record)
        self.hub.publish(Event(name=EventName.SESSION_UPDATED, payload=told, session_id=session))
        self.clock.advance(0)

    def input_and_wait(self, delivery: Any, *until: SessionSignal) -> Deferred[dict[str, Any]]:
        request = WaitRequest(timeout_ms=5000, until=until or None)
        return self.start(self.waiting.input_and_wait("s", request, ANN, delivery))

    def test_earlier_turn_does_not_answer_for_a_new_prompt(self) -> None:
        typed: Deferred[InputDelivery] = Deferred()
        arms: list[Any] = []

        async def deliver(submitting: Any) -> InputDelivery:
            arms.append(submitting)
            return await typed

        wait = self.input_and_wait(deliver)
        self.tell("stop")
        arms[0]()
        self.assertNoResult(wait)
        typed.callback(InputDelivery(delivered=True))
        self.assertNoResult(wait)
        self.tell("stop")
        found = self.successResultOf(wait)
        self.assertEqual(
            ("stop", True, False, False),
            (found["wait"]["signal"], found["delivered"], found["duplicate"], found["immediate"]),
        )

    def test_turn_that_ends_before_the_delivery_is_reported_counts(self) -> None:
        async def deliver(submitting: Any) -> InputDelivery:
            submitting()
            self.tell("stop")
            return InputDelivery(delivered=True)

        wait = self.input_and_wait(deliver)
        self.clock.advance(0)
        self.assertEqual("stop", self.successResultOf(wait)["wait"]["signal"])

    def test_failed_delivery_frees_the_slot(self) -> None:
        async def deliver(submitting: Any) -> InputDelivery:
            raise make_conflict_error("no process")

        self.failureResultOf(self.input_and_wait(deliver), ServiceError)
        self.assertEqual(0, self.waiting.count_parked())
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_duplicate_is_answered_from_the_state(self) -> None:
        async def deliver(submitting: Any) -> InputDelivery:
            return InputDelivery(delivered=False, duplicate=True)

        found = self.successResultOf(self.input_and_wait(deliver))
        self.assertEqual(
            ("idle", True, True), (found["wait"]["signal"], found["immediate"], found["duplicate"])
        )
        self.sessions.change(status=SessionStatus.BUSY)
        found = self.successResultOf(self.input_and_wait(deliver))
        self.assertEqual((None, True), (found["wait"]["signal"], found["wait"]["timedOut"]))
        self.assertEqual(0, self.waiting.count_parked())

    def test_duplicate_of_a_finished_turn_has_its_stop(self) -> None:
        """The hook may have told of it while the service was not there."""

        async def deliver(submitting: Any) -> InputDelivery:
            return InputDelivery(delivered=False, duplicate=True)

        found = self.successResultOf(self.input_and_wait(deliver, SessionSignal.STOP))
        self.assertEqual(("stop", True), (found["wait"]["signal"], found["immediate"]))

    def test_duplicate_with_unknown_outcome_has_no_signal(self) -> None:
        """Enter was pressed, and no end was told of that."""

        async def deliver(submitting: Any) -> InputDelivery:
            return InputDelivery(delivered=False, duplicate=True)

        self.sessions.change(turn_open=True)
        found = self.successResultOf(self.input_and_wait(deliver))
        self.assertEqual((None, True), (found["wait"]["signal"], found["wait"]["timedOut"]))

    def test_fleet_wait_collects_every_signal(self) -> None:
        request = WaitRequest(until=(SessionSignal.STOP,), timeout_ms=5000)
        self.failureResultOf(
            self.start(self.waiting.wait_for_sessions(["s", "t"], request, ANN, need_all=False)),
            ServiceError,
        )
        request = WaitRequest(timeout_ms=5000, fresh=True)
        everyone = self.start(
            self.waiting.wait_for_sessions(["s", "t"], request, ANN, need_all=True)
        )
        self.tell("exit", "t")
        self.tell("stop", "s")
        found = self.successResultOf(everyone)
        self.assertEqual({"s": "stop", "t": "exit"}, found["signals"])

    def wait_output(self, text: str, from_buffer: bool = False) -> Deferred[dict[str, Any]]:
        needle = SearchNeedle(text)
        return self.start(
            self.waiting.wait_output("s", needle, ANN, timeout_ms=5000, from_buffer=from_buffer)
        )

    def test_output_wait_answers_from_stream_or_buffer(self) -> None:
        wait = self.wait_output("READY")
        self.hosted.emit_output(b"it is READY now")
        found = self.successResultOf(wait)
        self.assertEqual(
            {
                "signal": None,
                "timedOut": False,
                "timeoutMs": 5000,
                "until": [],
                "ended": False,
                "matched": True,
                "match": "READY",
                "snippet": "it is READY now",
            },
            found["wait"],
        )
        again = self.successResultOf(self.wait_output("READY", from_buffer=True))
        self.assertEqual((True, True), (again["wait"]["matched"], again["immediate"]))

    def test_output_wait_without_a_process_ends(self) -> None:
        self.sessions.pane = None
        found = self.successResultOf(self.wait_output("READY"))
        self.assertEqual(
            (True, True, False),
            (found["wait"]["ended"], found["wait"]["timedOut"], found["wait"]["matched"]),
        )
