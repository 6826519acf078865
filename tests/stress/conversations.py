"""Turns of the real CLIs, followed by their conversation: every item once, in order, none missing.

The turns say things, think, run commands that end well and badly, write and edit files, begin
sub-agents, fail, are interrupted and compacted; in between the agent is killed and resumed, and the
service is killed with SIGKILL.  A client holds the items as the page does, by the cursor of its
last answer alone, in steps of a random size.  In the end its items, those of a client that begins
anew and those of each sub-agent are compared with the agent's own files, read by another reader.

C{python -m tests.stress.conversations --turns 1000 --seed 1 [--cli claude] [--minutes 20]}
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from functools import partial
from typing import Any

from attrs import define, field

from tests.agents.cli_cache import CliUnavailable
from tests.integration.harness import wait_until_gone
from tests.stress.conversation_clis import MANNERS, find_transcripts
from tests.stress.conversation_files import Found, as_found, read_conversation
from tests.stress.harness import StressHarness, serve_cli
from tests.waiting import wait_until

CONVERSATION = 50
"""Turns of one session."""
WAIT = 90_000
"""Milliseconds for the end of a turn."""
STEPS = (1, 7, 50, 500)
POLL = (0.05, 0.8)
SETTLES, SETTLING = 10, 1.0
"""How often, and every how many seconds, what differs is read again."""
KINDS = {
    "say": 6,
    "think": 1,
    "run": 4,
    "bad run": 2,
    "write": 3,
    "edit": 2,
    "bad edit": 1,
    "several": 2,
    "side": 2,
    "fail": 1,
    "interrupt": 1,
    "compact": 1,
    "resume": 1,
    "kill": 1,
}
"""Kinds of turns, and how often each is among so many."""
UNTOLD = ("resume", "kill")
"""What is no turn of the agent."""


@define
class ConversationFigures:
    """What was compared."""

    turns: Counter[str] = field(factory=Counter)
    sessions: int = 0
    items: int = 0
    branches: int = 0
    branch_items: int = 0
    resets: int = 0
    wrong: list[str] = field(factory=list)

    def summary(self) -> dict[str, object]:
        """The figures that are printed."""
        told = sum(many for kind, many in self.turns.items() if kind not in UNTOLD)
        return {
            "turns": told,
            "kinds": dict(self.turns),
            "sessions": self.sessions,
            "items compared": self.items,
            "sub-agents": self.branches,
            "their items": self.branch_items,
            "begun anew": self.resets,
            "wrong": self.wrong,
        }


class ConversationClient:
    """Holds the items of a session's conversation by cursors, in a thread of its own."""

    def __init__(self, place: StressHarness, path: str, dice: random.Random) -> None:
        self._place, self._path, self._dice = place, f"{path}/conversation", dice
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow)
        self._cursor: str | None = None
        self.held: dict[str, dict[str, Any]] = {}
        self.resets = 0

    def start(self) -> None:
        """Follow from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Follow no more, and take what is still new."""
        self._over.set()
        self._thread.join()
        self.catch_up()

    def _follow(self) -> None:
        while not self._over.wait(self._dice.uniform(*POLL)):
            try:
                self.catch_up()
            except (OSError, AssertionError):
                continue  # the service is down

    def catch_up(self) -> None:
        """Take all changes since the last answer."""
        more = True
        while more:
            if self._cursor is None:
                page = self._ask()
                self.held = {each["id"]: each for each in self.read_back(page)}
                more = False
            else:
                page = self._ask(after=self._cursor, limit=self._dice.choice(STEPS))
                if page.get("reset"):
                    self.resets += 1
                    self._cursor = None
                    continue
                self.held |= {each["id"]: each for each in page["items"]}
                more = page["hasMore"]
            self._cursor = page["cursor"]

    def read_back(self, page: dict[str, Any], **more: str) -> list[dict[str, Any]]:
        """All items, from the newest page back."""
        items = list(page["items"])
        while page["hasMore"]:
            page = self._ask(before=page["before"], limit=self._dice.choice(STEPS[1:]), **more)
            items = [*page["items"], *items]
        return items

    def read_anew(self, **more: str) -> list[dict[str, Any]]:
        """All items, as somebody sees them who comes now."""
        return self.read_back(self._ask(limit=self._dice.choice(STEPS[1:]), **more), **more)

    def _ask(self, **query: object) -> dict[str, Any]:
        asked = "&".join(f"{name}={value}" for name, value in query.items())
        found: dict[str, Any] = self._place.call("GET", f"{self._path}?{asked}")
        return found


