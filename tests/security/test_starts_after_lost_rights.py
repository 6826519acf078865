"""Starts that wait for their place, by somebody whose right to them has ended meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from unittest import mock

from twisted.internet.defer import Deferred

from tests.security.harness import parse_http_answer
from tests.security.lost_right_harness import LateCase
from tests.unit.clis.fakes import make_program
from tests.unit.http.site_driver import SiteConnection
from tservice.agents.hooks.launch_preparation import HookPreparation
from tservice.cases.case_operations import CaseOperations
from tservice.clis.service import CliService
from tservice.core.callers.identity import Identity
from tservice.cron.rules import JobRules
from tservice.sessions.life.launcher import PaneLauncher
from tservice.sessions.record.model import Session


def job_of(folder: str) -> dict[str, Any]:
    """What a job is made of."""
    return {
        "name": "late",
        "agentType": "shell",
        "workingDir": folder,
        "promptMode": "inline_text",
        "promptText": "id",
        "inputMode": "paste",
        "scheduleType": "interval",
        "intervalMinutes": 5,
        "enabled": False,
        "concurrencyPolicy": "warn_only",
    }


class SlowPlaceTests(LateCase):
    """Starts that wait: a host is woken for 40 seconds, an image is built for minutes."""

    def setUp(self) -> None:
        super().setUp()
        make_program(self.world.folder / ".local/bin", "claude")
        self.waiting: list[Deferred[None]] = []

        async def slow(launcher: PaneLauncher, session: Session) -> None:
            self.waiting.append(Deferred())
            await self.waiting[-1]

        self.patch(PaneLauncher, "check_folders_reachable", slow)

    def refused(self, connection: SiteConnection) -> None:
        """The place is ready, and nothing is started there."""
        panes = len(self.world.host.panes)
        self.patch_max(role="user")
        self.waiting.pop().callback(None)
        self.assertIn(parse_http_answer(connection.value(), "POST").status, (401, 403, 404))
        self.assertEqual(panes, len(self.world.host.panes))

    def test_new_session_is_not_started_after_a_lost_right(self) -> None:
        body = b'{"mode": "shell", "name": "late", "start": true}'
        self.refused(self.park("POST", "/api/sessions", self.cookie("max"), body))
        names = [each["name"] for each in self.world.good("root", "GET", "/api/sessions")]
        self.assertNotIn("late", names)

    def test_existing_session_is_not_started_after_a_lost_right(self) -> None:
        made = self.world.good("max", "POST", "/api/sessions", {"mode": "shell"})["session"]
        path = f"/api/sessions/{made['id']}/start"
        self.refused(self.park("POST", path, self.cookie("max")))

    def test_quick_start_is_refused_after_a_lost_right(self) -> None:
        body = b'{"mode": "shell", "caseName": "late"}'
        self.refused(self.park("POST", "/api/quick-start", self.cookie("max"), body))

    def test_job_is_not_run_after_a_lost_right(self) -> None:
        job = job_of(str(self.world.cases(self.name)))
        made = self.world.good("max", "POST", "/api/cron/jobs", job)["job"]
        self.refused(self.park("POST", f"/api/cron/jobs/{made['id']}/run", self.cookie("max")))
        (run,) = self.world.good("root", "GET", f"/api/cron/jobs/{made['id']}/runs")
        self.assertEqual("failed", run["status"])
        self.assertIn("was revoked", run["errorMessage"])

    def test_timed_run_is_not_started_after_a_lost_right(self) -> None:
        body = b'{"prompt": "go", "durationMinutes": 5}'
        self.refused(self.park("POST", "/api/scheduled", self.cookie("max"), body))
        self.assertEqual([], self.world.good("root", "GET", "/api/scheduled")["runs"])

    def test_session_is_not_restarted_with_another_model_after_a_lost_right(self) -> None:
        on = {"customModelEndpointsEnabled": True}
        self.world.good("root", "PUT", "/api/settings", on)
        endpoint = {"label": "here", "baseUrl": "http://127.0.0.1:1"}
        kept = self.world.good("root", "POST", "/api/model-endpoints", endpoint)["endpoint"]
        for wish in (
            {"endpointId": kept["id"], "modelId": "a", "confirmed": True},
            {"clear": True},
        ):
            with self.subTest(wish=wish):
                made = self.running_agent(None if "clear" not in wish else kept["id"])
                path = f"/api/sessions/{made}/custom-model"
                body = json.dumps(wish).encode()
                self.refused(self.park("POST", path, self.cookie("max"), body))
            self.newcomer()

    def running_agent(self, endpoint: str | None) -> str:
        """A session of max's with an agent, perhaps one with a model of that endpoint."""
        body: dict[str, Any] = {"mode": "primary", "start": True}
        if endpoint is not None:
            body["customModel"] = {"endpointId": endpoint, "modelId": "a", "confirmed": True}
        made = self.park("POST", "/api/sessions", self.cookie("max"), json.dumps(body).encode())
        self.waiting.pop().callback(None)
        return str(
            json.loads(parse_http_answer(made.value(), "POST").body)["data"]["session"]["id"]
        )


