"""The programs of C{docs/examples} do what they say, with played agents."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from attrs import asdict
from twisted.trial.unittest import SynchronousTestCase

from tests.agents.mock_tui.scenario import VARIABLE, MockScenario
from tests.integration.agents.harness import SCENARIO, played_daemon
from tests.integration.harness import PATIENCE, ROOT, DaemonHarness

EXAMPLES = ROOT / "docs/examples"
REVIEW = "Review the last commit for {}. Change nothing."


class PythonExampleTests(SynchronousTestCase):
    """One daemon; agents that answer what they are told to."""

    daemon: DaemonHarness
    answers = {
        REVIEW.format("mistakes in its logic"): "SAY: an off-by-one",
        REVIEW.format("holes in its security"): "SAY: no quoting",
        REVIEW.format("what its tests leave out"): "SAY: the empty list",
        "Run the tests; say in one line what is broken.": "SAY: nothing is",
        "note it": "RUN: touch notes-1",
        "end it": "RUN: touch notes-2; touch bad",
        "write a haiku": "SAY: an old silent pond",
        "Say what is wrong with this: an old silent pond": "SAY: five, seven, five",
    }

    @classmethod
    def setUpClass(cls) -> None:
        cls.daemon = played_daemon()
        cls.addClassCleanup(cls.daemon.close)
        file = cls.daemon.folder / SCENARIO
        file.write_text(json.dumps(asdict(MockScenario(answers=cls.answers))), "utf-8")
        cls.daemon.environment[VARIABLE] = str(file)
        cls.daemon.start()
        # As root agents are started in their bypass mode, which asks nothing.
        cls.daemon.request("PUT", "/api/settings", {"primaryMode": "normal"}).data()

    def setUp(self) -> None:
        self.work = self.daemon.folder / self.id().rpartition(".")[2]
        self.work.mkdir()
        self.addCleanup(lambda: self.daemon.request("DELETE", "/api/sessions").data())

    def run_example(self, name: str, *words: str | Path) -> str:
        """What an example prints; its sessions are gone with it."""
        ended = subprocess.run(
            [sys.executable, EXAMPLES / name, *words],
            env={**self.daemon.environ(), "TSCTL_URL": self.daemon.url},
            cwd=self.work,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE,
            check=False,
        )
        self.assertEqual(0, ended.returncode, f"{ended.stdout}\n{ended.stderr}")
        self.assertEqual("", ended.stderr)
        return ended.stdout

    def sessions(self) -> Any:
        return self.daemon.request("GET", "/api/sessions").data()

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        return subprocess.check_output(["git", *who, *words], cwd=self.work, text=True)

    def test_review_example_collects_three_answers(self) -> None:
        self.git("init", "-q")
        self.git("commit", "-q", "--allow-empty", "-m", "one")
        self.git("branch", "topic")
        said = self.run_example("review.py", self.work, "topic")
        for answer in ("an off-by-one", "no quoting", "the empty list"):
            self.assertIn(answer, said)
        self.assertEqual(1, len(self.git("worktree", "list").splitlines()))
        self.assertEqual([], self.sessions())

    def test_nightly_job_example_creates_its_job(self) -> None:
        said = self.run_example("nightly.py", self.work)
        self.assertIn("every night: daily 03:30", said)
        self.assertIn("nothing is", said)
        [job] = self.daemon.request("GET", "/api/cron/jobs").data()
        self.daemon.request("DELETE", f"/api/cron/jobs/{job['id']}").data()

    def test_policy_example_approves_and_denies_by_rule(self) -> None:
        said = self.run_example("policy.py", self.work, "note it")
        self.assertIn("approved: touch notes-1\n", said)
        said = self.run_example("policy.py", self.work, "end it")
        self.assertIn("denied: touch notes-2; touch bad\n", said)
        self.assertEqual(["notes-1"], sorted(path.name for path in self.work.glob("[nb]*")))
        self.assertEqual([], self.sessions())

    def test_answer_of_one_agent_is_piped_to_another(self) -> None:
        said = self.run_example("pipe.py", self.work, "write a haiku")
        self.assertEqual("five, seven, five\n", said)
        self.assertEqual([], self.sessions())
