"""DELETE of shells with jobs in the background, again and again: what outlives it.

C{python -m tests.stress.endings --sessions 100 --seed 1}

For each shell that is installed: of every session the plain jobs have to end.  What was started by
C{nohup} or C{setsid}, or disowned where the shell can do that, has to go on and be named.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import define, frozen

from tests.integration.harness import DaemonHarness
from tests.stress.command import report
from tests.waiting import wait_until

AT_A_TIME = 4
SHELLS = ("bash", "zsh", "dash", "fish")
ENDS = ("sleep {n} &", "sh -c 'while :; do sleep {n}; done' &", "sleep {n} | cat &")
STAYS = ("nohup sleep {n} >/dev/null 2>&1 &", "setsid sleep {n} &")
DISOWNED = {"bash": "sleep {n} & disown", "zsh": "sleep {n} &!", "fish": "sleep {n} &; disown"}


@frozen(kw_only=True)
class SessionEndOutcome:
    """What became of one session.

    @ivar ran_on: jobs that should have ended; C{lost}: that should not have.
    @ivar untold: of those that went on, which the answer did not name.
    """

    ran_on: int
    lost: int
    untold: int


def find_sleepers(session_id: str, number: str) -> set[int]:
    """Those of a session that sleep for C{number} seconds.

    They are looked for to be ended, so a number alone is no proof: it stands in command lines of
    programs that are nobody's business here.  What a session started has its id.
    """
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            environ = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        ours = f"SERVICE_SESSION_ID={session_id}".encode() in environ
        if ours and any(re.search(rf"\b{number}\b".encode(), word) for word in words):
            found.add(int(folder.name))
    return found


@define
class EndingRound:
    """One session of one shell, with its jobs by the seconds that they would sleep."""

    daemon: DaemonHarness
    shell: str
    ends: list[str]
    stays: list[str]
    id: str = ""

    @classmethod
    def of(cls, daemon: DaemonHarness, shell: str, number: int) -> EndingRound:
        """One with numbers of its own."""
        first = 100_000 + 10 * number
        return cls(daemon, shell, [str(first + n) for n in range(3)], [str(first + 5)])

    def begin(self, dice: random.Random) -> None:
        """Start it, and a mix of jobs; returns once all run."""
        body = {"mode": "shell", "workingDir": str(self.daemon.home), "start": True}
        self.id = self.call("POST", "/api/sessions", body)["session"]["id"]
        kinds = [*STAYS, *filter(None, [DISOWNED.get(self.shell)])]
        lines = [line.format(n=n) for line, n in zip(ENDS, self.ends, strict=True)]
        lines += [dice.choice(kinds).format(n=self.stays[0])]
        dice.shuffle(lines)
        for line in lines:
            self.call("POST", f"/api/sessions/{self.id}/input", {"input": f"{line}\r"})
        wait_until("the jobs", lambda: all(self.running(n) for n in (*self.ends, *self.stays)))

    def end(self) -> SessionEndOutcome:
        """DELETE it, and look."""
        told = self.call("DELETE", f"/api/sessions/{self.id}")
        named = {each["pid"] for each in told.get("left", ())}
        # Whoever was told by a signal needs a moment; whoever was not is there for long.
        deadline = time.monotonic() + 1.0
        while any(map(self.running, self.ends)) and time.monotonic() < deadline:
            time.sleep(0.02)
        ran_on = [pid for number in self.ends for pid in self.running(number)]
        stays = self.running(self.stays[0])
        for pid in (*ran_on, *stays):
            os.kill(pid, signal.SIGKILL)
        return SessionEndOutcome(ran_on=len(ran_on), lost=not stays, untold=len(stays - named))

    def running(self, number: str) -> set[int]:
        """Its own processes that sleep for so long."""
        return find_sleepers(self.id, number)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """One request."""
        return self.daemon.request(method, path, body).data()


def run_rounds(shell: str, count: int, dice: random.Random) -> dict[str, int]:
    """How many of C{count} sessions of a shell went wrong, and how."""
    path = shutil.which(shell)
    assert path is not None
    daemon = DaemonHarness(SHELL=path)
    total: Counter[str] = Counter(sessions=count, ran_on=0, lost=0, untold=0)
    try:
        daemon.start()
        for first in range(0, count, AT_A_TIME):
            batch = [EndingRound.of(daemon, shell, first + n) for n in range(AT_A_TIME)]
            for each in batch:
                each.begin(dice)
            for each in batch:
                ended = each.end()
                total["ran_on"] += bool(ended.ran_on)
                total["lost"] += ended.lost
                total["untold"] += bool(ended.untold)
    finally:
        daemon.close()
    return dict(total)


def run(count: int, seed: int) -> dict[str, dict[str, int]]:
    """Every shell that is here."""
    dice = random.Random(seed)
    here = [shell for shell in SHELLS if shutil.which(shell)]
    measure: Callable[[str], dict[str, int]] = lambda shell: run_rounds(shell, count, dice)  # noqa: E731
    return {shell: measure(shell) for shell in here}


if __name__ == "__main__":
    sys.exit(report(__doc__, run, "sessions", 100))
