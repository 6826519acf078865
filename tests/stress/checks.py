"""Turns of an agent with checks that fail, hang, fork, flood and grab for a terminal.

Each turn has a plan: the outcomes of its check, one after the other. 40 of 100 begin red. A red
outcome is sent back to the agent up to three times in a row. What counts is the agent's own record
of its prompts (of a real one: what the stub model was asked), the receiver of notices, and the
executions that the check writes down by itself. With C{--kills} the daemon is killed at random
moments of so many turns in 100, and started again. With C{--cli} the agents are real ones.

C{python -m tests.stress.checks --turns 400 --seed 1 --kills 10 --cli claude}
"""

from __future__ import annotations

import argparse
import json
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

from attrs import asdict, define, field, frozen

from tests.agents.mock_tui.log import read_turns
from tests.agents.mock_tui.scenario import MockScenario
from tests.held_port import HeldPort
from tests.integration.agents.harness import SCENARIO, played_daemon
from tests.integration.harness import DaemonHarness
from tests.stress.conversation_clis import MANNERS
from tests.stress.harness import StressHarness, serve_cli
from tests.waiting import wait_until

ATTEMPTS = 3
LIMIT = 5
"""Seconds that the check may take."""
SHARE_RED = 0.4
BAD = {
    "fail": "exit 7",
    "hang": "trap '' TERM HUP INT; while :; do sleep 1; done",
    "fork": "for i in 1 2 3 4 5; do setsid sh -c 'setsid sleep 600 & sleep 600' & done; exit 7",
    "flood": 'yes "$(cat "$CONTROL/repair")"',
    "tty": "(exec < /dev/tty) 2> /dev/null && echo GRABBED; read -r line && echo GRABBED; exit 7",
}
"""What a red check does; all of it ends red."""
UNCHANGED = "the agent changed nothing"
"""Reason of a run that was sent to the agent in vain."""
QUIET = 3.2
"""Seconds between two turns: an equal notice of a session within 3 s is not sent again."""
HELD = 120.0
"""Seconds that anything of one turn may take."""
CHECK = r"""
cd "$CONTROL" || exit 1
number=$(wc -l < executions)
echo begun >> executions
outcome=$(sed -n "$((number + 1))p" plan)
echo "mark-$number-end outcome ${outcome:-green}"
cat "$CONTROL/repair"
case "${outcome:-green}" in
%s
*) exit 0 ;;
esac
"""


class CheckedAgent(Protocol):
    """An agent in a daemon, and what it was told."""

    @property
    def daemon(self) -> DaemonHarness: ...

    @property
    def work(self) -> Path:
        """Its folder."""

    def session_fields(self) -> dict[str, Any]:
        """What a session of it is made with."""

    def write_prompt(self, words: str) -> str:
        """A prompt in which the agent changes a file."""

    def read_prompts(self) -> list[str]:
        """What it was told."""


@frozen
class PlayedAgent:
    """A played Claude Code, whose own record is a file of its folder."""

    daemon: DaemonHarness
    work: Path

    def session_fields(self) -> dict[str, Any]:
        return {"mode": "primary"}

    def write_prompt(self, words: str) -> str:
        return f"SAY: {words}"

    def read_prompts(self) -> list[str]:
        file = self.work / "turns.json"
        return [turn.prompt for turn in read_turns(file)] if file.exists() else []


@frozen
class RealAgent:
    """A CLI, whose model is the stub: what a red check prints tells it what to do."""

    place: StressHarness

    @property
    def daemon(self) -> DaemonHarness:
        return self.place.daemon

    @property
    def work(self) -> Path:
        return self.place.world.place.work

    def session_fields(self) -> dict[str, Any]:
        manner = self.place.manner
        return {"mode": manner.mode, "envOverrides": self.place.env, "params": {**manner.params}}

    def write_prompt(self, words: str) -> str:
        name, given = MANNERS[self.place.cli].run(f"date '+{words} %N' | tee -a touched")
        return f"TOOL: {name} {json.dumps(given)}"

    def read_prompts(self) -> list[str]:
        return [turn.prompt for turn in self.place.world.stub.turns()]


@contextmanager
def serve_played() -> Iterator[PlayedAgent]:
    """A played agent in a folder of its own."""
    daemon = played_daemon()
    try:
        work = daemon.folder / "work" / "site"
        (work / "gates").mkdir(parents=True)
        (work / SCENARIO).write_text(json.dumps(asdict(MockScenario(speed=20.0))))
        yield PlayedAgent(daemon, work)
    finally:
        daemon.close()


@contextmanager
def serve_real(cli: str) -> Iterator[RealAgent]:
    """A real agent that may use every tool.

    @raise CliUnavailable: it cannot be installed.
    """
    with serve_cli(cli) as place:
        MANNERS[cli].allow(place.world.place.home)
        place.daemon.stop()
        yield RealAgent(place)


