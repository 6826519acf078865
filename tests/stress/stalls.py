"""Real agents that hang, and real agents that work long and honestly.

Every case is a session of its own, and all run at the same time against the stub model: a model
that never goes on, one that answers with errors, tools that never end, that fail again and again
or rewrite one file, a program at the terminal; and slow answers, long thought, builds with and
without output, and a test that is repaired. A hanging agent must be found with the right reason,
and none of the others. The thresholds are the least that the settings allow.

C{python -m tests.stress.stalls --cli claude --seed 1}
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from typing import Any

from attrs import define, field, frozen

from tests.agents.cli_cache import CliUnavailable
from tests.stress.conversation_clis import MANNERS, Call, ConversationManner
from tests.stress.harness import StressHarness, serve_cli
from tests.waiting import wait_until

LEAST_MINUTES = 3
LONG = 200
"""Seconds of honest work, which are more than the thresholds."""
WATCHED = 420.0
"""Seconds for which the sessions are looked at."""
FOREVER = "mkfifo $$.never; cat $$.never"
"""Some agents refuse to sleep."""


@frozen(kw_only=True)
class StallCase:
    """One turn.

    @ivar reasons: what may be found; nothing for honest work.
    @ivar write: returns the prompt, given the manner of the CLI and a name of its own.
    """

    kind: str
    reasons: tuple[str, ...]
    write: Callable[[ConversationManner, str], str]


@define
class StallLife:
    """One session.

    @ivar found: the reason of its first stall, and the seconds after which it was found.
    @ivar has_asked: it waits for a person, who is told; that is no stall.
    """

    case: StallCase
    path: str
    found: tuple[str, float] | None = None
    has_ended: bool = False
    has_asked: bool = False

    def is_right(self) -> bool:
        """Whether a stall was found as it is, and none where there was none."""
        if self.found is not None:
            return self.found[0] in self.case.reasons
        # What a CLI ends by itself, or asks about, does not hang.
        return not self.case.reasons or self.has_ended or self.has_asked


def _steps(name: str, *calls: Call) -> str:
    return f"{name}\nSTEPS: {json.dumps([list(each) for each in calls])}"


def _run_long(manner: ConversationManner, command: str) -> Call:
    """A command that the agent itself does not end after two minutes."""
    tool, given = manner.run(command)
    return tool, {**given, **manner.patience}


def _repair(manner: ConversationManner, name: str) -> str:
    """A failing test with an edit before each run."""
    calls: list[Call] = []
    for number in range(4):
        calls.append(manner.write(f"{name}-{number}.txt", f"{number}\n"))
        calls.append(manner.run(f"timeout 50 tail -f /dev/null; echo failed {name}; exit 1"))
    return _steps(name, *calls)


def _rewrite(manner: ConversationManner, name: str) -> str:
    write = manner.write(f"{name}.txt", "the same\n")
    return _steps(name, write, write, write, write, _run_long(manner, FOREVER))


def _terminal(manner: ConversationManner, name: str) -> str:
    """A program that is called like a pager, and reads from the terminal."""
    command = f"ln -sf /bin/cat {name}.d/less; {name}.d/less /dev/tty"
    return _steps(name, _run_long(manner, command))


def _run(command: str) -> Callable[[ConversationManner, str], str]:
    return lambda manner, name: _steps(name, _run_long(manner, command))


CASES = (
    StallCase(
        kind="a model that never goes on",
        reasons=("silent",),
        write=lambda manner, name: f"{name}\nHOLD: {name}",
    ),
    StallCase(kind="a tool that never ends", reasons=("silent",), write=_run(FOREVER)),
    StallCase(
        kind="a tool that fails again and again",
        reasons=("tool_fails",),
        write=lambda manner, name: _steps(
            name, *[manner.run("ls /nowhere")] * 5, _run_long(manner, FOREVER)
        ),
    ),
    StallCase(kind="a file that is rewritten", reasons=("rewrites_file",), write=_rewrite),
    StallCase(
        kind="a model that answers with errors",
        reasons=("api_error", "silent"),
        write=lambda manner, name: f"{name}\nFAIL: 529",
    ),
    StallCase(
        kind="a program at the terminal",
        reasons=("waits_for_terminal", "silent"),
        write=_terminal,
    ),
    StallCase(kind="a slow answer", reasons=(), write=lambda manner, name: f"{name}\nSLOW: {LONG}"),
    StallCase(kind="long thought", reasons=(), write=lambda manner, name: f"{name}\nTHINK: {LONG}"),
    StallCase(
        kind="a build with output",
        reasons=(),
        write=_run(f"for n in $(seq {LONG // 4}); do echo line $n; sleep 4; done"),
    ),
    StallCase(
        kind="a build without output",
        reasons=(),
        write=_run(f"timeout {LONG} sh -c 'while :; do nice true; sleep 0.2; done'; echo built"),
    ),
    StallCase(kind="a test that is repaired", reasons=(), write=_repair),
)


@define
class StallFigures:
    """What happened, by case."""

    lives: list[StallLife] = field(factory=list)

    def print_table(self) -> None:
        """One line for each case."""
        for life in self.lives:
            found = (
                "no stall" if life.found is None else f"{life.found[0]} at {life.found[1]:.0f} s"
            )
            ended = ", the turn ended" if life.has_ended else ", asks" if life.has_asked else ""
            verdict = "right" if life.is_right() else "WRONG"
            print(f"  {verdict}  {life.case.kind}: {found}{ended}", flush=True)


def _begin(place: StressHarness, number: int, case: StallCase, name: str) -> StallLife:
    path = f"/api/sessions/{place.session()}"
    greet = {"wait": place.manner.waits, "waitTimeout": 60_000}
    place.call("POST", f"{path}/input", input=f"SAY: hello {number}\r", **greet)
    (place.world.place.work / f"{name}.d").mkdir()
    prompt = case.write(MANNERS[place.cli], name)
    place.call("POST", f"{path}/input", input=f"{prompt}\r", wait="working", waitTimeout=60_000)
    return StallLife(case=case, path=path)


def _look(place: StressHarness, life: StallLife, begun: float) -> None:
    record: dict[str, Any] = place.call("GET", life.path)
    stall = record.get("stall")
    if stall is not None and life.found is None:
        life.found = str(stall["reason"]), time.monotonic() - begun
    life.has_ended = record["status"] == "idle"
    asking = place.call("GET", "/api/approvals")["approvals"]
    life.has_asked = any(item["sessionId"] == record["id"] for item in asking)


def run(cli: str, seed: int) -> StallFigures:
    """Let every case happen once.

    @raise CliUnavailable: the CLI cannot be installed.
    """
    figures = StallFigures()
    order = random.Random(seed).sample(CASES, len(CASES))
    with serve_cli(cli) as place:
        MANNERS[cli].allow(place.world.place.home)
        limits = {"silenceMinutes": LEAST_MINUTES, "toolMinutes": LEAST_MINUTES}
        place.call("PUT", "/api/settings", stalls=limits)
        for number, case in enumerate(order):
            figures.lives.append(_begin(place, number, case, f"case{seed}x{number}"))
        begun = time.monotonic()

        def is_over() -> bool:
            for life in figures.lives:
                _look(place, life, begun)
            return all(life.found or life.has_ended or life.has_asked for life in figures.lives)

        try:
            wait_until("the end of every case", is_over, patience=WATCHED, every=2.0)
        except AssertionError:
            print("not all cases ended")
        for life in figures.lives:
            place.daemon.request("DELETE", life.path)
    return figures


def main() -> int:
    """Print what was found; 1 when anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cli", choices=MANNERS, action="append")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    wrong = 0
    for cli in given.cli or list(MANNERS):
        try:
            figures = run(cli, given.seed)
        except CliUnavailable as why:
            print(f"not run: {why}")
            continue
        bad = [life for life in figures.lives if not life.is_right()]
        print(f"{cli}, seed {given.seed}: {len(figures.lives) - len(bad)} right, {len(bad)} wrong")
        figures.print_table()
        wrong += len(bad)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
