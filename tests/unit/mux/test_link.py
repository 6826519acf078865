"""A link keeps one client attached; clients die and stall, servers die and stand still."""

from __future__ import annotations

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.mux.played_tmux import ClientProcess, FakeTmuxServer, RecordingLinkListener
from tservice.mux.interface import COMMAND_TIMEOUT, MuxBusy, MuxTimeout, PaneGone
from tservice.mux.tmux.control_client import MAX_WAITING
from tservice.mux.tmux.control_parser import AnswerBlock
from tservice.mux.tmux.server_link import FIRST_DELAY, HEARTBEAT, LAST_DELAY, SETTLED, ServerLink
from tservice.mux.transport import ServerReachability


class ClientLinkTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock, self.told, self.server = Clock(), RecordingLinkListener(), FakeTmuxServer()
        self.link = ServerLink(self.clock, self.told, self.server)
        client = self.link.new_client()
        self.server.attach_client(client)
        self.last.attached()
        self.link.set_client(client)

    @property
    def last(self) -> ClientProcess:
        return self.server.started[-1]

    def command(self, line: bytes = b"a") -> Deferred[list[AnswerBlock]]:
        return Deferred.fromCoroutine(self.link.send_command(line))

    def test_pane_output_passes_the_link(self) -> None:
        self.last.say(b"%output %0 x\n")
        self.assertEqual([b"x"], self.told.events)

    def test_dead_client_is_replaced(self) -> None:
        self.last.end_stream(9)
        waiting = self.command()
        self.clock.advance(FIRST_DELAY)
        self.assertEqual(2, len(self.server.started))
        self.assertNoResult(waiting)
        self.last.attached()
        self.assertEqual(["gap", "attached"], self.told.events)
        self.assertEqual([b"a"], self.last.lines)
        self.last.answer(b"1")
        self.assertEqual((b"1",), self.successResultOf(waiting)[0].lines)

    def test_reconnect_delay_grows_and_resets(self) -> None:
        for delay in (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, LAST_DELAY, LAST_DELAY):
            count = len(self.server.started)
            self.last.end_stream(9)
            self.clock.advance(delay - 0.01)
            self.assertEqual(count, len(self.server.started), delay)
            self.clock.advance(0.02)
            self.assertEqual(count + 1, len(self.server.started), delay)
        self.last.attached()
        self.clock.advance(SETTLED + 1)
        self.last.end_stream(9)
        self.clock.advance(FIRST_DELAY)
        self.assertEqual(11, len(self.server.started))

    def test_lost_server_fails_waiting_commands(self) -> None:
        waiting = self.command()
        self.server.reached = ServerReachability.GONE
        self.last.end_stream()
        self.assertEqual(["lost"], self.told.events)
        self.failureResultOf(waiting, MuxTimeout)
        self.failureResultOf(self.command(), PaneGone)
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_unreachable_server_is_not_lost(self) -> None:
        self.server.reached = ServerReachability.UNKNOWN
        self.last.end_stream(9)
        self.clock.advance(FIRST_DELAY)
        self.assertEqual(2, len(self.server.started))
        self.assertEqual([], self.told.events)

    def test_link_acts_only_after_the_reachability_answer(self) -> None:
        """Nothing is done before it is there, nor after whoever asked has let go."""
        for reach, told in (
            (ServerReachability.GONE, ["lost"]),
            (ServerReachability.UNKNOWN, []),
            (ServerReachability.HERE, []),
        ):
            self.setUp()
            answer = self.server.hold()
            self.last.end_stream(9)
            self.clock.advance(LAST_DELAY)
            self.assertEqual((1, []), (len(self.server.started), self.told.events))
            answer.callback(reach)
            self.clock.advance(FIRST_DELAY)
            self.assertEqual(told, self.told.events)
            self.assertEqual(1 if told else 2, len(self.server.started))

    def test_close_before_the_reachability_answer_is_final(self) -> None:
        answer = self.server.hold()
        self.last.end_stream(9)
        closing = Deferred.fromCoroutine(self.link.close("the service has detached"))
        self.successResultOf(closing)
        self.assertFalse(answer.called and answer.result is ServerReachability.GONE)
        self.assertEqual(([], []), (self.told.events, self.clock.getDelayedCalls()))

    def test_command_fails_immediately_when_no_client_will_come(self) -> None:
        """As where tmux refused to start a session: what is left of it is ended at once."""
        self.link.set_end_expected(True)
        self.last.end_stream(1)
        self.failureResultOf(self.command(), MuxTimeout)
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_expected_end_overrides_a_pending_reachability_answer(self) -> None:
        """Whoever ends the server says what follows."""
        answer = self.server.hold()
        self.last.end_stream(9)
        self.link.set_end_expected(True)
        answer.callback(ServerReachability.HERE)
        self.assertEqual([], self.clock.getDelayedCalls())
        self.server.reached = ServerReachability.GONE
        self.link.set_end_expected(False)
        self.assertEqual(["lost"], self.told.events)

    def test_stalled_server_keeps_its_client(self) -> None:
        """No client is killed and none is added; the old one is understood again."""
        self.server.answering = False
        late = self.command()
        self.clock.pump([COMMAND_TIMEOUT, 0, LAST_DELAY])
        self.failureResultOf(late, MuxTimeout)
        self.assertEqual((1, []), (len(self.server.started), self.last.signals))
        self.assertEqual(2, self.server.asked)
        self.last.answer(b"late")
        self.clock.advance(LAST_DELAY)
        self.assertEqual(2, self.server.asked)
        again = self.command(b"b")
        self.last.answer(b"2")
        self.assertEqual((b"2",), self.successResultOf(again)[0].lines)
        self.assertEqual([], self.told.events)

    def test_stalled_client_is_replaced(self) -> None:
        """The server answers somebody else, so it is the client."""
        late = self.command()
        stalled = self.last
        self.clock.pump([COMMAND_TIMEOUT, 0])
        self.failureResultOf(late, MuxTimeout)
        self.assertEqual(["KILL"], stalled.signals)
        self.clock.advance(FIRST_DELAY)
        self.last.attached()
        self.assertEqual(["gap", "attached"], self.told.events)

    def test_heartbeat_detects_a_stalled_client(self) -> None:
        self.clock.advance(HEARTBEAT)
        self.assertEqual(["heartbeat"], self.told.events)
        self.command().addErrback(lambda why: why.trap(MuxTimeout))
        stalled = self.last
        self.clock.pump([COMMAND_TIMEOUT, 0])
        self.assertEqual(["KILL"], stalled.signals)

    def test_slowly_attaching_client_is_not_replaced(self) -> None:
        self.last.end_stream(9)
        self.clock.advance(FIRST_DELAY)
        waiting = self.command()
        self.clock.advance(100)
        self.failureResultOf(waiting, MuxTimeout)
        self.assertEqual((2, []), (len(self.server.started), self.last.signals))
        self.last.attached()
        self.assertEqual(["gap", "attached"], self.told.events)

    def test_waiting_commands_are_bounded(self) -> None:
        self.last.end_stream(9)
        waiting = [self.command() for _ in range(MAX_WAITING)]
        self.failureResultOf(self.command(), MuxBusy)
        self.clock.advance(COMMAND_TIMEOUT)
        for each in waiting:
            self.failureResultOf(each, MuxTimeout)

    def test_closed_link_refuses_commands(self) -> None:
        closed = Deferred.fromCoroutine(self.link.close("let go"))
        self.successResultOf(closed)
        self.assertEqual([], self.told.events)
        self.failureResultOf(self.command(), PaneGone)
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_expected_end_starts_no_new_client(self) -> None:
        self.link.set_end_expected(True)
        self.last.end_stream()
        self.clock.advance(10)
        self.assertEqual(1, len(self.server.started))
        self.link.set_end_expected(False)
        self.clock.advance(FIRST_DELAY)
        self.assertEqual(2, len(self.server.started))