class NoticeInbox:
    """Receiver of notices: each event, with the number of executions so far."""

    def __init__(self) -> None:
        self.events: list[str] = []
        inbox = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                inbox.events.append(body["event"])
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self.server.serve_forever)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/hook"

    def close(self) -> None:
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()


@define
class CheckFigures:
    """What became of the turns."""

    turns: int = 0
    red_at_first: int = 0
    executions: int = 0
    sent_back: int = 0
    given_up: int = 0
    kills: int = 0
    interrupted: int = 0
    outcomes: Counter[str] = field(factory=Counter)
    doubled_prompts: int = 0
    early_notices: int = 0
    missing_notices: int = 0
    silent_repeats: int = 0
    left_processes: int = 0
    grabbed: int = 0
    surprises: list[str] = field(factory=list)
    seconds: float = 0.0

    @property
    def clean(self) -> bool:
        """Whether the promise held."""
        bad = (
            self.doubled_prompts, self.early_notices, self.missing_notices, self.silent_repeats,
            self.left_processes, self.grabbed, len(self.surprises),
        )  # fmt: skip
        return not any(bad)


class CheckStress:
    """An agent, and the plan of its check."""

    def __init__(self, agent: CheckedAgent, dice: random.Random) -> None:
        self.agent, self.dice, self.figures = agent, dice, CheckFigures()
        self.daemon = agent.daemon
        self.inbox = NoticeInbox()
        # The hooks of a running agent know one address.
        self.port = HeldPort()
        self.start()
        self.control = self.daemon.folder / "control"
        self.control.mkdir()
        for name in ("executions", "plan"):
            (self.control / name).write_text("")
        (self.control / "repair").write_text(agent.write_prompt("repaired") + "\n")
        arms = "\n".join(f"{name}) {script} ;;" for name, script in BAD.items())
        (self.control / "check.sh").write_text(CHECK % arms)
        self.call("PUT", "/api/settings", primaryMode="normal")
        self.call("PUT", "/api/webhook", enabled=True, kind="generic", scope="all",
                  url=self.inbox.url)  # fmt: skip
        self.call("POST", "/api/cases/link", name="site", path=str(agent.work))
        command = f"CONTROL={self.control} MARK={self.mark} sh {self.control}/check.sh"
        check = {"name": "tests", "command": command, "timeoutSeconds": LIMIT}
        self.call("PUT", "/api/cases/site/checks", checks=[check], onFailure="send_back",
                  maxAttempts=ATTEMPTS)  # fmt: skip
        fields = agent.session_fields()
        made = self.call("POST", "/api/sessions", caseName="site", start=True, **fields)
        self.id: str = made["session"]["id"]

    @property
    def mark(self) -> str:
        return f"checks-{os.getpid()}"

    def start(self) -> None:
        """Start the daemon."""
        self.daemon.start(listen=[self.port.endpoint])

    def close(self) -> None:
        """End what this has begun."""
        self.port.close()
        self.inbox.close()

    def call(self, method: str, where: str, **body: Any) -> Any:
        return self.daemon.request(method, where, body or None, patience=HELD).data()

    def prompts(self) -> list[str]:
        """What the agent was told."""
        return self.agent.read_prompts()

    def count_executions(self) -> int:
        return len((self.control / "executions").read_text().splitlines())

    def runs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.call("GET", f"/api/sessions/{self.id}/checks")["runs"]
        return found

    def play_turn(self, number: int, *, kills: bool) -> None:
        """One prompt, until its checks are settled."""
        plan = self.make_plan()
        executed, before, rung = self.count_executions(), self.prompts(), len(self.inbox.events)
        padding = ["green"] * executed
        (self.control / "plan").write_text("\n".join([*padding, *plan, ""]))
        self.call("POST", f"/api/sessions/{self.id}/input",
                  input=f"{self.agent.write_prompt(f'turn {number}')}\r")  # fmt: skip
        if kills:
            self.kill_and_start(executed)
        wait_until("the end of the turn", lambda: self.is_settled(before), patience=HELD,
                   told=self.describe_state)  # fmt: skip
        self.judge(plan, executed, before, rung, kills=kills)

    def make_plan(self) -> list[str]:
        if self.dice.random() >= SHARE_RED:
            return []
        self.figures.red_at_first += 1
        reds = self.dice.choice((1, 1, 1, 2, 3, ATTEMPTS + 1))
        return [self.dice.choice([*BAD]) for _ in range(reds)]

    def kill_and_start(self, executed: int) -> None:
        if self.dice.random() < 0.7:
            wait_until("a check", lambda: self.count_executions() > executed, patience=HELD)
        time.sleep(self.dice.uniform(0, 1.5))
        self.daemon.kill()
        self.figures.kills += 1
        self.start()

    def is_settled(self, before: list[str]) -> bool:
        """Whether the agent and its checks are at rest with a result of this turn."""
        record = self.call("GET", f"/api/sessions/{self.id}")
        if record["status"] != "idle" or len(self.prompts()) <= len(before):
            return False
        found = self.call("GET", f"/api/sessions/{self.id}/checks")
        run = found["runs"][0] if found["runs"] else {}
        last = (run.get("state"), run.get("followUp"), run.get("finishedAt"))
        is_new = run.get("id") != getattr(self, "last_run", None)
        is_final = run.get("followUp") in ("none", "notified") and last[0] != "cancelled"
        return is_new and is_final and not found["running"]

    def describe_state(self) -> object:
        """What is known, for whoever reads of a failure."""
        record = self.call("GET", f"/api/sessions/{self.id}")
        found = self.call("GET", f"/api/sessions/{self.id}/checks")
        runs = [{**run, "results": len(run["results"])} for run in found["runs"][:3]]
        return (
            record["status"],
            record.get("statusReason"),
            found["running"],
            runs,
            self.prompts()[-2:],
            self.call("GET", f"/api/sessions/{self.id}/terminal")["terminalBuffer"][-3000:],
        )

    def judge(
        self, plan: list[str], executed: int, before: list[str], rung: int, *, kills: bool
    ) -> None:
        figures, runs = self.figures, self.runs()
        done = self.count_executions() - executed
        new = []
        for run in runs:
            if run["id"] == getattr(self, "last_run", None):
                break
            new.append(run)
        self.last_run = runs[0]["id"]
        figures.turns += 1
        figures.executions += done
        figures.outcomes.update(run["state"] for run in new)
        figures.interrupted += sum(run["state"] == "interrupted" for run in new)
        figures.silent_repeats += done > len(new)
        asked = [text for text in self.prompts()[len(before) :] if "failed after your" in text]
        figures.sent_back += len(asked)
        # Two runs that fail alike send the same text, so the runs are counted.
        wanted = [run for run in new if run["followUp"] == "sent" or run.get("reason") == UNCHANGED]
        figures.doubled_prompts += max(0, len(asked) - len(wanted))
        gave_up = runs[0]["followUp"] == "notified"
        figures.given_up += gave_up
        event = "checks" if gave_up else "stop"
        try:
            wait_until("the notice", lambda: event in self.inbox.events[rung:], patience=20)
        except AssertionError:
            if not kills:
                figures.missing_notices += 1
        heard = self.inbox.events[rung:]
        others = [each for each in heard if each in ("stop", "checks")]
        if not kills and others != [event]:
            figures.early_notices += 1
            figures.surprises.append(f"{plan}: {heard}")
        output = " ".join(result["output"] for run in new for result in run["results"])
        figures.grabbed += "GRABBED" in output
        figures.left_processes += self.count_left()
        if not kills and [run["state"] for run in new] != self.expect_states(plan):
            seen = [(run["state"], run["followUp"], run.get("reason")) for run in new]
            figures.surprises.append(f"{plan}: {seen}")

    def expect_states(self, plan: list[str]) -> list[str]:
        """The states of the runs, newest first."""
        red = len(plan)
        if red > ATTEMPTS:
            return ["red"] * (ATTEMPTS + 1)
        return ["green", *["red"] * red]

    def count_left(self) -> int:
        mark, left = self.mark.encode(), 0
        for entry in Path("/proc").iterdir():
            try:
                left += entry.name.isdigit() and mark in (entry / "environ").read_bytes()
            except OSError:
                continue
        return left


def run(turns: int, seed: int, kills: int, cli: str | None = None) -> CheckFigures:
    """Play so many turns."""
    dice = random.Random(seed)
    with serve_played() if cli is None else serve_real(cli) as agent:
        stress = CheckStress(agent, dice)
        begun = time.monotonic()
        try:
            for number in range(turns):
                stress.play_turn(number, kills=dice.random() * 100 < kills)
                time.sleep(QUIET)
        finally:
            stress.figures.seconds = round(time.monotonic() - begun, 1)
            stress.close()
    return stress.figures


def main() -> int:
    """Run by the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=0, help="of 100 turns")
    parser.add_argument("--cli", choices=MANNERS, help="a real agent instead of the played one")
    given = parser.parse_args()
    figures = run(given.turns, given.seed, given.kills, given.cli)
    print(f"{given.cli or 'played'}, seed {given.seed}: {figures}")
    return 0 if figures.clean else 1


if __name__ == "__main__":
    raise SystemExit(main())
