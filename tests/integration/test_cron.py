"""Scheduled jobs on the real daemon: real panes, a played agent, a hundred at once."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.mock_tui.scenario import VARIABLE, MockScenario
from tests.agents.mocks import install_mock, scenario_env
from tests.integration.harness import PATIENCE, DaemonHarness


class DaemonCronCase(SynchronousTestCase):
    """A daemon, and what it is asked."""

    environment: dict[str, str] = {}

    def setUp(self) -> None:
        self.daemon = DaemonHarness(TZ="America/Nuuk", **self.environment)
        self.addCleanup(self.daemon.close)
        self.work = self.daemon.folder / "work"
        self.work.mkdir()
        self.prepare()
        self.daemon.start()

    def prepare(self) -> None:
        """Before the daemon starts."""

    def call(self, method: str, path: str, body: Any = None) -> Any:
        return self.daemon.request(method, f"/api/cron/{path}", body).data()

    def body(self, **more: Any) -> dict[str, Any]:
        return {
            "name": "nightly",
            "agentType": "shell",
            "workingDir": str(self.work),
            "promptMode": "inline_text",
            "promptText": f"echo ran >> {self.work}/heard",
            "inputMode": "paste",
            "scheduleType": "interval",
            "intervalMinutes": 60,
            "enabled": True,
            "concurrencyPolicy": "warn_only",
            **more,
        }

    def make(self, **more: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.call("POST", "jobs", self.body(**more))["job"]
        return found

    def move(self, at: int) -> None:
        """Have every job due at another moment, while no daemon runs."""
        with closing(sqlite3.connect(self.daemon.data / "tservice.db")) as database:
            database.execute("UPDATE cron_jobs SET next_run_at = ?", (at,))
            database.commit()

    def until(self, what: str, look: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + 2 * PATIENCE
        while time.monotonic() < deadline:
            found = look()
            if found:
                return found
            time.sleep(0.2)
        raise AssertionError(f"never: {what}\n{self.call('GET', 'runs')[:3]}\n{self.daemon.log}")

    def ended(self, job: dict[str, Any]) -> dict[str, Any]:
        """Its last run, once it has come to its end."""

        def look() -> dict[str, Any] | None:
            runs = self.call("GET", f"jobs/{job['id']}/runs")
            return runs[0] if runs and runs[0]["finishedAt"] else None

        found: dict[str, Any] = self.until("the end of a run", look)
        return found

    def heard(self) -> list[str]:
        path = self.work / "heard"
        return path.read_text().split() if path.exists() else []


class ShellTests(DaemonCronCase):
    """Jobs of shells."""

    environment = {"SERVICE_MAX_SESSIONS": "200"}

    def test_job_fires_at_its_time(self) -> None:
        at, job = self.make_soon()
        self.assertEqual(at, job["nextRunAt"])
        run = self.ended(job)
        self.assertEqual(("prompt_sent", "scheduled"), (run["status"], run["triggerType"]))
        self.assertGreaterEqual(run["startedAt"], at)
        self.until("the prompt at work", lambda: self.heard() == ["ran"])
        now = self.call("GET", f"jobs/{job['id']}")
        self.assertEqual(
            (True, False, None), (now["completedOnce"], now["enabled"], now["nextRunAt"])
        )
        self.assertEqual(1, self.daemon.request("GET", "/api/status").data()["cronJobs"])

    def make_soon(self) -> tuple[int, dict[str, Any]]:
        """When it is due, and a job that is due soon, also where it takes long to make one."""
        for wait in (700, 5_000, 30_000):
            at = int(time.time() * 1000) + wait
            body = self.body(scheduleType="once", runAt=at, launchCommand="export WORD=ran")
            answer = self.daemon.request("POST", "/api/cron/jobs", body)
            if answer.status != 400:
                break
            self.assertIn("runAt: must be in the future", answer.json()["error"])
        found: dict[str, Any] = answer.data()["job"]
        return at, found

    def test_prompt_file_of_a_shell_job_is_typed_line_by_line(self) -> None:
        (self.work / "prompt").write_text("echo a >> heard\necho b >> heard\n")
        job = self.make(
            promptMode="prompt_file_path",
            promptFilePath=str(self.work / "prompt"),
            inputMode="typed",
        )
        found = self.call("POST", f"jobs/{job['id']}/run")
        self.assertEqual(("session_started", 0), (found["run"]["status"], found["activeAgents"]))
        self.ended(job)
        self.until("both lines", lambda: self.heard() == ["a", "b"])

    def test_hundred_jobs_due_in_the_same_second_all_fire(self) -> None:
        for _ in range(100):
            self.make(promptText="true")
        self.daemon.stop()
        self.move((int(time.time()) + 2) * 1000)
        self.daemon.start()
        runs = self.until(
            "the end of all",
            lambda: (
                (found := self.call("GET", "runs"))
                and sum(1 for run in found if run["finishedAt"]) == 100
                and found
            ),
        )
        self.assertEqual({"prompt_sent"}, {run["status"] for run in runs})
        self.assertEqual(100, len({run["sessionId"] for run in runs}))
        # The harness ends servers one by one, the service ends them together.
        self.daemon.request("DELETE", "/api/sessions").data()

    def test_restart_during_job_runs_loses_none(self) -> None:
        """The one that is asked to go leaves what the next one needs."""
        jobs = [self.make() for _ in range(5)]
        for job in jobs:
            self.call("POST", f"jobs/{job['id']}/run")
        self.daemon.restart()
        self.assertEqual({"prompt_sent"}, {self.ended(job)["status"] for job in jobs})
        self.until("all five", lambda: len(self.heard()) >= 5)
        self.assertEqual(["ran"] * 5, self.heard())

    def test_run_missed_while_stopped_is_made_up(self) -> None:
        job = self.make(scheduleType="once", runAt=int(time.time() * 1000) + 3_600_000)
        self.daemon.kill()
        # As if it had been made that much earlier: its moment passes while nobody is there.
        self.move(int(time.time() * 1000) - 1)
        self.daemon.start()
        run = self.ended(job)
        self.assertEqual(("prompt_sent", "scheduled"), (run["status"], run["triggerType"]))
        self.until("it ran", lambda: self.heard() == ["ran"])


class PlayedAgentTests(DaemonCronCase):
    """Jobs of the primary agent, which is played: it asks for trust first, and takes its time."""

    environment = {"SERVICE_PANE_ENV": VARIABLE}

    def prepare(self) -> None:
        folder = self.daemon.folder
        scenario = MockScenario(start_delay=1.5, record=str(folder / "turns.json"))
        self.daemon.environment.update(scenario_env(folder / "scenario.json", scenario))
        install_mock(folder / "bin", "claude")
        path = self.daemon.environ()["PATH"]
        self.daemon.environment["PATH"] = f"{folder / 'bin'}:{path}"

    def prompts(self) -> list[str]:
        path: Path = self.daemon.folder / "turns.json"
        return [turn["prompt"] for turn in json.loads(path.read_text())] if path.exists() else []

    def test_prompt_of_a_job_waits_until_the_agent_is_ready(self) -> None:
        for mode, text in (("paste", "SAY: pasted"), ("typed", "SAY: typed")):
            job = self.make(agentType="primary", inputMode=mode, promptText=text)
            run = self.call("POST", f"jobs/{job['id']}/run")["run"]
            self.assertEqual("session_started", run["status"])
            run = self.ended(job)
            self.assertEqual("prompt_sent", run["status"], run)
            self.until("the turn", self.prompts)
            self.assertEqual([text], self.prompts())
            self.daemon.request("DELETE", f"/api/sessions/{run['sessionId']}").data()
            (self.daemon.folder / "turns.json").unlink()

    def test_service_killed_during_a_job_start_submits_the_prompt_once(self) -> None:
        job = self.make(agentType="primary", promptText="SAY: once")
        self.call("POST", f"jobs/{job['id']}/run")
        self.daemon.kill()
        self.daemon.start()
        self.assertEqual("prompt_sent", self.ended(job)["status"])
        self.until("the turn", self.prompts)
        self.assertEqual(["SAY: once"], self.prompts())