class ConversationLife:
    """One session: its turns, then the comparison."""

    def __init__(
        self, place: StressHarness, figures: ConversationFigures, dice: random.Random, number: int
    ) -> None:
        self._place, self._figures, self._dice = place, figures, dice
        self._manner = MANNERS[place.cli]
        self._number = number
        self._said: list[str] = []
        self._pile: list[str] = []
        self._sides = 0
        self._conversation = ""
        self._id = place.session()
        self._path = f"/api/sessions/{self._id}"
        self._client = ConversationClient(place, self._path, random.Random(dice.random()))

    def run(self, turns: int, until: float) -> None:
        """So many turns, and the comparison."""
        self._figures.sessions += 1
        try:
            self._tell("say", f"SAY: begin {self._number}")
            self._client.start()
            try:
                for number in range(1, turns):
                    if time.monotonic() > until:
                        break
                    self._take(number)
                self._rest()
            finally:
                self._client.stop()
            self._compare()
        finally:
            self._place.daemon.request("DELETE", self._path)

    # -- turns

    def _take(self, number: int) -> None:
        kind = self._draw()
        name = f"{self._number}-{number}"
        if kind == "compact":
            self._figures.turns[kind] += 1
            self._send(self._manner.compact)
            self._rest()
        elif kind == "kill":
            self._kill(name)
        elif kind == "resume":
            self._resume()
        elif kind == "interrupt":
            self._interrupt(name)
        else:
            self._tell(*self._make(kind, name))

    def _draw(self) -> str:
        """The next kind of a pile in which each is as often as it should be."""
        if not self._pile:
            self._pile = [kind for kind, many in KINDS.items() for _ in range(many)]
            self._dice.shuffle(self._pile)
        return self._pile.pop()

    def _make(self, kind: str, name: str) -> tuple[str, str]:
        """The kind that the CLI has instead, and its prompt."""
        manner = self._manner
        made = str(self._place.world.place.work / f"{name}.txt")
        if kind == "fail" and manner.fails is not None:
            return kind, f"{name}\nFAIL: {manner.fails}"
        if kind == "think":
            return kind, f"{name}\nTHINK: 1"
        if kind == "side" and manner.side is not None:
            self._sides += 1
            below = self._dice.choice(("SAY: below", "RUN: echo below", "RUN: exit 4;"))
            return kind, _steps(name, manner.side(f"{below} {name}"))
        calls = {
            "run": [manner.run(f"echo out {name}")],
            "bad run": [manner.run(f"echo bad {name}; exit 3")],
            "write": [manner.write(made, f"one {name}")],
            "edit": [manner.write(made, f"one {name}"), manner.edit(made, f"one {name}", "two")],
            "bad edit": [manner.edit(made, "nowhere", "two")],
            "several": [
                manner.run("seq 300"),
                manner.write(made, "x"),
                manner.run("false"),
                manner.run(f"cat {made}"),
            ],
        }.get(kind)
        if calls is not None:
            return kind, _steps(name, *calls)
        letters = "".join(self._dice.choice("ab cd\u6f22 **x**`y`") for _ in range(60)).strip()
        return "say", f"SAY: {name} {letters}."

    def _tell(self, kind: str, text: str) -> None:
        self._figures.turns[kind] += 1
        self._send(text)
        self._said.append(text)
        self._rest()

    def _send(self, text: str) -> None:
        body = {"input": f"{text}\r", "wait": self._place.manner.waits, "waitTimeout": WAIT}
        self._place.call("POST", f"{self._path}/input", **body)

    def _rest(self) -> None:
        wait_until("the end of the turn", lambda: self._status() == "idle", told=self._screen)

    def _status(self) -> str:
        return str(self._place.call("GET", self._path)["status"])

    def _interrupt(self, name: str) -> None:
        """A command that runs until somebody has had enough of it."""
        self._figures.turns["interrupt"] += 1
        begun = self._place.world.place.work / f"{name}.begun"
        text = _steps(name, self._manner.run(f"touch {begun}; sleep 300"))
        self._place.call("POST", f"{self._path}/input", input=f"{text}\r")
        self._said.append(text)
        wait_until("the command", begun.exists, told=self._screen)
        wait_until("the work", lambda: self._status() == "busy", told=self._screen)
        first, *more = self._manner.interrupt
        self._place.call("POST", f"{self._path}/send-key", key=first)
        for key in more:
            # Two keys in one read would be another key.
            wait_until("the question", lambda: "again" in self._screen(), told=self._screen)
            self._place.call("POST", f"{self._path}/send-key", key=key)
        self._rest()

    def _kill(self, name: str) -> None:
        """Kill the service in the middle of a turn, which goes on meanwhile."""
        self._figures.turns["kill"] += 1
        gate = f"g{name}"
        text = f"{name}\nHOLD: {gate}"
        self._place.call("POST", f"{self._path}/input", input=f"{text}\r")
        self._said.append(text)
        self._figures.turns["held"] += 1
        self._place.daemon.kill()
        try:
            self._place.world.stub.release(gate)
        finally:
            self._place.daemon.start()
        self._rest()

    def _resume(self) -> None:
        """End the agent with SIGKILL, and start it with the same conversation."""
        self._figures.turns["resume"] += 1
        pid = self._place.call("GET", self._path)["pid"]
        os.kill(pid, signal.SIGKILL)
        wait_until_gone(pid)
        self._place.call("GET", f"{self._path}/wait?until=exit&timeout=60000")
        self._place.call("POST", f"{self._path}/start")
        self._rest()

    def _screen(self) -> str:
        found = self._place.call("GET", f"{self._path}/terminal")["terminalBuffer"]
        return str(found)[-4000:]

    # -- the comparison

    def _read(self) -> tuple[list[Found], list[dict[str, Any]], list[dict[str, Any]]]:
        """What the file has, what a new client is shown, and what the one that followed holds."""
        path = f"{self._path}/conversation?limit=1"
        look = partial(self._place.call, "GET", path)
        source = wait_until("its conversation", lambda: look()["source"], told=self._screen)
        self._conversation = str(source["id"])
        files = find_transcripts(self._place)
        wanted = read_conversation(self._place.cli, files, self._conversation)
        anew = self._client.read_anew()
        self._client.catch_up()
        held = sorted(self._client.held.values(), key=lambda each: int(each["order"]))
        return wanted, anew, held

    def _compare(self) -> None:
        figures = self._figures
        # The last lines are written behind the end of the turn.
        for _ in range(SETTLES):
            wanted, anew, held = self._read()
            if wanted == as_found(anew) and anew == held:
                break
            time.sleep(SETTLING)
        conversation = self._conversation
        figures.resets += self._client.resets
        self._judge("the main agent", wanted, as_found(anew))
        self._judge("the client that followed", anew, held)
        if len({each["id"] for each in anew}) != len(anew):
            figures.wrong.append(f"{conversation}: ids that two items have")
        figures.items += len(wanted)
        self._account(wanted)
        sides = [each["tool"]["branch"] for each in anew if "branch" in each.get("tool", {})]
        if len(sides) != self._sides:
            figures.wrong.append(f"{conversation}: {self._sides} sub-agents, {len(sides)} shown")
        for branch in sides:
            below = read_conversation(
                self._place.cli, find_transcripts(self._place), branch, branch=True
            )
            self._judge(branch, below, as_found(self._client.read_anew(branch=branch)))
            figures.branches += 1
            figures.branch_items += len(below)

    def _account(self, wanted: list[Found]) -> None:
        """Each prompt that was sent is in the file, once."""
        prompts = Counter(text.strip() for kind, text in wanted if kind == "prompt")
        for text in self._said:
            if prompts[text.strip()] != 1:
                self._figures.wrong.append(f"{prompts[text.strip()]} times {text[:60]!r}")

    def _judge(self, whose: str, wanted: list[Any], shown: list[Any]) -> None:
        if wanted == shown:
            return
        at = next(
            (n for n, (one, other) in enumerate(zip(wanted, shown, strict=False)) if one != other),
            min(len(wanted), len(shown)),
        )
        found = f"{whose}: {len(wanted)} items, {len(shown)} shown; from {at}: "
        self._figures.wrong.append(f"{found}{wanted[at : at + 3]} {shown[at : at + 3]}"[:1500])


