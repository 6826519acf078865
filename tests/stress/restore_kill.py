"""Kill -9 amid restores: each session comes back once or is offered again, never twice.

C{python -m tests.stress.restore_kill --kills 100 --seed 1}

A machine with shells and agents goes down; while they are brought back the daemon is killed at
random moments, again and again, until all are back.  Each program notes down that it was started,
so that a second start would show, also of one whose process is gone again.
"""

from __future__ import annotations

import http.client
import random
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from attrs import define, field

from tests.integration.rebooting import RebootDaemon
from tests.stress.command import report
from tests.waiting import wait_until

SHELLS, AGENTS = 5, 2
SLOWEST_KILL = 2.5
"""Seconds after the request within which the daemon is killed."""

NOTE = 'echo "$SERVICE_SESSION_ID" >> "$HOME/started"\n'
AGENT = f"#!/bin/sh\n{NOTE}exec cat\n"


@define
class RestoreKillTrial:
    """One machine.

    @ivar sessions: what is to come back each time.
    @ivar left: how many were offered still after each kill.
    """

    daemon: RebootDaemon
    dice: random.Random
    sessions: list[str] = field(factory=list)
    left: Counter[int] = field(factory=Counter)
    reboots: int = 0
    kills: int = 0

    @property
    def notes(self) -> Path:
        return self.daemon.home / "started"

    def started(self) -> Counter[str]:
        """How often each session was started since the machine came up."""
        return Counter(self.notes.read_text().split() if self.notes.exists() else ())

    def prepare(self) -> None:
        """Make the sessions."""
        programs = self.daemon.home / ".local" / "bin"
        programs.mkdir(parents=True)
        (programs / "agy").write_text(AGENT)
        (programs / "agy").chmod(0o755)
        (self.daemon.home / ".bash_profile").write_text(NOTE)
        self.daemon.start()
        for mode in ("shell",) * SHELLS + ("antigravity",) * AGENTS:
            body = {"mode": mode, "start": True, "workingDir": str(self.daemon.home)}
            found = self.daemon.request("POST", "/api/sessions", body).data()
            self.sessions.append(found["session"]["id"])

    def reboot(self) -> None:
        """The machine goes down, and all of them are offered."""
        self.reboots += 1
        self.daemon.go_down()
        self.notes.unlink(missing_ok=True)
        self.daemon.name_boot()
        self.daemon.start()
        if self.offered() != set(self.sessions):
            raise AssertionError(f"not offered: {set(self.sessions) - self.offered()}")

    def offered(self) -> set[str]:
        found = self.daemon.request("GET", "/api/reboot-restore").data()
        return {each["id"] for each in found["sessions"]}

    def kill(self) -> None:
        """Kill the daemon while it restores, and compare.

        @raise AssertionError: a session is neither back nor offered, or was started twice.
        """
        self.kills += 1
        asking = threading.Thread(target=self._ask)
        asking.start()
        time.sleep(self.dice.uniform(0, SLOWEST_KILL))
        self.daemon.kill()
        asking.join()
        self.daemon.start()
        offered, running = self.offered(), self.running()
        self.left[len(offered)] += 1
        if offered & running or offered | running != set(self.sessions):
            raise AssertionError(f"offered {offered}, running {running}\n{self.daemon.log}")
        self.once()

    def once(self) -> None:
        """Nothing was started twice.

        @raise AssertionError: it was.
        """
        again = {each for each, times in self.started().items() if times > 1}
        if again:
            raise AssertionError(f"started again: {again}\n{self.daemon.log}")

    def running(self) -> set[str]:
        found = self.daemon.request("GET", "/api/sessions").data()
        return {each["id"] for each in found if each["pid"] is not None}

    def finish(self) -> None:
        """Bring back what is left, without a kill."""
        found = self.daemon.request("POST", "/api/reboot-restore/restore", {}).data()
        if found["skipped"] or self.offered() or self.running() != set(self.sessions):
            raise AssertionError(f"not back: {found}\n{self.daemon.log}")
        wait_until("every start noted down", lambda: set(self.started()) == set(self.sessions))
        self.once()

    def _ask(self) -> None:
        try:
            self.daemon.request("POST", "/api/reboot-restore/restore", {})
        except (OSError, http.client.HTTPException):
            return  # it was killed, which is the point


def run(kills: int, seed: int) -> dict[str, object]:
    """Kill so often; the figures.

    @raise AssertionError: see L{RestoreKillTrial.kill}.
    """
    daemon = RebootDaemon()
    try:
        trial = RestoreKillTrial(daemon, random.Random(seed))
        trial.prepare()
        while trial.kills < kills:
            trial.reboot()
            while trial.kills < kills and trial.offered():
                trial.kill()
            trial.finish()
            print(f"{trial.kills} kills", file=sys.stderr, flush=True)
        return {
            "kills": trial.kills,
            "reboots": trial.reboots,
            "sessions": len(trial.sessions),
            "left after a kill": dict(sorted(trial.left.items())),
        }
    finally:
        daemon.close()


if __name__ == "__main__":
    sys.exit(report(__doc__, run, "kills", 100))
