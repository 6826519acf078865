"""What only the fake can do: scripts of failures, of held servers and of programs."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from tests.fakes.multiplexer.multiplexer import (
    EchoShell,
    FakeHost,
    FakeMultiplexer,
    FakePane,
)
from tests.runtime_harness import HERE
from tservice.mux.interface import (
    COMMAND_TIMEOUT,
    IMultiplexer,
    InputMark,
    IPane,
    Liveness,
    MuxError,
    MuxTimeout,
    PaneGone,
    PaneSpec,
)

_T = TypeVar("_T")
ID = "6f1c0c5e-7c0e-4a55-9d3c-0d7d6a9e1f00"
SPEC = PaneSpec(session_id=ID, argv=("sh",), env={}, cwd="/", cols=40, rows=5, place=HERE)


class FakeTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.shell = EchoShell()
        self.host = FakeHost(self.clock, lambda spec: self.shell)
        self.mux = FakeMultiplexer(self.clock, self.host)
        self.pane: FakePane = self.now(self.mux.create_pane(SPEC))

    def now(self, work: Coroutine[Deferred[Any], Any, _T]) -> _T:
        return self.successResultOf(Deferred.fromCoroutine(work))

    def later(self, work: Coroutine[Deferred[Any], Any, _T]) -> Deferred[_T]:
        return Deferred.fromCoroutine(work)

    def fails(self, work: Coroutine[Deferred[Any], Any, _T], error: type[MuxError]) -> None:
        self.failureResultOf(self.later(work), error)

    def test_fakes_provide_the_interfaces(self) -> None:
        self.assertTrue(verifyObject(IMultiplexer, self.mux))
        self.assertTrue(verifyObject(IPane, self.pane))

    def test_scripted_failure_before_the_keys_types_nothing(self) -> None:
        self.host[ID].inject_fault("write", PaneGone("scripted"))
        self.fails(self.pane.write_bytes(b"ls", InputMark(id="a")), PaneGone)
        self.assertEqual(b"", bytes(self.host[ID].typed))
        self.assertIsNone(self.now(self.pane.read_last_mark()))

    def test_scripted_failure_after_the_keys_types_them(self) -> None:
        self.host[ID].inject_fault("write", MuxTimeout("scripted"), effect=True)
        self.fails(self.pane.write_bytes(b"ls", InputMark(id="a")), MuxTimeout)
        self.assertEqual(b"ls", bytes(self.host[ID].typed))
        self.assertEqual(InputMark(id="a", done=2), self.now(self.pane.read_last_mark()))

    def test_scripted_failure_in_a_long_write_types_a_part(self) -> None:
        data = bytes(range(65, 91)) * 100
        self.host[ID].inject_fault("write", MuxTimeout("scripted"), skip=1)
        self.fails(self.pane.write_bytes(data, InputMark(id="a")), MuxTimeout)
        mark = self.now(self.pane.read_last_mark())
        self.assertEqual(InputMark(id="a", done=1000), mark)
        self.now(self.pane.write_bytes(data, mark))
        self.assertEqual(data, bytes(self.host[ID].typed))

    def test_planned_failure_is_used_once(self) -> None:
        self.host[ID].inject_fault("capture", MuxTimeout("scripted"))
        self.fails(self.pane.capture_content(), MuxTimeout)
        self.now(self.pane.capture_content())

    def test_held_server_times_out_and_acts_late(self) -> None:
        """What a stopped tmux was told, it does once it goes on."""
        self.host[ID].stop_answering()
        write = self.later(self.pane.write_bytes(b"x"))
        self.assertIs(Liveness.UNKNOWN, self.now(self.pane.probe_process()))
        self.clock.advance(COMMAND_TIMEOUT)
        self.failureResultOf(write, MuxTimeout)
        self.assertEqual(b"", bytes(self.host[ID].typed))
        self.host[ID].resume_answering()
        self.assertEqual(b"x", bytes(self.host[ID].typed))

    def test_held_server_released_in_time_answers(self) -> None:
        self.host[ID].stop_answering()
        write = self.later(self.pane.write_bytes(b"x"))
        self.assertNoResult(write)
        self.host[ID].resume_answering()
        self.successResultOf(write)
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_refused_create_fails(self) -> None:
        self.host.start_error = MuxError("no such file")
        other = FakeMultiplexer(self.clock, self.host)
        self.fails(other.create_pane(SPEC), MuxError)

    def test_fake_shell_runs_lines(self) -> None:
        self.now(self.pane.write_bytes(b"echo hi\r"))
        self.now(self.pane.write_bytes(b"nonsense\r"))
        log = self.pane.log
        self.assertIn(b"\r\nhi\r\n$ ", log.read(log.start, log.end))
        self.assertIn(b"nonsense: not found\r\n", log.read(log.start, log.end))
        self.assertEqual(["echo hi", "nonsense"], self.shell.lines)

    def test_lost_server_fails_waiting_commands(self) -> None:
        self.host[ID].stop_answering()
        write = self.later(self.pane.write_bytes(b"x"))
        self.host.lose_server(ID)
        self.failureResultOf(write, PaneGone)
