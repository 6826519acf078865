"""Turns are judged by checks: when they run, what follows, and what a restart leaves."""

from __future__ import annotations

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.checks.checks_harness import LINT, TESTS, CheckWorld
from tests.unit.review.review_harness import SESSION_ID
from tservice.checks.model import CheckState, FailurePolicy, FollowUp, RunState
from tservice.checks.store import MAX_RUNS
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.events import EventName
from tservice.sessions.interfaces import InputDelivery, Session

FAILED, PASSED = CheckState.FAILED, CheckState.PASSED


class SupervisorTestCase(SynchronousTestCase):
    def setUp(self) -> None:
        self.world = CheckWorld()
        self.addCleanup(self.world.database.close)
        self.runner = self.world.runner

    def send_back(self, attempts: int = 2) -> None:
        self.world.save(on_failure=FailurePolicy.SEND_BACK, attempts=attempts)

    def red_turn(self, *, changes: bool = True) -> None:
        self.world.turn(changes=changes)
        self.world.runner.finish(FAILED)


class TurnTests(SupervisorTestCase):
    def test_turn_without_checks_rings_at_once(self) -> None:
        self.world.turn()
        self.assertEqual(([], 1), (self.runner.begun, self.world.rings))

    def test_checks_run_after_a_turn_that_changed_the_workspace(self) -> None:
        self.world.save(TESTS, LINT)
        self.world.turn()
        self.assertEqual((["tests"], 0), (self.runner.begun, self.world.rings))
        self.runner.finish()
        self.assertEqual(["tests", "lint"], self.runner.begun)
        self.runner.finish()
        self.assertEqual((RunState.GREEN, 1), (self.world.last.state, self.world.rings))
        states = [(each.state, each.needs_person) for each in self.world.told]
        self.assertEqual([("waiting", False), ("green", False)], states)

    def test_unchanged_workspace_is_not_checked_again(self) -> None:
        self.world.save()
        self.world.turn()
        self.runner.finish()
        self.world.turn(changes=False)
        self.assertEqual((["tests"], 2), (self.runner.begun, self.world.rings))

    def test_workspace_of_unknown_state_is_checked_after_each_turn(self) -> None:
        self.world.save()
        self.world.states.state = None
        for _ in range(2):
            self.world.turn(changes=False)
            self.runner.finish()
        self.assertEqual(["tests", "tests"], self.runner.begun)

    def test_state_of_the_last_run_that_ended_since_a_time(self) -> None:
        before = get_unix_ms(self.world.clock)
        self.world.save()
        self.world.clock.advance(1)
        self.red_turn()
        self.world.clock.advance(1)
        looked = get_unix_ms(self.world.clock)
        find = self.world.supervisor.find_state_since
        self.assertEqual("red", find(SESSION_ID, before))
        self.world.turn()
        # A run that has not ended says nothing yet.
        self.assertEqual(("red", None), (find(SESSION_ID, before), find(SESSION_ID, looked)))
        self.world.clock.advance(1)
        self.runner.finish()
        self.assertEqual("green", find(SESSION_ID, looked))

    def test_check_of_other_paths_keeps_its_result(self) -> None:
        self.world.save(TESTS, LINT)
        self.world.turn()
        self.runner.finish()
        self.runner.finish(FAILED)
        self.world.turn()
        self.runner.finish()
        kept = self.world.last.results[1]
        self.assertEqual((FAILED, True), (kept.state, kept.is_kept))
        self.assertEqual(RunState.RED, self.world.last.state)
        self.world.states.change("web/a.ts")
        self.world.turn()
        self.runner.finish()
        self.assertEqual("lint", self.runner.begun[-1])

    def test_red_checks_tell_a_person(self) -> None:
        self.world.save()
        self.red_turn()
        self.assertEqual(0, self.world.rang.count(EventName.SESSION_STOP))
        self.assertEqual([False, True], [each.needs_person for each in self.world.told])
        self.assertEqual(FollowUp.NOTIFIED, self.world.last.follow_up)

    def test_new_turn_cancels_the_checks(self) -> None:
        self.world.save()
        self.world.turn()
        self.world.begin_turn()
        self.assertEqual((["tests"], 0), (self.runner.cancelled, self.world.rings))
        self.assertEqual(RunState.CANCELLED, self.world.last.state)
        self.world.end_turn()
        self.assertEqual(["tests", "tests"], self.runner.begun)

    def test_turn_that_ends_while_a_check_is_being_ended_is_judged_later(self) -> None:
        self.world.save()
        self.world.turn()
        self.runner.ending = Deferred()
        self.world.begin_turn()
        self.world.end_turn()
        self.assertEqual(["tests"], self.runner.begun)
        self.runner.ending.callback(None)
        self.world.clock.advance(0)
        self.assertEqual(["tests", "tests"], self.runner.begun)

    def test_status_that_is_late_does_not_lose_the_notice(self) -> None:
        self.world.save()
        self.world.states.change()
        self.world.tell(EventName.SESSION_STOP)
        self.world.begin_turn()
        self.world.tell(EventName.SESSION_IDLE)
        self.world.clock.advance(0)
        self.runner.finish()
        self.assertEqual((RunState.GREEN, 1), (self.world.last.state, self.world.rings))

    def test_interrupted_turn_is_judged_when_the_agent_is_idle(self) -> None:
        self.world.save()
        self.world.turn()
        self.world.begin_turn()
        self.world.tell(EventName.SESSION_IDLE)
        self.world.clock.advance(0)
        self.assertEqual(["tests", "tests"], self.runner.begun)

    def test_checks_end_with_the_session(self) -> None:
        self.world.save()
        self.world.turn()
        self.world.tell(EventName.SESSION_EXIT)
        self.assertEqual((["tests"], 0), (self.runner.cancelled, self.world.rings))
        self.assertEqual({}, self.world.supervisor._watched)

    def test_unavailable_checks_ring_like_none(self) -> None:
        self.world.save()
        self.world.places.reason = "checks cannot run in remote sessions yet"
        self.world.turn()
        self.assertEqual((RunState.UNAVAILABLE, 1), (self.world.last.state, self.world.rings))
        self.assertEqual(self.world.places.reason, self.world.last.reason)

    def test_question_during_the_checks_rings(self) -> None:
        self.world.save()
        self.world.turn()
        self.world.tell(EventName.SESSION_BLOCKED)
        self.assertIn(EventName.SESSION_BLOCKED, self.world.rang)

    def test_failure_of_the_service_releases_the_notice(self) -> None:
        self.world.save()
        self.world.turn()
        self.world.runner.ends.pop().errback(RuntimeError("broken"))
        self.assertEqual(1, len(self.flushLoggedErrors(RuntimeError)))
        self.assertEqual(1, self.world.rings)

    def test_kept_runs_are_bounded(self) -> None:
        self.world.save()
        for _ in range(MAX_RUNS + 3):
            self.world.turn()
            self.runner.finish()
        self.assertEqual(MAX_RUNS, len(self.world.store.list_runs(SESSION_ID)))


