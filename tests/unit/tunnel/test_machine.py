"""Whatever people, the setting and the program do: one process at a time, and none at the end."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from tests.callers import GRANTED
from tests.examples import example_count
from tests.fakes.child_processes import FakeTransport
from tests.unit.tunnel.harness import TunnelHarness
from tservice.core.kernel.errors import ServiceError


class TunnelMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.stage = TunnelHarness(Path(self.folder.name))
        self.starts: list[Deferred[Any]] = []
        self.stops: list[Deferred[None]] = []

    def alive(self) -> list[FakeTransport]:
        return [one for one in self.stage.processes.spawned if one.pid is not None]

    @rule()
    def start(self) -> None:
        started = Deferred.fromCoroutine(self.stage.tunnel.start(GRANTED))

        def refused(failure: Failure) -> None:
            failure.trap(ServiceError)

        self.starts.append(started.addErrback(refused))

    @rule()
    def stop(self) -> None:
        self.stops.append(Deferred.fromCoroutine(self.stage.tunnel.stop()))

    @rule(wanted=st.booleans())
    def keep(self, wanted: bool) -> None:
        self.stage.tunnel.apply_setting(wanted)

    @rule(deaf=st.booleans())
    def hear(self, deaf: bool) -> None:
        self.stage.deaf = deaf

    @precondition(lambda self: self.alive())
    @rule()
    def come_up(self) -> None:
        self.stage.come_up()

    @precondition(lambda self: self.alive())
    @rule(status=st.integers(0, 255))
    def end(self, status: int) -> None:
        self.stage.process.finish(status)

    @rule(seconds=st.sampled_from([0.0, 0.5, 3.0, 30.0, 60.0]))
    def wait(self, seconds: float) -> None:
        self.stage.clock.pump([seconds, 0])

    @invariant()
    def one_at_a_time(self) -> None:
        alive = self.alive()
        assert len(alive) <= 1
        if self.stage.tunnel.url is not None:
            assert alive
        if alive:
            assert self.stage.tunnel.is_running

    def teardown(self) -> None:
        closed = self.stage.tunnel.stop_for_shutdown()
        self.stage.clock.pump([0, 3, 0])
        assert closed.called
        assert all(one.called for one in self.starts)
        assert all(one.called for one in self.stops)
        assert not self.stage.tunnel.is_running
        assert not self.alive()
        assert self.stage.clock.getDelayedCalls() == []
        self.folder.cleanup()


TunnelMachine.TestCase.settings = settings(
    max_examples=example_count(80), stateful_step_count=25, deadline=None
)
TunnelMachineTests = TunnelMachine.TestCase
