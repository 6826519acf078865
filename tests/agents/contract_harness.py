"""One agent under test, real or played, behind the same few calls."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

from attrs import evolve

from tests.agents.cli_cache import CliUnavailable, install_cli, is_required
from tests.agents.harness import AgentEnvironmentHarness
from tests.agents.mock_tui.log import read_requests, read_turns
from tests.agents.mock_tui.scenario import MockScenario
from tests.agents.mocks import install_mock, scenario_env
from tests.agents.netns import loopback_only
from tests.agents.panes import AgentPane
from tests.agents.stub.record import ModelTurn, StubModelRequest


class AgentHarness(Protocol):
    """What the contract suites need of an agent."""

    world: AgentEnvironmentHarness

    def start(self, *arguments: str, trusted: bool = True, **options: Any) -> AgentPane:
        """Start it in a pane."""

    def turns(self) -> list[ModelTurn]:
        """The turns so far, by who answered them."""

    def requests(self) -> list[StubModelRequest]:
        """The requests so far."""

    def release(self, gate: str) -> None:
        """Let a held answer go on."""


class RealAgentHarness:
    """The CLI from the cache, against the stub model.

    @raise CliUnavailable: it cannot be installed.
    """

    def __init__(self, cli: str, stack: ExitStack) -> None:
        self._binary = str(install_cli(cli, os.environ).binary)
        isolated = stack.enter_context(loopback_only())
        self.world = stack.enter_context(AgentEnvironmentHarness(cli, isolated=isolated))
        self._stack = stack

    def start(self, *arguments: str, trusted: bool = True, **options: Any) -> AgentPane:
        """Start it in a pane."""
        pane = self.world.start(self._binary, *arguments, trusted=trusted, **options)
        return self._stack.enter_context(pane)

    def turns(self) -> list[ModelTurn]:
        """The stub model's record."""
        return self.world.stub.turns()

    def requests(self) -> list[StubModelRequest]:
        """The stub model's whole record."""
        return self.world.stub.requests()

    def release(self, gate: str) -> None:
        """Open the stub's gate."""
        self.world.stub.release(gate)


class PlayedAgentHarness:
    """The mock of a CLI."""

    def __init__(self, cli: str, stack: ExitStack, scenario: MockScenario | None = None) -> None:
        self.world = stack.enter_context(AgentEnvironmentHarness(cli, isolated=True, served=False))
        self._stack, self._cli = stack, cli
        work = self.world.place.work.parent
        self._record, self._gates = work / "turns.json", work / "gates"
        self._gates.mkdir()
        chosen = scenario or MockScenario()
        self._env = self._scenario(chosen)
        self._binary = str(install_mock(work / "bin", cli))

    def _scenario(self, chosen: MockScenario) -> Mapping[str, str]:
        placed = evolve(chosen, record=str(self._record), gates=str(self._gates))
        return scenario_env(self._record.with_name("scenario.json"), placed)

    def start(self, *arguments: str, trusted: bool = True, **options: Any) -> AgentPane:
        """Start it in a pane."""
        env = {**self._env, **options.pop("env", {})}
        if trusted and self._cli != "claude":
            Path(self.world.place.home, f".mock-{self._cli}-trusted").touch()
        pane = self.world.start(self._binary, *arguments, trusted=trusted, env=env, **options)
        return self._stack.enter_context(pane)

    def turns(self) -> list[ModelTurn]:
        """The mock's own record."""
        return read_turns(self._record)

    def requests(self) -> list[StubModelRequest]:
        """The mock's whole record."""
        return read_requests(self._record)

    def release(self, gate: str) -> None:
        """Make the gate's file."""
        (self._gates / gate).touch()


def skip_reason(why: CliUnavailable, cli: str) -> str | None:
    """The reason to skip with, or L{None} where this run must fail instead."""
    return None if is_required(cli, os.environ) else f"real {cli} not tested: {why}"
