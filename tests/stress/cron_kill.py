"""Kill -9 at random points of firing: each due job has one run, and its prompt is typed once.

C{python -m tests.stress.cron_kill --kills 500 --seed 1}

Before each kill a job is made that falls due about then, so that kills meet jobs that are waiting,
firing, starting their session, and typing; most meet several of them at once.  A run may fail, but
not without saying why; none may be missing, none doubled.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from attrs import define, field

from tests.integration.harness import DaemonAnswer, DaemonHarness
from tests.stress.command import report

BATCH = 10
"""Kills after which everything is let come to its end, and looked at."""
SLOWEST_KILL = 1.2
"""Seconds after a start within which the next kill comes."""
LATEST = 0.9
"""Seconds after which a job is due at the latest."""
PATIENCE = 60.0


@define
class CronKillTrial:
    """One daemon and its jobs.

    @ivar heard: what the shells were given to do, in order.
    @ivar found: how many runs ended how.
    """

    daemon: DaemonHarness
    dice: random.Random
    work: Path
    pending: dict[str, str] = field(factory=dict)
    found: Counter[str] = field(factory=Counter)
    reasons: Counter[str] = field(factory=Counter)
    unended: Counter[str] = field(factory=Counter)
    made: int = 0

    @property
    def heard(self) -> list[str]:
        path = self.work / "heard"
        return path.read_text().split() if path.exists() else []

    def make(self) -> None:
        """A job that is due soon."""
        self.made += 1
        word = f"w{self.made}"
        answer = self._ask(word)
        while answer.status == 400 and b"runAt" in answer.body:
            # The machine was so slow that the moment is past.
            answer = self._ask(word)
        self.pending[answer.data()["job"]["id"]] = word

    def _ask(self, word: str) -> DaemonAnswer:
        body = {
            "name": word,
            "agentType": "shell",
            "workingDir": str(self.work),
            "promptMode": "inline_text",
            "promptText": f"echo {word} >> {self.work}/heard",
            "inputMode": self.dice.choice(("paste", "typed")),
            "scheduleType": "once",
            "runAt": int((time.time() + self.dice.uniform(0.05, LATEST)) * 1000),
            "enabled": True,
            "concurrencyPolicy": "warn_only",
        }
        return self.daemon.request("POST", "/api/cron/jobs", body)

    def kill(self) -> None:
        """End the daemon at a random moment, and start it again."""
        time.sleep(self.dice.uniform(0, SLOWEST_KILL))
        self.daemon.kill()
        self.daemon.start()

    def settle(self) -> None:
        """Let every run come to its end, compare, and clean up.

        @raise AssertionError: a fire was lost, doubled, or given up without a word.
        """
        for job_id, word in self.pending.items():
            self._check(self._ended(job_id), word)
            self.daemon.request("DELETE", f"/api/cron/jobs/{job_id}").data()
        self.pending.clear()
        # A tmux server that outlives this is no matter of jobs; the figures tell of it.
        answer = self.daemon.request("DELETE", "/api/sessions")
        if answer.status != 200:
            self.unended[answer.json()["error"].partition(":")[0]] += 1

    def _ended(self, job_id: str) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            runs = self.daemon.request("GET", f"/api/cron/jobs/{job_id}/runs").data()
            if len(runs) > 1:
                raise AssertionError(f"fired twice: {runs}")
            if runs and (runs[0]["finishedAt"] is not None or "errorMessage" in runs[0]):
                found: dict[str, Any] = runs[0]
                return found
            time.sleep(0.05)
        raise AssertionError(f"no end: {runs}\n{self.daemon.log}")

    def _check(self, run: dict[str, Any], word: str) -> None:
        self.found[run["status"]] += 1
        sent = run["status"] == "prompt_sent"
        if not sent:
            self.reasons[run["errorMessage"]] += 1
        deadline = time.monotonic() + PATIENCE
        while sent and word not in self.heard and time.monotonic() < deadline:
            time.sleep(0.02)
        count = self.heard.count(word)
        if count > 1 or (sent and count == 0):
            raise AssertionError(f"{word} was typed {count} times: {run}")


def run(kills: int, seed: int) -> dict[str, object]:
    """Kill so often; the figures.

    @raise AssertionError: see L{CronKillTrial.settle}.
    """
    daemon = DaemonHarness()
    try:
        work = daemon.folder / "work"
        work.mkdir()
        trial = CronKillTrial(daemon, random.Random(seed), work)
        daemon.start()
        for number in range(1, kills + 1):
            trial.make()
            trial.kill()
            if number % BATCH == 0 or number == kills:
                trial.settle()
                print(f"{number} kills: {dict(trial.found)}", file=sys.stderr, flush=True)
        return {
            "kills": kills,
            "jobs": trial.made,
            "ended": dict(trial.found),
            "reasons": dict(trial.reasons),
            "batches whose sessions did not all end": dict(trial.unended),
        }
    finally:
        daemon.close()


if __name__ == "__main__":
    sys.exit(report(__doc__, run, "kills", 500))
