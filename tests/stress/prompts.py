"""Prompts to a real CLI, back to back and in parallel: none is submitted twice, none is lost.

What counts is the conversation as the CLI sends it to the model, by the stub's record of its
requests alone; with C{--stall} the CLI is stopped at random points for up to 2 s.

C{python -m tests.stress.prompts --cli claude --prompts 200 --clients 3 --seed 1 --stall}

A run mostly waits, so with C{--lanes} several sessions run side by side, each lane with a stub, a
home and a daemon of its own.  What is sent does not depend on it.  C{--minutes} ends a run early.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import re
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from tests.agents.cli_cache import CliUnavailable
from tests.stress.harness import MANNERS, StressHarness, serve_each_cli

CONVERSATION = 25
"""Prompts of one session: each request carries them all, so the next ones go to a new session."""
SIZES = (1, 3, 30, 30, 30, 200, 200, 900, 900, 4_000, 16_000, 65_000)
MIDDLE = 0.6
"""How many of the prompts are sent without waiting for the turn to end."""
TINY = 8
"""Characters below which a prompt has no room for its own name."""
LETTERS = "jklmnopqrstuvwxyz"
"""What tiny prompts are made of: no row of another one is, also in a text of several prompts."""
STALLS, BETWEEN = (0.05, 2.0), (0.1, 2.0)
BRIEF = 40
"""Characters that are told of either end of a text."""
SETTLED = 30.0
"""Seconds without a new request after which nothing more will come."""
LONGEST = 400.0
"""Seconds for which a turn that does not end is waited for: Gemini CLI may think for minutes."""
ATTEMPTS = 60
"""How often a prompt that was refused is sent again."""
AGAIN = 0.3
DOUBTS = 10
"""Seconds between two times, and how often one is asked for of which nobody is sure."""


@define
class PromptFigures:
    """What became of the prompts."""

    sent: int = 0
    delivered: int = 0
    unsure: int = 0
    refused: int = 0
    resent: int = 0
    unknown: list[str] = field(factory=list)
    doubled: list[str] = field(factory=list)
    lost: list[str] = field(factory=list)
    stuck: list[str] = field(factory=list)
    altered: list[str] = field(factory=list)
    surprises: list[str] = field(factory=list)
    stalls: int = 0
    seconds: list[float] = field(factory=list, repr=False)
    _lock: threading.Lock = field(factory=threading.Lock, repr=False)

    def count(self, name: str) -> None:
        """One more of C{name}; from any thread."""
        with self._lock:
            setattr(self, name, getattr(self, name) + 1)

    @property
    def clean(self) -> bool:
        """Whether the promise held."""
        return not (self.doubled or self.lost or self.stuck or self.altered or self.surprises)

    def summary(self) -> dict[str, object]:
        """The figures that are printed."""
        times = sorted(self.seconds) or [0.0]
        return {
            "sent": self.sent,
            "delivered": self.delivered,
            "not sure at first": self.unsure,
            "not sure in the end": len(self.unknown),
            "refused, then sent again": self.refused,
            "sent again without an answer": self.resent,
            "doubled": len(self.doubled),
            "lost": len(self.lost),
            "not said in a turn that does not end": len(self.stuck),
            "altered": len(self.altered),
            "stalls": self.stalls,
            "seconds to deliver, median and 99 of 100": (
                round(times[len(times) // 2], 2),
                round(times[len(times) * 99 // 100], 2),
            ),
            "surprises": self.surprises[:3],
            "examples": [
                *self.doubled,
                *self.lost,
                *self.stuck,
                *self.altered,
                *self.unknown,
            ][:6],
        }


@frozen(kw_only=True)
class SentPrompt:
    """One prompt of a client.

    @ivar waits: for the end of the turn.
    @ivar name: what tells it in a message; it stands at both ends of the text.
    """

    text: str
    waits: bool
    name: str


def make_prompt(dice: random.Random, name: str) -> SentPrompt:
    """A prompt of a random size, with its own name at both ends where there is room."""
    size = dice.choice(SIZES)
    waits = dice.random() >= MIDDLE
    if size < TINY:
        text = dice.choice(LETTERS) * size
        return SentPrompt(text=text, waits=waits, name=text)
    filling = "".join(dice.choice("abcdef gh\n") for _ in range(size)).strip()
    what = "SLOW: 1" if dice.random() < 0.2 else "SAY: ok"
    return SentPrompt(text=f"{what}\n<{name} {filling} {name}>", waits=waits, name=name)


class PromptLife:
    """One session: its clients' prompts, then the account."""

    def __init__(
        self, place: StressHarness, figures: PromptFigures, number: int, dice: random.Random
    ) -> None:
        self.place = place
        self.figures = figures
        self._dice = dice
        self._number = number
        self._first = place.world.stub.count()
        self.sent: list[SentPrompt] = []
        self.id = place.session()
        self.path = f"/api/sessions/{self.id}"

    def run(self, clients: int, count: int, *, stall: bool) -> None:
        """Send C{count} prompts from C{clients} clients, and account for each."""
        shares = [count // clients + (at < count % clients) for at in range(clients)]
        seeds = [self._dice.randrange(2**32) for _ in shares]
        try:
            with ExitStack() as held:
                if stall:
                    held.enter_context(stall_randomly(self, self._dice))
                pool = held.enter_context(ThreadPoolExecutor(clients))
                list(pool.map(self._client, range(clients), shares, seeds))
            self._account()
        finally:
            self.place.daemon.request("DELETE", self.path)

    def _client(self, client: int, count: int, seed: int) -> None:
        dice = random.Random(seed)
        for seq in range(1, count + 1):
            name = f"q{self._number}-{client}-{seq}"
            self._send(make_prompt(dice, name), f"client{client}", seq)

    def _send(self, prompt: SentPrompt, client: str, seq: int) -> None:
        """Send under its number, and again until it is known what became of it."""
        figures = self.figures
        figures.count("sent")
        body: dict[str, Any] = {"input": prompt.text + "\r", "clientId": client, "seq": seq}
        began, doubted = time.monotonic(), 0
        for _ in range(ATTEMPTS):
            status, told = self._ask(body)
            if status == 200:
                if doubted:
                    print(f"  sure of {prompt.name} after {doubted} times: {told}", flush=True)
                figures.count("delivered")
                figures.seconds.append(time.monotonic() - began)
                self.sent.append(prompt)
                break
            if "not sure" in told:
                if not doubted:
                    figures.count("unsure")
                    print(f"  UNSURE {prompt.name}: {told}", self.screen(), sep="\n", flush=True)
                doubted += 1
                if doubted == DOUBTS:
                    figures.unknown.append(f"{prompt.name}: {told}")
                    break
            elif status in (409, 422) and ("nothing was typed" in told or "send both" in told):
                figures.count("refused")
                print(f"  {prompt.name} was refused: {told}", flush=True)
            elif status:
                figures.surprises.append(f"{prompt.name}: {status} {told}")
                break
            else:
                figures.count("resent")
            time.sleep(AGAIN)
        if prompt.waits:
            waits = self.place.manner.waits
            self.place.call("GET", f"{self.path}/wait?until={waits}&timeout=15000")

    def _ask(self, body: dict[str, Any]) -> tuple[int, str]:
        """The status and the text of an answer; 0 without one."""
        try:
            answer = self.place.daemon.request("POST", f"{self.path}/input", body)
        except TimeoutError:
            return 0, ""
        return answer.status, answer.body.decode()

    # -- the account

    def _account(self) -> None:
        """Compare what was sent with the conversation, once nothing more comes."""
        deadline, size = time.monotonic() + SETTLED, -1
        longest = time.monotonic() + LONGEST
        while time.monotonic() < deadline:
            said = self._said()
            if all(more >= 0 for _, more in self._counted(said)) and not self._busy():
                time.sleep(2.0)
                said = self._said()
                break
            if (len(said) != size or self._busy()) and time.monotonic() < longest:
                size, deadline = len(said), time.monotonic() + SETTLED
            time.sleep(0.3)
        self._judge(said)

    def _busy(self) -> bool:
        """Whether a turn runs: what was queued in it is still to come."""
        record: dict[str, object] = self.place.call("GET", self.path)
        return record["status"] == "busy"

    def _said(self) -> list[str]:
        """What the user said, as the last request of this session's conversation has it."""
        return self.place.world.stub.conversation(self._first)

    def _counted(self, said: list[str]) -> Iterator[tuple[str, int]]:
        """What each prompt is called, and how often more than once it was said.

        Gemini CLI makes one text of what was queued in a turn, so rows tell, not texts.
        """
        whole = "\n".join(said)
        rows = Counter(map(str.strip, whole.split("\n")))
        tiny = Counter(each.text for each in self.sent if len(each.text) < TINY)
        for text, count in tiny.items():
            yield f"{text!r} sent {count} times", rows[text] - count
        for each in self.sent:
            if len(each.text) >= TINY:
                yield each.name, whole.count(f"<{each.name} ") - 1

    def _judge(self, said: list[str]) -> None:
        figures, whole = self.figures, _folded("".join(said))
        amiss = {name: more for name, more in self._counted(said) if more}
        missing = ("STUCK", figures.stuck) if self._busy() else ("LOST", figures.lost)
        for name, more in amiss.items():
            word, among = ("DOUBLED", figures.doubled) if more > 0 else missing
            among.append(name)
            print(f"  {word} {name} ({more:+})", flush=True)
        for each in self.sent:
            named = len(each.text) >= TINY and each.name not in amiss
            if named and _folded(each.text) not in whole:
                figures.altered.append(each.name)
        if amiss:
            print("\n".join(f"  said {_brief(text)}" for text in said), self.screen(), sep="\n")

    def screen(self) -> str:
        """What the terminal shows."""
        found = self.place.call("GET", f"{self.path}/terminal")["terminalBuffer"]
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", found)[-3000:]

    def pids(self) -> list[int]:
        """The CLI's process and its children."""
        with suppress(AssertionError):
            pid = self.place.call("GET", self.path)["pid"]
            if pid is not None:
                return [pid, *_children(pid)]
        return []


def _brief(text: str) -> str:
    return repr(text if len(text) < 2 * BRIEF else f"{text[:BRIEF]}...{text[-BRIEF:]}")


def _folded(text: str) -> str:
    return "".join(text.split())


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *_children(child)]
    return found