class SendBackTests(SupervisorTestCase):
    def test_failure_is_sent_back_until_the_last_attempt(self) -> None:
        self.send_back(attempts=2)
        for asked in (1, 2):
            self.red_turn()
            self.assertEqual((asked, 0), (len(self.world.sessions.inputs), self.world.rings))
            self.assertEqual(FollowUp.SENT, self.world.last.follow_up)
        self.red_turn()
        self.assertEqual((2, 1), (len(self.world.sessions.inputs), self.world.rings))
        self.red_turn()
        self.assertEqual((2, 2), (len(self.world.sessions.inputs), self.world.rings))

    def test_prompt_holds_command_status_and_output(self) -> None:
        self.send_back()
        self.red_turn()
        (request,) = self.world.sessions.inputs
        for part in ("make test", "exit status 1", "said\nthis"):
            self.assertIn(part, request.text)
        self.assertEqual((f"checks-{self.world.last.id}", 1), (request.client_id, request.seq))

    def test_green_ends_the_loop(self) -> None:
        self.send_back(attempts=1)
        for _ in range(3):
            self.red_turn()
            self.world.turn()
            self.runner.finish()
        self.assertEqual((3, 3), (len(self.world.sessions.inputs), self.world.rings))

    def test_typing_stops_the_loop(self) -> None:
        self.send_back(attempts=5)
        self.red_turn()
        for _ in "ab":
            self.world.sessions.type()
        self.red_turn()
        self.assertEqual((1, 1), (len(self.world.sessions.inputs), self.world.rings))
        self.world.sessions.type()
        self.red_turn()
        self.assertEqual(2, len(self.world.sessions.inputs), "a new loop begins")

    def test_typing_while_the_checks_run_stops_the_loop(self) -> None:
        self.send_back()
        self.world.turn()
        self.world.sessions.type()
        self.runner.finish(FAILED)
        self.assertEqual(([], 1), (self.world.sessions.inputs, self.world.rings))

    def test_agent_that_changes_nothing_is_given_up(self) -> None:
        self.send_back(attempts=5)
        self.red_turn()
        self.world.turn(changes=False)
        self.assertEqual((1, 1), (len(self.world.sessions.inputs), self.world.rings))
        self.assertEqual("the agent changed nothing", self.world.last.reason)

    def test_turn_of_the_sent_prompt_cancels_nothing(self) -> None:
        self.send_back()
        self.world.sessions.waits = Deferred()
        self.red_turn()
        self.world.begin_turn()
        self.assertEqual(FollowUp.SENDING, self.world.last.follow_up)
        self.world.sessions.waits.callback(None)
        self.assertEqual(FollowUp.SENT, self.world.last.follow_up)

    def test_failure_that_cannot_be_sent_is_told(self) -> None:
        self.send_back()
        self.world.sessions.delivery = InputDelivery(delivered=False, dropped=True)
        self.red_turn()
        self.assertEqual((FollowUp.NOTIFIED, 1), (self.world.last.follow_up, self.world.rings))
        self.assertIn("out of reach", self.world.last.reason or "")


