"""What waits for the end of a turn, over a kill -9 of the real daemon with an agent played.

The turn ends while no service is there to hear its hook; afterwards the state decides.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import asdict
from twisted.trial.unittest import SynchronousTestCase

from tests.agents.mock_tui.log import read_turns
from tests.agents.mock_tui.scenario import MockScenario
from tests.agents.stub.record import ModelTurn
from tests.integration.agents.harness import SCENARIO, PlayedSession, played_daemon
from tests.integration.harness import PATIENCE
from tests.waiting import wait_until

GO_ON = "Go on with the task."


class KilledDaemonTests(SynchronousTestCase):
    """A daemon that is killed."""

    def setUp(self) -> None:
        self.daemon = played_daemon()
        self.addCleanup(self.daemon.close)
        self.daemon.start()
        self.daemon.request("PUT", "/api/settings", {"primaryMode": "normal"}).data()
        self.work = self.daemon.folder / "work"
        (self.work / "gates").mkdir(parents=True)

    def call(self, method: str, path: str, **body: Any) -> Any:
        return self.daemon.request(method, path, body or None, patience=2 * PATIENCE).data()

    def turns(self, work: Path | None = None) -> list[ModelTurn]:
        return read_turns((work or self.work) / "turns.json")

    def until_turns(
        self, holds: Callable[[list[ModelTurn]], bool], work: Path | None = None
    ) -> None:
        wait_until("the agent's turns", lambda: holds(self.turns(work)))

    def run_begun(self, scenario: MockScenario) -> Callable[[], dict[str, Any]]:
        """A timed run whose first turn runs; how to read it."""
        (self.work / SCENARIO).write_text(json.dumps(asdict(scenario)), "utf-8")
        body = {"prompt": "HOLD: one", "workingDir": str(self.work), "durationMinutes": 10}
        made = self.call("POST", "/api/scheduled", **body)["run"]
        self.until_turns(lambda found: len(found) == 1)
        return lambda: self.call("GET", f"/api/scheduled/{made['id']}")

    def away(self, happens: Callable[[], None]) -> None:
        """Something happens while no service is there."""
        self.daemon.kill()
        happens()
        self.daemon.start()

    def first_turn_ends(self) -> None:
        (self.work / "gates" / "one").touch()
        self.until_turns(lambda found: found[0].outcome != "open")

    def test_timed_run_continues_after_kills(self) -> None:
        """Killed right behind its Enter, and once more in the midst of a turn."""
        run = self.run_begun(MockScenario())
        self.away(self.first_turn_ends)
        self.until_turns(lambda found: len(found) == 2)
        first, second = (turn.prompt for turn in self.turns())
        self.assertEqual("HOLD: one", first)
        self.assertIn(GO_ON, second)
        wait_until("its record", lambda: (run()["status"], run()["turns"]) >= ("running", 1))

    def test_timed_run_killed_during_a_turn_continues(self) -> None:
        run = self.run_begun(MockScenario())
        wait_until("its line is kept", lambda: "prompt sent" in "\n".join(run()["logs"]))
        self.away(self.first_turn_ends)
        self.until_turns(lambda found: len(found) == 2)
        self.assertIn(GO_ON, self.turns()[1].prompt)

    def test_numbered_wait_receives_a_turn_that_ended_before_the_restart(self) -> None:
        session = PlayedSession(self.daemon, "primary", MockScenario())
        numbered = {"input": "HOLD: one\r", "clientId": "c", "seq": 1}
        self.call("POST", f"{session.path}/input", **numbered)
        wait_until("its turn", lambda: session.record()["status"] == "busy")
        self.daemon.kill()
        session.release("one")
        self.until_turns(lambda found: found[0].outcome != "open", session.work)
        self.daemon.start()

        def again() -> Any:
            found = self.call("POST", f"{session.path}/input", **numbered, wait="stop")
            self.assertTrue(found["duplicate"])
            return found["wait"]["signal"]

        wait_until("its stop", lambda: again() == "stop")
        self.assertEqual(1, len(session.turns()))

    def test_wait_receives_the_end_of_a_turn_without_a_hook(self) -> None:
        session = PlayedSession(self.daemon, "primary", MockScenario())
        self.call("POST", f"{session.path}/input", input="HOLD: one\r")
        wait_until("its turn", lambda: session.record()["status"] == "busy")
        self.daemon.kill()
        session.release("one")
        self.until_turns(lambda found: found[0].outcome != "open", session.work)
        self.daemon.start()
        found = self.call("GET", f"{session.path}/wait?until=stop")
        self.assertEqual("stop", found["wait"]["signal"])
