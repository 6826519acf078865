"""The suite itself, and what a test class with the real tmux hands it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred

from tests.contract.end_listener import ID, EndCallback, outcome_of
from tests.contract.line_contract import LineContract, logged_text
from tests.contract.question_contract import QuestionContract
from tests.fakes.multiplexer import multiplexer
from tests.integration.mux.harness import RecordingPaneListener, TmuxTestCase
from tests.waiting import PATIENCE
from tservice.mux.interface import (
    COMMAND_TIMEOUT,
    MARK_ID_MAX,
    IMultiplexer,
    InputMark,
    IPane,
    Liveness,
    MuxError,
    MuxTimeout,
    PaneGone,
    PaneSpec,
    ScreenGuard,
)
from tservice.mux.keys import KEYS
from tservice.mux.tmux import capture as tmux_capture
from tservice.mux.tmux.control_parser import LINE_COST


class Contract(LineContract, QuestionContract):
    """The suite; C{self} is a class that hands it what it needs."""

    async def shell(self: Any) -> tuple[Any, RecordingPaneListener]:
        pane = await self.mux.create_pane(self.line_shell())
        heard = RecordingPaneListener()
        pane.add_listener(heard)
        await self.until(lambda: logged_text(pane).endswith(b"$ "), "the prompt")
        return pane, heard

    async def run_line(self: Any, pane: Any, line: str) -> None:
        await pane.write_bytes(line.encode() + b"\r")

    async def raises(self: Any, error: type[Exception], work: Any) -> None:
        try:
            await work
        except error:
            return
        self.fail(f"no {error.__name__}")

    async def test_multiplexer_and_pane_provide_their_interfaces(self: Any) -> None:
        pane, _ = await self.shell()
        self.assertTrue(IMultiplexer.providedBy(self.mux))
        self.assertTrue(IPane.providedBy(pane))

    async def test_typed_line_is_run_by_the_shell(self: Any) -> None:
        pane, _ = await self.shell()
        await self.run_line(pane, "echo good day")
        await self.until(lambda: b"\r\ngood day\r\n$ " in logged_text(pane), "the answer")
        self.assertIsInstance(pane.pid, int)
        self.assertIs(Liveness.ALIVE, await pane.probe_process())
        self.assertEqual((80, 24, ID), (pane.cols, pane.rows, pane.session_id))
        self.assertEqual(pane.log.end, self.mux.output_bytes)

    async def test_preface_precedes_the_output_of_the_program(self: Any) -> None:
        """A long one too, to the byte, and before the program's first byte."""
        preface = b"".join(b"row %d\r\n" % number for number in range(20_000))
        pane = await self.mux.create_pane(evolve(self.line_shell(), preface=preface))
        await self.until(lambda: logged_text(pane).endswith(b"$ "), "the prompt")
        told, _, rest = logged_text(pane).replace(b"\r\r", b"\r").partition(b"row 19999\r\n")
        self.assertEqual(preface, told + b"row 19999\r\n")
        self.assertTrue(rest.endswith(b"$ "), rest)
        found = await pane.capture_content(None)
        self.assertEqual((b"row 0", b"row 19999"), (found.lines[0], found.lines[19_999]))

    async def test_only_the_first_pane_of_a_session_prints_its_preface(self: Any) -> None:
        pane = await self.mux.create_pane(evolve(self.line_shell(), preface=b"of before\r\n"))
        await self.until(lambda: logged_text(pane).endswith(b"$ "), "the prompt")
        await pane.kill()
        again, _ = await self.shell()
        self.assertNotIn(b"of before", logged_text(again))

    async def test_exit_is_reported_once_after_the_last_bytes(self: Any) -> None:
        """The last bytes are there before the end is told, once."""
        pane, heard = await self.shell()
        seen: list[bytes] = []
        pane.add_listener(EndCallback(lambda: seen.append(logged_text(pane))))
        await self.run_line(pane, "exit 130")
        await self.until(lambda: heard.exits, "the end")
        self.assertTrue(seen[0].endswith(b"exit 130\r\n"), seen)
        self.assertEqual([(130, None)], [(e.status, e.signal) for e in heard.exits])
        self.assertEqual(heard.exits[0], pane.ending)
        self.assertIsNone(pane.pid)
        self.assertIs(Liveness.DEAD, await pane.probe_process())
        self.assertEqual(0, heard.lost)

    async def test_ended_pane_refuses_input_and_keeps_its_output_readable(self: Any) -> None:
        """Nothing can be typed; what is left can be read, also by a later service."""
        pane, heard = await self.shell()
        await self.run_line(pane, "exit 3")
        await self.until(lambda: heard.exits, "the end")
        await self.raises(PaneGone, pane.write_bytes(b"x"))
        await self.raises(PaneGone, pane.send_key("Enter"))
        await self.raises(PaneGone, pane.paste("x"))
        found = await pane.capture_content()
        self.assertIn(b"$ exit 3", found.lines[0])
        await self.raises(MuxError, self.mux.create_pane(self.line_shell()))
        self.assertEqual({ID}, await self.mux.find_session_ids())

    async def test_killed_process_reports_its_signal(self: Any) -> None:
        pane, heard = await self.shell()
        await self.crash_process(pane)
        await self.until(lambda: heard.exits, "the end")
        self.assertEqual((None, "SIGKILL"), (pane.ending.status, pane.ending.signal))

    async def test_lost_server_is_reported_and_leaves_nothing_to_adopt(self: Any) -> None:
        pane, heard = await self.shell()
        await self.crash_server(pane)
        await self.until(lambda: heard.lost, "the loss")
        self.assertEqual((1, []), (heard.lost, heard.exits))
        self.assertIsNone(pane.pid)
        self.assertIs(Liveness.DEAD, await pane.probe_process())
        for work in (
            pane.write_bytes(b"x"),
            pane.capture_content(),
            pane.resize(90, 30),
            pane.read_last_mark(),
        ):
            await self.raises(PaneGone, work)
        self.assertEqual({ID}, await self.mux.find_session_ids())
        self.assertIsNone(await self.mux.adopt_pane(ID, self.pane_place))
        self.assertEqual(frozenset(), await self.mux.find_session_ids())

    async def test_lost_session_can_be_started_again(self: Any) -> None:
        pane, heard = await self.shell()
        await self.crash_server(pane)
        await self.until(lambda: heard.lost, "the loss")
        again, _ = await self.shell()
        self.assertNotEqual(pane.log.epoch, again.log.epoch)

    async def test_input_marks_outlive_the_service(self: Any) -> None:
        pane, _ = await self.shell()
        self.assertIsNone(await pane.read_last_mark())
        await pane.write_bytes(b"echo", InputMark(id="in-1", step="typed"))
        self.assertEqual(InputMark(id="in-1", step="typed", done=4), await pane.read_last_mark())
        await pane.paste(" x", InputMark(id="in-2", step="pasted"))
        await pane.send_key("BSpace", InputMark(id="in-3", step="erased"))
        await self.mux.close()
        again = await self.multiplexer().adopt_pane(ID, self.pane_place)
        self.assertEqual(InputMark(id="in-3", step="erased"), await again.read_last_mark())

    async def test_longest_mark_id_is_kept(self: Any) -> None:
        pane, _ = await self.shell()
        mark = InputMark(id="0a-" * (MARK_ID_MAX // 3))
        await pane.write_bytes(b"echo good day\r", mark)
        await self.until(
            lambda: b"\r\ngood day\r\n$ " in logged_text(pane), "what was typed with it"
        )
        self.assertEqual(evolve(mark, done=14), await pane.read_last_mark())

    async def test_typing_without_a_mark_keeps_the_last_mark(self: Any) -> None:
        pane, _ = await self.shell()
        await pane.write_bytes(b"a", InputMark(id="in-1"))
        await pane.write_bytes(b"b")
        self.assertEqual(InputMark(id="in-1", done=1), await pane.read_last_mark())

    async def test_write_resumes_at_the_byte_where_it_stopped(self: Any) -> None:
        pane, _ = await self.shell()
        await pane.write_bytes(b"echo abcdef\r", InputMark(id="in-1", done=5))
        await self.until(lambda: b"abcdef: not found" in logged_text(pane), "the rest")
        self.assertEqual(InputMark(id="in-1", done=12), await pane.read_last_mark())

    async def test_paste_strips_control_characters_and_keeps_the_text(self: Any) -> None:
        """Control characters do not come through; the text does."""
        pane, _ = await self.shell()
        start = pane.log.end
        await pane.paste("one $HOME \"two\" 'three' ; # {x} \\ \x1b[201~\x07né")
        await pane.send_key("Enter")
        await self.until(lambda: b"not found" in logged_text(pane), "the answer")
        shown = b"one $HOME \"two\" 'three' ; # {x} \\ [201~n\xc3\xa9"
        self.assertIn(shown, pane.log.read(start, 10_000))

    async def test_guarded_key_is_pressed_on_an_unchanged_screen(self: Any) -> None:
        pane, _ = await self.shell()
        await self.rest(pane)
        guard = await pane.guard_screen()
        self.assertTrue(guard.still)
        self.assertTrue(guard.capture.lines[0].startswith(b"$"))
        self.assertTrue(await pane.press_if("7", guard, range(24)))
        await self.until(lambda: logged_text(pane).endswith(b"$ 7"), "the key")
        self.assertFalse(await pane.press_if("7", guard, range(24)), "it was used up")
        await self.raises(KeyError, pane.press_if("77", await pane.guard_screen(), [0]))

    async def test_guarded_key_is_not_pressed_after_new_output(self: Any) -> None:
        """Even where the rows that count did not change."""
        pane, _ = await self.shell()
        await self.rest(pane)
        guard = await pane.guard_screen()
        await self.output_printed(pane)
        self.assertFalse(await pane.press_if("7", guard, []))
        await self.run_line(pane, "echo end")
        await self.until(lambda: b"\r\nend" in logged_text(pane), "the end")
        self.assertNotIn(b"7", logged_text(pane))

    async def test_guarded_key_is_not_pressed_after_other_input(self: Any) -> None:
        pane, _ = await self.shell()
        await self.rest(pane)
        guard = await pane.guard_screen()
        await pane.write_bytes(b"x")
        self.assertFalse(await pane.press_if("Escape", guard, []))
        self.assertIsNotNone(pane.typed_at)

    async def test_guarded_key_on_a_changing_screen_compares_the_given_rows(self: Any) -> None:
        pane, _ = await self.shell()
        await self.run_line(pane, "echo '? ^$*(a)|[b]{c}#,%d \\\\ ü─ é.'")
        await self.until(lambda: logged_text(pane).endswith(b"\r\n$ "), "the answer")
        guard = await self.restless(pane)
        self.assertFalse(guard.still)
        self.assertTrue(await pane.press_if("1", guard, [0, 1, 2]))
        await self.until(lambda: logged_text(pane).endswith(b"1"), "the key")
        guard = await self.restless(pane)
        await self.output_printed(pane)
        self.assertTrue(await pane.press_if("2", guard, [0, 1, 4]))
        guard = await self.restless(pane)
        await self.output_printed(pane)
        self.assertFalse(await pane.press_if("3", guard, range(24)))

    async def test_guarded_paste_is_typed_only_on_an_unchanged_screen(self: Any) -> None:
        pane, _ = await self.shell()
        await self.rest(pane)
        self.assertTrue(await pane.paste_if("one; 'two'", await pane.guard_screen(), [0]))
        await self.until(lambda: b"one; 'two'" in logged_text(pane), "the text")
        guard = await pane.guard_screen()
        await self.output_printed(pane)
        self.assertFalse(await pane.paste_if("three", guard, range(24)))
        await self.raises(PaneGone, self.guarded_after_the_end(pane))

    async def guarded_after_the_end(self: Any, pane: Any) -> None:
        await pane.write_bytes(b"\x03")
        guard = await pane.guard_screen()
        await pane.write_bytes(b"exit\r")
        await self.until(lambda: pane.ending is not None, "the end")
        await pane.press_if("1", guard, [])

    async def test_every_named_key_can_be_pressed(self: Any) -> None:
        pane, _ = await self.shell()
        for name in sorted(KEYS.keys() - {"C-c", "C-d", "C-z", "C-q", "C-s", "C-o", "C-v"}):
            await pane.send_key(name)
        await self.raises(KeyError, pane.send_key("F99"))

    async def test_capture_holds_lines_caret_and_modes(self: Any) -> None:
        pane, _ = await self.shell()
        await self.run_line(pane, "echo one")
        await self.until(lambda: logged_text(pane).endswith(b"one\r\n$ "), "the answer")
        found = await pane.capture_content()
        self.assertEqual((24, 0), (len(found.lines), found.history))
        rows = [line.rstrip() for line in found.lines[:4]]
        self.assertEqual([b"$ echo one", b"one", b"$", b""], rows)
        self.assertEqual((2, 2, True), (found.cursor_x, found.cursor_y, found.cursor_visible))
        self.assertEqual((80, 24, False), (found.cols, found.rows, found.alternate_screen))
        self.assertEqual((pane.log.end, pane.log.epoch), (found.offset, found.epoch))
        self.assertIn(b"\x1b[?2004h", found.modes)

    async def test_capture_returns_the_history(self: Any) -> None:
        pane, _ = await self.shell()
        for number in range(40):
            await self.run_line(pane, f"echo {number}")
            answer = b"\r\n%d\r\n$ " % number
            await self.until(lambda answer=answer: logged_text(pane).endswith(answer), "the answer")
        found = await pane.capture_content(None)
        self.assertEqual(81 - 24, found.history)
        self.assertEqual(found.history, found.history_size)
        self.assertEqual(81, len(found.lines))
        want = [line for n in range(40) for line in (b"$ echo %d" % n, b"%d" % n)]
        self.assertEqual([*want, b"$"], [line.rstrip() for line in found.lines])
        some = await pane.capture_content(10)
        self.assertEqual(10, some.history)
        self.assertEqual(found.lines[-34:], some.lines)

    async def test_capture_of_a_long_history_reads_the_newest_lines(self: Any) -> None:
        pane, _ = await self.shell()
        for number in range(40):
            await self.run_line(pane, f"echo {number}")
            answer = b"\r\n%d\r\n$ " % number
            await self.until(lambda answer=answer: logged_text(pane).endswith(answer), "the answer")
        whole = await pane.capture_content(None)
        self.patch(tmux_capture, "AT_ONCE", 4)
        self.patch(tmux_capture, "PAGE", 8)
        for module in (tmux_capture, multiplexer):
            self.patch(module, "HISTORY_SIZE", 21 * (LINE_COST + 8))
        for wanted in (None, 50):
            found = await pane.capture_content(wanted)
            self.assertEqual(whole.history_size, found.history_size)
            self.assertIn(found.history, range(20, 25))
            read = [line.removeprefix(b"\x1b[m\x1b(B") for line in found.lines]
            self.assertEqual(list(whole.lines[-len(read) :]), read)
            self.assertEqual(24, len(found.lines) - found.history)
        some = await pane.capture_content(15)
        self.assertEqual(15, some.history)

    async def test_alternate_screen_is_captured_with_the_main_screen(self: Any) -> None:
        pane, _ = await self.shell()
        await self.emit_output(pane, "\\033[?1049h\\033[2;3Hinside\\033[?25l\\033[?1h\\033[?1006h")
        await self.until(lambda: b"\x1b[?1006h" in logged_text(pane), "the program")
        found = await pane.capture_content()
        self.assertTrue(found.alternate_screen)
        self.assertFalse(found.cursor_visible)
        self.assertEqual(b"  inside", found.lines[1].rstrip())
        for mode in (b"\x1b[?1049h", b"\x1b[?25l", b"\x1b[?1h", b"\x1b[?1006h"):
            self.assertIn(mode, found.modes)
        self.assertEqual(24, len(found.main))
        self.assertTrue(found.main[0].startswith(b"$"))

    async def test_resize_changes_pane_and_capture(self: Any) -> None:
        pane, heard = await self.shell()
        await pane.resize(100, 30)
        await pane.resize(100, 30)
        self.assertEqual((100, 30), (pane.cols, pane.rows))
        self.assertEqual([(100, 30)], heard.sizes)
        found = await pane.capture_content()
        self.assertEqual((100, 30, 30), (found.cols, found.rows, len(found.lines)))

    async def test_title_is_reported(self: Any) -> None:
        pane, heard = await self.shell()
        self.assertEqual("", pane.title)
        await self.emit_output(pane, "\\033]2;a, b: 50%% d\\007")
        await self.until(lambda: heard.titles, "the title")
        self.assertEqual(["a, b: 50% d"], heard.titles)
        self.assertEqual("a, b: 50% d", pane.title)
        self.assertEqual(pane.title, (await pane.capture_content()).title)

    async def test_output_of_a_paused_pane_is_not_logged(self: Any) -> None:
        """What is printed meanwhile is not in the log, and no reader goes on over the hole."""
        pane, _ = await self.shell()
        start = pane.log.end
        await pane.pause_output()
        self.assertTrue(pane.paused)
        self.assertFalse(pane.log.has_offset(start))
        await self.run_line(pane, "echo hidden")
        while b"hidden" not in b"".join((await pane.capture_content()).lines[1:]):
            await self.until(lambda: True)
        await pane.resume_output()
        self.assertFalse(pane.paused)
        await self.run_line(pane, "echo shown")
        await self.until(lambda: b"\r\nshown\r\n" in logged_text(pane), "the answer")
        self.assertNotIn(b"hidden", logged_text(pane))

    async def test_second_server_of_a_session_is_refused(self: Any) -> None:
        await self.shell()
        await self.raises(MuxError, self.mux.create_pane(self.line_shell()))

    async def test_adopting_an_unknown_session_finds_nothing(self: Any) -> None:
        self.assertIsNone(await self.mux.adopt_pane(ID, self.pane_place))
        self.assertEqual(frozenset(), await self.mux.find_session_ids())

    async def test_adopted_pane_keeps_size_process_and_exit(self: Any) -> None:
        pane, _ = await self.shell()
        await pane.resize(100, 30)
        before = pane.pid
        await self.mux.close()
        await self.raises(PaneGone, pane.write_bytes(b"x"))
        self.assertIs(Liveness.UNKNOWN, await pane.probe_process())
        mux = self.multiplexer()
        self.assertEqual({ID}, await mux.find_session_ids())
        again = await mux.adopt_pane(ID, self.pane_place)
        self.assertEqual((before, 100, 30, None), (again.pid, again.cols, again.rows, again.ending))
        self.assertNotEqual(pane.log.epoch, again.log.epoch)
        self.assertIn(b"\x1b[?2004h", (await again.capture_content()).modes)
        heard = RecordingPaneListener()
        again.add_listener(heard)
        await self.run_line(again, "exit 4")
        await self.until(lambda: heard.exits, "the end")
        self.assertEqual(4, heard.exits[0].status)
        self.assertTrue(logged_text(again).endswith(b"exit 4\r\n"))

    async def test_session_that_ended_before_adoption_reports_its_exit(self: Any) -> None:
        pane, heard = await self.shell()
        await self.run_line(pane, "exit 7")
        await self.until(lambda: heard.exits, "the end")
        await self.settle(pane)
        await self.mux.close()
        again = await self.multiplexer().adopt_pane(ID, self.pane_place)
        self.assertEqual((7, None), (again.ending.status, again.ending.signal))
        self.assertIsNone(again.pid)
        self.assertIn(b"exit 7", (await again.capture_content()).lines[0])

    async def test_killed_pane_ends_and_its_session_can_be_created_again(self: Any) -> None:
        pane, heard = await self.shell()
        unsubscribe = pane.log.subscribe(lambda: None)
        await pane.kill()
        self.assertLess(pane.log.start, pane.log.end)
        unsubscribe()
        self.assertEqual(pane.log.start, pane.log.end)
        self.assertEqual(frozenset(), await self.mux.find_session_ids())
        self.assertEqual((0, []), (heard.lost, heard.exits))
        await self.raises(PaneGone, pane.write_bytes(b"x"))
        self.assertIs(Liveness.DEAD, await pane.probe_process())
        await pane.kill()
        await self.shell()

    async def test_stalled_server_is_unknown_and_completes_its_work_later(self: Any) -> None:
        """It is unknown, not dead; what was sent is done once it goes on."""
        pane, heard = await self.shell()
        go_on = await self.stall(pane)
        work = [pane.write_bytes(b"echo late\r"), pane.capture_content(), pane.probe_process()]
        results = await self.all_late(work)
        self.assertIsInstance(results[0], MuxTimeout)
        self.assertIsInstance(results[1], MuxTimeout)
        self.assertIs(Liveness.UNKNOWN, results[2])
        self.assertEqual((0, []), (heard.lost, heard.exits))
        go_on()
        await self.until(lambda: b"\r\nlate\r\n" in logged_text(pane), "the late answer")
        self.assertIs(Liveness.ALIVE, await pane.probe_process())


class ShellContract:
    """Of the suite what goes by the shell of a far end: what starts, ends and is found there."""

    test_a_preface_stands_above_the_program = (
        Contract.test_preface_precedes_the_output_of_the_program
    )
    test_exit = Contract.test_exit_is_reported_once_after_the_last_bytes
    test_killed_process = Contract.test_killed_process_reports_its_signal
    test_lost_server = Contract.test_lost_server_is_reported_and_leaves_nothing_to_adopt
    test_marks_outlive_the_service = Contract.test_input_marks_outlive_the_service
    test_adopt_what_ended_meanwhile = (
        Contract.test_session_that_ended_before_adoption_reports_its_exit
    )
    test_kill = Contract.test_killed_pane_ends_and_its_session_can_be_created_again
    shell = Contract.shell
    run_line = Contract.run_line
    raises = Contract.raises


class TmuxHands(TmuxTestCase):
    """What the suite needs, on the real tmux."""

    def line_shell(self) -> PaneSpec:
        return evolve(self.spec(), session_id=ID)

    async def crash_process(self, pane: Any) -> None:
        os.kill(pane.pid, signal.SIGKILL)

    async def crash_server(self, pane: Any) -> None:
        os.kill(await self.server_pid(pane), signal.SIGKILL)

    async def settle(self, pane: Any) -> None:
        await self.until_dead(pane)

    async def rest(self, pane: Any) -> None:
        """Until nothing was printed in the second that runs."""
        end = time.monotonic() + PATIENCE
        while not (await pane.guard_screen()).still:
            if time.monotonic() > end:
                self.fail("no rest")
            await self.pause(0.1)

    async def restless(self, pane: Any) -> ScreenGuard:
        """What is printed just now may not be all of it."""
        await self.output_printed(pane)
        guard: ScreenGuard = await pane.guard_screen()
        return evolve(guard, still=False, seal=(guard.seal[0], None))

    async def output_printed(self, pane: Any) -> None:
        """By somebody else who has the terminal open."""
        fd = os.open(f"/proc/{pane.pid}/fd/1", os.O_WRONLY | os.O_NOCTTY)
        end = pane.log.end
        os.write(fd, b".")
        os.close(fd)
        await self.until(lambda: pane.log.end > end, "the sign")

    async def stall(self, pane: Any) -> Callable[[], None]:
        pid = await self.server_pid(pane)
        self.stop(pid)
        return lambda: os.kill(pid, signal.SIGCONT)

    async def emit_output(self, pane: Any, escaped: str) -> None:
        await pane.write_bytes(f"eval printf '{escaped}'; read -r x\r".encode())

    async def all_late(self, work: list[Any]) -> list[Any]:
        begun = [Deferred.fromCoroutine(outcome_of(each)) for each in work]
        while not all(each.called for each in begun):
            await self.pause(0.05)
            self.clock.advance(COMMAND_TIMEOUT)
        return [await each for each in begun]


class TmuxContract(Contract, TmuxHands):
    """The suite on the real tmux."""