def _steps(name: str, *calls: tuple[str, dict[str, Any]]) -> str:
    return f"{name}\nSTEPS: {json.dumps([list(each) for each in calls])}"


def run(
    cli: str, turns: int, seed: int, minutes: float = math.inf, version: str | None = None
) -> ConversationFigures:
    """Take so many turns; the figures.

    @param minutes: after so many no further turn begins.
    @raise CliUnavailable: it cannot be installed.
    """
    figures, until = ConversationFigures(), time.monotonic() + 60 * minutes
    with serve_cli(cli, version) as place:
        MANNERS[cli].allow(place.world.place.home)
        for number, first in enumerate(range(0, turns, CONVERSATION)):
            if time.monotonic() > until:
                break
            dice = random.Random(f"{seed} {cli} {number}")
            many = min(CONVERSATION, turns - first)
            ConversationLife(place, figures, dice, number).run(many, until)
            print(f"{cli}: {figures.summary()}", flush=True)
    return figures


def main() -> int:
    """Print the figures; 1 when anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cli", choices=MANNERS, action="append")
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--version", help="of the CLI; default: the one that the tests know")
    given = parser.parse_args()
    clis, wrong = given.cli or list(MANNERS), 0
    for cli in clis:
        try:
            found = run(
                cli,
                -(-given.turns // len(clis)),
                given.seed,
                given.minutes / len(clis),
                given.version,
            )
        except CliUnavailable as why:
            print(f"not run: {why}")
            continue
        print(f"{cli}, seed {given.seed}: {found.summary()}", flush=True)
        wrong += len(found.wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