class RequestTests(SupervisorTestCase):
    def refuse(self, code: ErrorCode, call: object, *words: str) -> None:
        assert callable(call)
        error = self.assertRaises(ServiceError, call, *words)
        self.assertEqual(code, error.code)

    def test_requested_run_rings_nobody(self) -> None:
        self.send_back()
        self.world.supervisor.request_run(SESSION_ID)
        self.refuse(ErrorCode.CONFLICT, self.world.supervisor.request_run, SESSION_ID)
        self.runner.finish(FAILED)
        self.assertEqual((RunState.RED, 0), (self.world.last.state, self.world.rings))
        self.assertEqual([], self.world.sessions.inputs)

    def test_run_without_checks_is_refused(self) -> None:
        self.refuse(ErrorCode.OPERATION_FAILED, self.world.supervisor.request_run, SESSION_ID)
        self.refuse(ErrorCode.NOT_FOUND, self.world.supervisor.request_run, "other")

    def test_cancelled_run_rings_nobody(self) -> None:
        self.world.save()
        self.refuse(ErrorCode.CONFLICT, self.world.supervisor.cancel_run, SESSION_ID)
        self.world.turn()
        self.world.supervisor.cancel_run(SESSION_ID)
        self.assertEqual((RunState.CANCELLED, 0), (self.world.last.state, self.world.rings))
        self.assertFalse(self.world.supervisor.is_under_way(SESSION_ID))

    def test_cancelled_before_it_began(self) -> None:
        self.world.save()
        self.world.states.waits = Deferred()
        self.world.supervisor.request_run(SESSION_ID)
        self.world.supervisor.cancel_run(SESSION_ID)
        self.assertEqual(RunState.CANCELLED, self.world.last.state)

    def test_verdict_is_known_between_turns(self) -> None:
        self.world.save()
        has = self.world.supervisor.has_verdict
        found = [has(SESSION_ID)]
        self.world.turn()
        found.append(has(SESSION_ID))
        self.runner.finish()
        found.append(has(SESSION_ID))
        self.world.begin_turn()
        found.append(has(SESSION_ID))
        self.assertEqual([False, False, True, False], found)


