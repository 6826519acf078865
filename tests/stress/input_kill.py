"""Kill -9 at random moments while clients send numbered inputs and retry: each ran once.

Two type into one session, keys and prompts mixed, so that each other's mark is always in the way.

C{python -m tests.stress.input_kill --kills 300 --seed 1}
"""

from __future__ import annotations

import http.client
import random
import sys
import threading
import time
from pathlib import Path

from attrs import define, field

from bench.client import new_session, run_line, wait_output
from tests.integration.harness import DaemonHarness
from tests.stress.command import report
from tests.waiting import PATIENCE, wait_until

PAUSE = 0.005
SLOWEST_KILL = 0.6
"""Seconds after the start within which the next kill comes."""


@define
class NumberedClient:
    """Sends its name with 1, 2, ... each under its number, until each is accepted."""

    daemon: DaemonHarness
    session: str
    name: str
    random: random.Random
    accepted: int = 0
    retries: int = 0
    duplicates: int = 0
    surprises: list[str] = field(factory=list)
    over: threading.Event = field(factory=threading.Event)

    def run(self) -> None:
        """Go on until told that it is over; the last number is finished first."""
        while not self.over.is_set():
            self._deliver(self.accepted + 1, prompt=self.random.random() < 0.3)
            self.accepted += 1

    def _deliver(self, number: int, *, prompt: bool) -> None:
        body = {
            "input": f"{self.name}{number}\r",
            "clientId": self.name,
            "seq": number,
            "useMux": prompt,
        }
        path = f"/api/sessions/{self.session}/input"
        while True:
            try:
                answer = self.daemon.request("POST", path, body)
            except (OSError, http.client.HTTPException):
                self.retries += 1
                time.sleep(PAUSE)
                continue
            if answer.status == 200:
                self.duplicates += bool(answer.data().get("duplicate"))
                return
            self.surprises.append(f"{number}: {answer.status} {answer.body!r}")
            if len(self.surprises) > 100:
                raise AssertionError(self.surprises[0])
            time.sleep(PAUSE)


def run(kills: int, seed: int) -> dict[str, object]:
    """Kill so often; the figures.

    @raise AssertionError: an input was lost, doubled or out of order.
    """
    dice = random.Random(seed)
    daemon = DaemonHarness()
    try:
        daemon.start()
        session = new_session(daemon)
        heard = Path(daemon.folder) / "heard"
        run_line(daemon, session, f"printf 'rea%s' dy; cat > {heard}")
        wait_output(daemon, session, "ready", "buffer")
        clients = [
            NumberedClient(daemon, session, name, random.Random(seed + ord(name))) for name in "mn"
        ]
        threads = [threading.Thread(target=client.run) for client in clients]
        for thread in threads:
            thread.start()
        for _ in range(kills):
            time.sleep(dice.uniform(0, SLOWEST_KILL))
            daemon.kill()
            daemon.start()
        wait_until("an input for each kill", lambda: sum(one.accepted for one in clients) > kills)
        for client in clients:
            client.over.set()
        for thread in threads:
            thread.join(PATIENCE)
        _settle(heard, sum(client.accepted for client in clients))
        whole = heard.read_text().split()
        for client in clients:
            want = [f"{client.name}{number}" for number in range(1, client.accepted + 1)]
            got = [word for word in whole if word.startswith(client.name)]
            if got != want:
                raise AssertionError(f"lost, doubled or disordered: {_difference(want, got)}")
        if len(whole) != sum(client.accepted for client in clients):
            raise AssertionError(f"torn: {whole}")
        return {
            "kills": kills,
            "inputs": len(whole),
            "retries": sum(client.retries for client in clients),
            "answered as duplicate": sum(client.duplicates for client in clients),
            "other answers": [each for client in clients for each in client.surprises[:5]],
        }
    finally:
        daemon.close()


def _settle(heard: Path, count: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while heard.read_text().count("\n") < count and time.monotonic() < deadline:
        time.sleep(0.05)


def _difference(want: list[str], got: list[str]) -> str:
    for at, (one, two) in enumerate(zip(want, got, strict=False)):
        if one != two:
            return f"at {at}: {want[at - 2 : at + 3]} was heard as {got[at - 2 : at + 3]}"
    return f"{len(want)} accepted, {len(got)} heard"


if __name__ == "__main__":
    sys.exit(report(__doc__, run, "kills", 300))
