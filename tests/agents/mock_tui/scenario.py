"""What a test may set about a played agent: one JSON file, named by C{MOCK_TUI_SCENARIO}."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

VARIABLE = "MOCK_TUI_SCENARIO"

DOUBLE = 0.8
"""Seconds in which a second Escape or C-c makes a double one."""


@frozen(kw_only=True)
class MockScenario:
    """Every field has a default, so an empty object plays the usual agent.

    @ivar speed: all of the agent's own delays are divided by this.
    @ivar start_delay: seconds from start to the first screen.
    @ivar lost_enter: seconds after the composer's first appearance in which
        Enter is lost and the text stays.
    @ivar deaf: name of a gate; until a test releases it, each Enter is lost.
    @ivar double: seconds in which a second Escape makes a double one.
    @ivar trust_layout: C{numbered} or C{reversed} (unnumbered, "No" first).
    @ivar trust: whether an unknown folder is asked about at all.
    @ivar servers: names of MCP servers to be approved at start.
    @ivar answers: prompt to directive (see L{stub.script}), for prompts that
        are no directives themselves.
    @ivar gates: folder in which a test makes a file to release C{HOLD: name}.
    @ivar record: file for the record of turns, as JSON.
    @ivar limits: plan usage for the status line; L{None} for a key's client.
    @ivar retry: seconds between two attempts after a 429 or 529, and how many.
    """

    speed: float = 1.0
    start_delay: float = 0.3
    lost_enter: float = 0.1
    deaf: str | None = None
    double: float = DOUBLE
    trust_layout: str = "numbered"
    trust: bool = True
    servers: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    answers: Mapping[str, str] = field(factory=dict)
    gates: str = "gates"
    record: str = "turns.json"
    limits: Mapping[str, float] | None = None
    retry: float = 2.0
    attempts: int = 10


def is_deaf(scenario: MockScenario, cwd: Path) -> bool:
    """Whether an Enter is lost now."""
    return scenario.deaf is not None and not (cwd / scenario.gates / scenario.deaf).exists()


def load(env: Mapping[str, str]) -> MockScenario:
    """The scenario of this environment.

    @raise TypeError: the file has a field that is not one of the above.
    """
    path = env.get(VARIABLE)
    return MockScenario(**json.loads(Path(path).read_text("utf-8"))) if path else MockScenario()
