"""One suite for every multiplexer: what runs on the fake must run on the real tmux alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import TestCase

from tests.contract.end_listener import ID, outcome_of
from tests.contract.suite import Contract, TmuxContract
from tests.fakes.multiplexer.multiplexer import FakeHost, FakeMultiplexer
from tests.runtime_harness import HERE
from tservice.mux.interface import COMMAND_TIMEOUT, PaneSpec, ScreenGuard


class FakeMultiplexerTests(Contract, TestCase):
    """The suite on the fake."""

    pane_place = HERE

    def setUp(self) -> None:
        self.clock = Clock()
        self.host = FakeHost(self.clock)
        self.mux = self.multiplexer()

    def multiplexer(self) -> FakeMultiplexer:
        return FakeMultiplexer(self.clock, self.host)

    def line_shell(self) -> PaneSpec:
        return PaneSpec(session_id=ID, argv=("sh",), env={}, cwd="/", cols=80, rows=24, place=HERE)

    async def until(self, true: Callable[[], object], what: str = "it") -> None:
        self.clock.advance(1)
        self.assertTrue(true(), f"waited in vain for {what}")

    async def crash_process(self, pane: Any) -> None:
        self.host[ID].exit_program(None, "SIGKILL")

    async def crash_server(self, pane: Any) -> None:
        self.host[ID].lose_server()

    async def settle(self, pane: Any) -> None:
        """The fake ends at once."""

    async def rest(self, pane: Any) -> None:
        """The fake notices every byte."""

    async def restless(self, pane: Any) -> ScreenGuard:
        self.host[ID].is_never_quiet = True
        return await pane.guard_screen()  # type: ignore[no-any-return]

    async def output_printed(self, pane: Any) -> None:
        self.host[ID].emit_output(b".")

    async def stall(self, pane: Any) -> Callable[[], None]:
        self.host[ID].stop_answering()
        return self.host[ID].resume_answering

    async def emit_output(self, pane: Any, escaped: str) -> None:
        data = escaped.encode().decode("unicode_escape").replace("%%", "%")
        self.host[ID].emit_output(data.encode("latin-1"))

    async def all_late(self, work: list[Any]) -> list[Any]:
        begun = [Deferred.fromCoroutine(outcome_of(each)) for each in work]
        self.clock.advance(COMMAND_TIMEOUT)
        return [await each for each in begun]


class TmuxMultiplexerTests(TmuxContract):
    """The suite on the real tmux."""


del TmuxContract  # or it would be collected as a test of its own