@contextmanager
def stall_randomly(life: PromptLife, dice: random.Random) -> Iterator[None]:
    """Stop the CLI and let it go on at random points."""
    over = threading.Event()
    seed = random.Random(dice.randrange(2**32))

    def stall() -> None:
        while not over.wait(seed.uniform(*BETWEEN)):
            pids = life.pids()
            for number in (signal.SIGSTOP, signal.SIGCONT):
                for pid in pids:
                    with suppress(ProcessLookupError):
                        os.kill(pid, number)
                if number == signal.SIGSTOP:
                    over.wait(seed.uniform(*STALLS))
            life.figures.count("stalls")

    thread = threading.Thread(target=stall)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def run(
    cli: str,
    prompts: int,
    clients: int,
    seed: int,
    *,
    stall: bool,
    lanes: int = 1,
    minutes: float = math.inf,
) -> PromptFigures:
    """Send so many prompts; the figures.

    @param lanes: how many sessions run side by side.
    @param minutes: after so many no further session begins.
    @raise CliUnavailable: it cannot be installed.
    """
    figures, numbers = PromptFigures(), range(-(-prompts // CONVERSATION))
    last = time.monotonic() + 60 * minutes

    def drive(lane: int, place: StressHarness) -> None:
        for number in numbers[lane::lanes]:
            if time.monotonic() > last:
                return
            count = min(CONVERSATION, prompts - number * CONVERSATION)
            dice = random.Random(seed + number * 1_000_003)
            PromptLife(place, figures, number, dice).run(clients, count, stall=stall)
            print(f"{cli} {figures.sent}: {figures.summary()}", flush=True)

    with serve_each_cli(cli, lanes) as places, ThreadPoolExecutor(lanes) as pool:
        list(pool.map(drive, range(lanes), places))
    return figures


def main() -> int:
    """Print the figures; 1 when the promise did not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cli", choices=MANNERS, default="claude")
    parser.add_argument("--prompts", type=int, default=200)
    parser.add_argument("--clients", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stall", action="store_true")
    parser.add_argument("--lanes", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=math.inf)
    given = parser.parse_args()
    how = {"stall": given.stall, "lanes": given.lanes, "minutes": given.minutes}
    try:
        found = run(given.cli, given.prompts, given.clients, given.seed, **how)
    except CliUnavailable as why:
        print(f"not run: {why}")
        return 0
    print(f"seed {given.seed}: {found.summary()}")
    return 0 if found.clean else 1


if __name__ == "__main__":
    sys.exit(main())