class LastLookTests(LateCase):
    """The look at a session's folder, which comes behind everything else."""

    def test_session_is_not_started_after_the_last_folder_check(self) -> None:
        waiting: list[Deferred[None]] = []

        async def slow(preparation: object, session: Session, env: object) -> None:
            waiting.append(Deferred())
            await waiting[-1]

        self.patch(HookPreparation, "prepare_launch", slow)
        panes = len(self.world.host.panes)
        body = b'{"mode": "shell", "name": "late", "start": true}'
        parked = self.park("POST", "/api/sessions", self.cookie("max"), body)
        self.patch_max(role="user")
        waiting.pop().callback(None)
        self.assertIn(parse_http_answer(parked.value(), "POST").status, (401, 403, 404))
        self.assertEqual(panes, len(self.world.host.panes))


class SlowRuleTests(LateCase):
    """What waits for a folder or for the programs of PATH before it is kept."""

    def setUp(self) -> None:
        super().setUp()
        self.waiting: list[Deferred[None]] = []

        async def slow(*args: object, **more: object) -> None:
            self.waiting.append(Deferred())
            await self.waiting[-1]

        self.slow = slow

    def refused(self, method: str, path: str, body: dict[str, Any]) -> None:
        parked = self.park(method, path, self.cookie("max"), json.dumps(body).encode())
        self.patch_max(role="user")
        self.waiting.pop().callback(None)
        self.assertIn(parse_http_answer(parked.value(), method).status, (401, 403), path)

    def test_job_is_not_saved_after_a_lost_right(self) -> None:
        checked = JobRules.check_definition

        async def check(rules: JobRules, *given: Any) -> Any:
            await self.slow()
            return await checked(rules, *given)

        job = job_of(str(self.world.cases(self.name)))
        self.patch(JobRules, "check_definition", check)
        self.refused("POST", "/api/cron/jobs", job)
        self.assertEqual([], self.world.good("root", "GET", "/api/cron/jobs"))

    def test_cli_is_neither_added_nor_installed_after_a_lost_right(self) -> None:
        made = mock.Mock()
        for name, work in (
            ("check_reachable", self.slow),
            ("create_entry", made),
            ("install_cli", made),
        ):
            self.patch(CliService, name, work)
        program = {"binaries": ["late"], "argv": ["late"]}
        entry = {"id": "late", "label": "Late", "shortBadge": "LA", **program}
        self.world.good("root", "PUT", "/api/settings", {"cliManagementEnabled": True})
        self.refused("POST", "/api/clis", entry)
        self.newcomer()
        self.refused("POST", "/api/clis/codex/install", {})
        made.assert_not_called()


class SlowFolderTests(LateCase):
    """Folders that take their time, until the right to what is made there is over."""

    def setUp(self) -> None:
        super().setUp()
        self.waiting: list[Deferred[None]] = []

        async def slow(desk: CaseOperations, caller: Identity, paths: Iterable[str] = ()) -> None:
            self.waiting.append(Deferred())
            await self.waiting[-1]

        self.patch(CaseOperations, "check_paths", slow)

    def test_case_is_not_kept_after_a_lost_right(self) -> None:
        folder = self.world.folder / "outside"
        folder.mkdir()
        bodies = {
            "/api/cases": {"name": "late"},
            "/api/cases/link": {"name": "late", "path": str(folder)},
        }
        for path, body in bodies.items():
            self.newcomer()
            parked = self.park("POST", path, self.cookie("max"), json.dumps(body).encode())
            self.patch_max(role="user")
            while self.waiting:
                self.waiting.pop().callback(None)
            self.assertIn(parse_http_answer(parked.value(), "POST").status, (401, 403), path)
            self.assertEqual([], [*self.world.folder.rglob("late")], path)
