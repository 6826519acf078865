"""Dialogs of a real CLI, answered over the API at random moments: each as it was meant.

What counts is what the CLI did: the file that its command makes is there if, and only if, somebody
allowed it.  Some answers race with a person's key at the terminal, or name a dialog of before.

C{python -m tests.stress.approvals --cli codex --count 200 --seed 1}
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from pathlib import Path
from typing import Any

from attrs import define, field

from tests.agents.cli_cache import CliUnavailable
from tests.stress.harness import MANNERS, StressHarness, serve_cli
from tests.waiting import wait_until

PATIENCE = 300.0
"""Seconds for a CLI to come up on a busy machine: opencode took 54."""
PER_SESSION = 20
"""Dialogs of one session, whose conversation would else grow without end."""
DELAY = 2.5
"""Seconds before an answer at most."""
WAITS = 50_000
"""Milliseconds: an agent on a busy machine takes half a minute over its first turn."""
RACING, STALE = 0.15, 0.1
"""How many of the answers race with a person's, and how many are preceded by a late one."""
ASKERS = tuple(cli for cli in MANNERS if cli not in ("claude", "pi"))


@define
class ApprovalFigures:
    """What became of the answers."""

    asked: int = 0
    allowed: int = 0
    refused: int = 0
    raced: int = 0
    raced_lost: int = 0
    raced_first: int = 0
    late: int = 0
    unanswered: list[str] = field(factory=list)
    wrong: list[str] = field(factory=list)
    seconds: list[float] = field(factory=list, repr=False)

    def summary(self) -> dict[str, object]:
        """The figures that are printed."""
        times = sorted(self.seconds) or [0.0]
        return {
            "asked": self.asked,
            "allowed": self.allowed,
            "refused": self.refused,
            "beside a person's key": self.raced,
            "of these too late": self.raced_lost,
            "of these too late, and told as given": self.raced_first,
            "late ones refused": self.late,
            "not answered": len(self.unanswered),
            "wrong": len(self.wrong),
            "seconds to answer, median and most": (
                round(times[len(times) // 2], 2),
                round(times[-1], 2),
            ),
            "examples": [*self.wrong, *self.unanswered][:5],
        }


class AskingSession:
    """One session whose agent asks for one command after the other."""

    def __init__(
        self, place: StressHarness, figures: ApprovalFigures, dice: random.Random, number: int
    ) -> None:
        self._place = place
        self._figures = figures
        self._dice = dice
        self._number = number
        self.path = f"/api/sessions/{place.session()}"

    def run(self, count: int) -> None:
        """Be asked C{count} times."""
        try:
            for seq in range(1, count + 1):
                self._once(seq, f"f{self._number}-{seq}")
        finally:
            self._place.daemon.request("DELETE", self.path)

    def _once(self, seq: int, name: str) -> None:
        figures, dice = self._figures, self._dice
        self._prompt(f"RUN: touch {name}", seq)
        figures.asked += 1
        item = self._item(name)
        time.sleep(dice.uniform(0, DELAY))
        if dice.random() < STALE:
            self._late(item, name)
        allows = dice.random() < 0.5
        if dice.random() < RACING:
            self._race(item, name, allows)
        else:
            self._answer(item, name, allows)
        self._place.call("GET", f"{self.path}/wait?until=idle&timeout={WAITS}")

    def _prompt(self, text: str, seq: int) -> None:
        """Under its number, until it is known what became of it; then wait for the dialog."""
        body = {"input": f"{text}\r", "clientId": "asker", "seq": seq}

        answers: list[str] = []

        def known() -> bool:
            try:
                answer = self._place.daemon.request("POST", f"{self.path}/input", body)
            except TimeoutError:
                # It waits for the composer still; the number keeps it from being typed twice.
                answers.append("none yet")
                return False
            answers.append(f"{answer.status} {answer.body.decode()}")
            return answer.status == 200

        def seen() -> str:
            return "\n".join([*answers[:2], *answers[-2:], self._screen()])

        wait_until("what became of the prompt", known, patience=PATIENCE, every=1.0, told=seen)
        found = self._place.call("GET", f"{self.path}/wait?until=blocked&timeout={WAITS}")
        if found["wait"]["signal"] != "blocked":
            raise AssertionError(f"{text}: {found}\n{self._screen()}")

    def _screen(self) -> str:
        shown: str = self._place.call("GET", f"{self.path}/terminal")["terminalBuffer"]
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", shown)[-2000:]

    def _item(self, name: str) -> dict[str, Any]:
        def mine() -> dict[str, Any]:
            items = self._place.call("GET", "/api/approvals")["approvals"]
            return next((each for each in items if name in each["context"]), {})

        return wait_until(f"the item of {name}", mine)

    def _choice(self, item: dict[str, Any], allows: bool) -> dict[str, Any]:
        """One of the ways to say it."""
        if allows:
            ways: list[dict[str, Any]] = [{"action": "approve"}, {"action": "option", "option": 1}]
        else:
            last = {"action": "option", "option": item["options"][-1]["n"]}
            ways = [{"action": "deny"}, last]
        return {**self._dice.choice(ways), "expectFrame": item["frame"]}

    def _answer(self, item: dict[str, Any], name: str, allows: bool) -> None:
        began = time.monotonic()
        status = self._send(item, self._choice(item, allows))
        if status == 409:
            # The agent's channel told meanwhile what the dialog asks: it is read again.
            newer = self._item(name)
            if newer["id"] == item["id"] and newer["frame"] != item["frame"]:
                status = self._send(newer, self._choice(newer, allows))
        if status != 200:
            self._figures.unanswered.append(f"{name}: {status}")
            self._send(self._item(name), {"action": "deny"})
            return
        self._figures.seconds.append(time.monotonic() - began)
        self._judge(name, allows)

    def _race(self, item: dict[str, Any], name: str, allows: bool) -> None:
        """A person presses Escape at about the same moment."""
        self._figures.raced += 1
        time.sleep(self._dice.uniform(0, 0.3))
        self._place.daemon.request("POST", f"{self.path}/send-key", {"key": "Escape"})
        time.sleep(self._dice.uniform(0, 0.3))
        answered = self._send(item, self._choice(item, allows)) == 200
        self._place.call("GET", f"{self.path}/wait?until=idle&timeout={WAITS}")
        if self._made(name):
            self._judge(name, allows and answered)
        elif answered and allows:
            # Both keys were pressed, and the person's came first.
            self._figures.raced_first += 1
        else:
            self._figures.raced_lost += not answered
            self._judge(name, allows=False)

    def _late(self, item: dict[str, Any], name: str) -> None:
        """An answer to a dialog of before presses nothing."""
        status = self._send(item, {"action": "approve", "expectFrame": "0" * 32})
        self._figures.late += 1
        if status != 409 or self._made(name):
            self._figures.wrong.append(f"{name}: a late answer was given {status}")

    def _send(self, item: dict[str, Any], answer: dict[str, Any]) -> int:
        path = f"/api/approvals/{item['id']}/answer"
        return self._place.daemon.request("POST", path, answer).status

    def _judge(self, name: str, allows: bool) -> None:
        """Whether the agent did what was said, once its turn is over."""
        self._place.call("GET", f"{self.path}/wait?until=idle&timeout={WAITS}")
        if self._made(name) != allows:
            self._figures.wrong.append(f"{name}: {'refused' if allows else 'done'}")
        if allows:
            self._figures.allowed += 1
        else:
            self._figures.refused += 1

    def _made(self, name: str) -> bool:
        return Path(self._place.world.place.work, name).exists()


def run(cli: str, count: int, seed: int) -> ApprovalFigures:
    """Be asked so often; the figures.

    @raise CliUnavailable: it cannot be installed.
    """
    dice, figures = random.Random(seed), ApprovalFigures()
    with serve_cli(cli) as place:
        for number in range(-(-count // PER_SESSION)):
            some = min(PER_SESSION, count - number * PER_SESSION)
            AskingSession(place, figures, dice, number).run(some)
            print(f"{cli} {figures.summary()}", flush=True)
    return figures


def main() -> int:
    """Print the figures; 1 where an answer was none, or a wrong one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cli", choices=ASKERS, default="codex")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    try:
        found = run(given.cli, given.count, given.seed)
    except CliUnavailable as why:
        print(f"not run: {why}")
        return 0
    print(f"seed {given.seed}: {found.summary()}")
    return 1 if found.wrong or found.unanswered else 0


if __name__ == "__main__":
    sys.exit(main())