class RestartTests(SupervisorTestCase):
    def test_run_of_a_killed_service_is_reported_and_not_repeated(self) -> None:
        self.world.save(TESTS, LINT)
        self.world.turn()
        self.world.boot()
        self.assertEqual(RunState.INTERRUPTED, self.world.last.state)
        self.assertEqual(([], 1), (self.world.runner.begun, self.world.rings))
        states = [each.state for each in self.world.last.results]
        self.assertEqual([CheckState.INTERRUPTED] * 2, states)
        self.world.boot()
        self.assertEqual(0, self.world.rings, "told once")

    def test_stopped_service_reports_its_run_after_the_restart(self) -> None:
        self.send_back()
        self.world.turn()
        self.successResultOf(self.world.supervisor.stop())
        self.assertEqual((["tests"], 0), (self.runner.cancelled, self.world.rings))
        self.world.boot()
        self.assertEqual((RunState.INTERRUPTED, 1), (self.world.last.state, self.world.rings))

    def test_prompt_of_a_killed_service_is_typed_once(self) -> None:
        self.send_back()
        self.world.sessions.waits = Deferred()
        self.red_turn()
        self.assertEqual(FollowUp.SENDING, self.world.last.follow_up)
        self.world.sessions.waits = None
        self.world.boot()
        self.assertEqual(1, len(self.world.sessions.inputs))
        self.assertEqual((FollowUp.SENT, 0), (self.world.last.follow_up, self.world.rings))

    def test_turn_that_ended_while_no_service_ran_is_judged(self) -> None:
        self.world.save()
        session = self.world.sessions.session
        for is_open, begun in ((False, []), (True, ["tests"])):
            self.world.sessions.session = evolve(session, turn_open=is_open)
            self.world.boot()
            self.world.tell(EventName.SESSION_IDLE)
            self.world.clock.advance(0)
            self.assertEqual(begun, self.world.runner.begun)

    def test_attempts_survive_a_restart(self) -> None:
        self.send_back(attempts=2)
        self.red_turn()
        self.world.boot()
        for _ in range(2):
            self.red_turn()
        self.assertEqual((2, 1), (len(self.world.sessions.inputs), self.world.rings))


class SessionOfCaseTests(SupervisorTestCase):
    def test_session_has_the_checks_of_its_case_by_name_or_folder(self) -> None:
        self.world.save()
        find = self.world.cases.find_session_checks
        self.assertIsNotNone(find(self.world.sessions.session))
        self.world.sessions.session = self.moved("/work/of-ann-2")
        self.assertIsNone(find(self.world.sessions.session))
        self.world.set_case("OF-ANN")
        self.assertIsNotNone(find(self.world.sessions.session))

    def test_checks_of_another_account_are_not_used(self) -> None:
        self.world.save()
        other = self.moved("/work/of-ann", owner="bob")
        self.assertIsNone(self.world.cases.find_session_checks(other))

    def test_checks_go_with_their_account(self) -> None:
        self.world.save()
        self.world.cases.delete_unknown_owners(lambda name: name != "ann")
        self.assertEqual([], self.world.store.list_owners())

    def moved(self, folder: str, owner: str = "ann") -> Session:
        return evolve(self.world.sessions.session, working_dir=folder, owner=owner)
