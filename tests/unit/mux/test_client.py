"""A control client: answers find their commands, whatever comes in between."""

from __future__ import annotations

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.mux.played_tmux import ClientProcess, RecordingLinkListener
from tservice.mux.interface import COMMAND_TIMEOUT, MuxBusy, MuxError, MuxTimeout
from tservice.mux.tmux import control_client, control_parser
from tservice.mux.tmux.control_client import (
    MANY_LINES,
    MAX_ERROR_TEXT,
    MAX_WAITING,
    ODD_EVENTS,
    ODD_SECONDS,
    OF_A_COMMAND,
    SLICE,
    ClientGone,
    CommandRefused,
    ControlClient,
)
from tservice.mux.tmux.control_parser import ControlNotice


class ControlClientTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock, self.told = Clock(), RecordingLinkListener()
        self.client = ControlClient(self.clock, self.told)
        self.process = ClientProcess(self.client)
        self.process.attached()
        self.successResultOf(self.client.ready)

    def test_client_answers_come_in_order(self) -> None:
        first, second = self.client.send_command(b"a"), self.client.send_command(b"b ; c", 2)
        self.assertEqual([b"a", b"b ; c"], self.process.lines)
        self.process.answer(b"1")
        self.assertEqual((b"1",), self.successResultOf(first)[0].lines)
        self.process.answer(b"2")
        self.assertNoResult(second)
        self.process.answer(b"3")
        self.assertEqual([(b"2",), (b"3",)], [b.lines for b in self.successResultOf(second)])
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_tmux_error_ends_its_command_line(self) -> None:
        """Tmux does not run, and does not answer, what follows it."""
        first, second = self.client.send_command(b"a ; b ; c", 3), self.client.send_command(b"d")
        self.process.answer(b"1")
        self.process.answer(b"no such thing", ok=False)
        self.assertEqual("no such thing", str(self.failureResultOf(first, CommandRefused).value))
        self.process.answer(b"4")
        self.assertEqual((b"4",), self.successResultOf(second)[0].lines)

    def test_answer_is_ordered_with_the_output_stream(self) -> None:
        """When a caller goes on, it has seen what came before and nothing after."""
        seen: list[list[object]] = []
        self.client.send_command(b"a").addCallback(lambda _: seen.append(list(self.told.events)))
        self.process.say(b"%output %0 x\n%begin 2 1 1\n%end 2 1 1\n%output %0 y\n")
        self.assertEqual([[b"x"]], seen)
        self.assertEqual([b"x", b"y"], self.told.events)

    def test_late_answer_is_not_given_to_the_next_command(self) -> None:
        first = self.client.send_command(b"a")
        self.clock.advance(COMMAND_TIMEOUT)
        self.failureResultOf(first, MuxTimeout)
        self.assertEqual(["stalled"], self.told.events)
        self.assertTrue(self.client.is_overdue)
        second = self.client.send_command(b"b")
        self.process.answer(b"late")
        self.assertNoResult(second)
        self.assertFalse(self.client.is_overdue)
        self.process.answer(b"2")
        self.assertEqual((b"2",), self.successResultOf(second)[0].lines)

    def test_cancelled_command_keeps_its_place_in_the_queue(self) -> None:
        first, second = self.client.send_command(b"a"), self.client.send_command(b"b")
        first.addErrback(lambda _: None).cancel()
        self.process.answer(b"1")
        self.process.answer(b"2")
        self.assertEqual((b"2",), self.successResultOf(second)[0].lines)
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_command_queue_is_bounded(self) -> None:
        waiting = [self.client.send_command(b"a") for _ in range(MAX_WAITING)]
        self.failureResultOf(self.client.send_command(b"b"), MuxBusy)
        self.assertEqual(MAX_WAITING, len(self.process.lines))
        for _ in waiting:
            self.process.answer()
        self.assertEqual(MAX_WAITING, len([self.successResultOf(each) for each in waiting]))

    def test_ended_process_fails_waiting_commands(self) -> None:
        command = self.client.send_command(b"a")
        self.process.say(b"%output %0 ab\\0")
        self.process.say(b"")
        self.process.end_stream()
        self.failureResultOf(command, MuxTimeout)
        self.failureResultOf(self.client.send_command(b"b"), ClientGone)
        self.assertEqual(b"ab", self.told.events[0])
        self.assertEqual("ended", self.told.events[-1][0])
        self.successResultOf(self.client.gone)
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_pipes_left_open_after_the_process_do_not_delay_its_end(self) -> None:
        self.client.processExited(None)  # type: ignore[arg-type]
        self.clock.advance(1)
        self.assertFalse(self.process.open)

    def test_answer_beyond_the_bound_fails(self) -> None:
        self.patch(control_parser, "MAX_BLOCK", 5)
        command = self.client.send_command(b"a")
        self.process.answer(b"0123456789")
        self.failureResultOf(command, MuxError)

    def test_notices_are_passed_on(self) -> None:
        self.process.say(b"%window-renamed @0 dead\n%begin 9 9 0\n%end 9 9 0\n")
        self.assertEqual([ControlNotice(b"window-renamed", b"@0 dead")], self.told.events)

    def test_unexpected_answer_is_dropped(self) -> None:
        self.process.answer(b"x")
        command = self.client.send_command(b"a")
        self.process.answer(b"1")
        self.assertEqual((b"1",), self.successResultOf(command)[0].lines)


class ControlClientAttachTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.told = RecordingLinkListener()
        self.client = ControlClient(Clock(), self.told)
        self.process = ClientProcess(self.client)

    def test_refused_attach_gives_the_error(self) -> None:
        self.process.say(b"%begin 1 1 0\nno sessions\n%error 1 1 0\n")
        self.assertEqual("no sessions", str(self.failureResultOf(self.client.ready).value))

    def test_client_that_ends_early_gives_bounded_error_text(self) -> None:
        self.client.errReceived(b"x" * MAX_ERROR_TEXT)
        self.client.errReceived(b"no server running\n")
        self.process.end_stream()
        text = str(self.failureResultOf(self.client.ready, CommandRefused).value)
        self.assertTrue(text.endswith("no server running"))
        self.assertLessEqual(len(text), MAX_ERROR_TEXT)


class ControlClientFloodTests(SynchronousTestCase):
    """A server that is none."""

    def setUp(self) -> None:
        self.clock, self.told = Clock(), RecordingLinkListener()
        self.client = ControlClient(self.clock, self.told)
        self.process = ClientProcess(self.client)
        self.process.attached()
        self.successResultOf(self.client.ready)

    def test_flood_of_notices_kills_the_client(self) -> None:
        for odd in (b"%x y\n", b"%begin 7 7 1\n%end 7 7 1\n", b"%begin 7 7 0\n%end 7 7 0\n"):
            self.setUp()
            self.process.say(odd * (ODD_EVENTS - 1))
            self.assertEqual([], self.process.signals, odd)
            self.process.say(odd * 2)
            self.assertEqual(["KILL"], self.process.signals, odd)
            told = len(self.told.events)
            self.process.say(odd * 1000)
            self.assertEqual(told, len(self.told.events), odd)

    def test_notices_caused_by_own_commands_are_no_flood(self) -> None:
        """A window that several people drag has a new layout a thousand times a second."""
        for _ in range(2 * ODD_EVENTS):
            asked = self.client.send_command(b"resize-window")
            self.process.answer()
            self.successResultOf(asked)
            self.process.say(b"%layout-change @0 x\n")
        self.assertEqual([], self.process.signals)
        self.process.say(b"%x y\n" * (ODD_EVENTS + OF_A_COMMAND * 2 * ODD_EVENTS))
        self.assertEqual(["KILL"], self.process.signals)

    def test_notices_spread_over_time_are_no_flood(self) -> None:
        for _ in range(20):
            self.process.say(b"%x y\n" * (ODD_EVENTS // 4))
            self.clock.advance(ODD_SECONDS)
        self.assertEqual([], self.process.signals)

    def test_pane_output_is_no_flood(self) -> None:
        self.process.say(b"%output %0 a\n%output %1 b\n" * ODD_EVENTS * 2)
        self.assertEqual([], self.process.signals)
        self.assertEqual([b"a" * ODD_EVENTS * 2], self.told.events)

    def test_endless_answer_is_dropped_after_its_time(self) -> None:
        late = self.client.send_command(b"a")
        self.process.say(b"%begin 2 1 1\n" + b"x\n" * 1000)
        block = self.client._parser._block
        assert block is not None
        self.assertEqual(1000, len(block._lines))
        self.clock.advance(COMMAND_TIMEOUT)
        self.failureResultOf(late, MuxTimeout)
        self.assertEqual([], block._lines)
        self.process.say(b"x\n" * 1000)
        self.assertEqual([], block._lines)
        self.process.say(b"%end 2 1 1\n")
        second = self.client.send_command(b"b")
        self.process.number = 1
        self.process.answer(b"2")
        self.assertEqual((b"2",), self.successResultOf(second)[0].lines)

    def test_endless_answer_is_a_flood(self) -> None:
        """Also one whose time is over: lines of nothing cost as much as others."""
        self.patch(control_parser, "MAX_BLOCK", 100 * control_parser.LINE_COST)
        self.patch(control_parser, "MAX_DROPPED", 100 * control_parser.LINE_COST)
        for late in (False, True):
            self.setUp()
            asked = self.client.send_command(b"a")
            self.process.say(b"%begin 2 1 1\n" + b"\n" * 100)
            if late:
                self.clock.advance(COMMAND_TIMEOUT)
                self.failureResultOf(asked, MuxTimeout)
            self.process.say(b"\n" * 100)
            self.assertEqual([], self.process.signals)
            self.process.say(b"\n" * 2)
            self.assertEqual(["KILL"], self.process.signals)
            if not late:
                self.failureResultOf(asked, MuxTimeout)

    def test_input_after_a_flood_is_not_parsed(self) -> None:
        """A read of nothing but ends of lines would take a tenth of a second."""
        looked: list[bytes] = []
        real = control_parser.ControlParser._parse_line

        def noted(
            parser: control_parser.ControlParser, line: bytes, events: list[control_parser.Event]
        ) -> None:
            looked.append(line)
            real(parser, line, events)

        self.patch(control_parser.ControlParser, "_parse_line", noted)
        self.process.say(b"\n" * 65_536)
        self.assertEqual(["KILL"], self.process.signals)
        self.assertLessEqual(len(looked), SLICE)

    def test_many_short_output_lines_are_joined(self) -> None:
        """However they are sliced."""
        self.process.say(b"%output %0 a\n" * 3 * MANY_LINES)
        self.assertEqual([], self.process.signals)
        printed = [event for event in self.told.events if isinstance(event, bytes)]
        self.assertEqual(b"a" * 3 * MANY_LINES, b"".join(printed))

    def test_answers_of_one_line_share_a_bound(self) -> None:
        self.patch(control_client, "MAX_BLOCK", 3 * (control_parser.LINE_COST + 1))
        asked = self.client.send_command(b"a ; b ; c", 3)
        for _ in range(3):
            self.process.answer(b"x", b"y")
        self.assertIn("too large", str(self.failureResultOf(asked, MuxError).value))

    def test_error_text_of_a_refusal_is_truncated(self) -> None:
        asked = self.client.send_command(b"a")
        self.process.answer(*[b"no" * 500] * 500, ok=False)
        self.assertLessEqual(
            len(str(self.failureResultOf(asked, CommandRefused).value)), MAX_ERROR_TEXT
        )
