"""C{/api/cron} on the whole service: shapes of answers, fields refused by name."""

from __future__ import annotations

import itertools
import json
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter
from twisted.trial.unittest import SynchronousTestCase

from tests.security.harness import SecurityHarness
from tservice.core.kernel.zone import find_local_zone


class CronRouteTests(SynchronousTestCase):
    """As ann, who has a workspace; as root, who is an admin; as bob."""

    def setUp(self) -> None:
        self.world = SecurityHarness()
        self.addCleanup(self.world.close)
        self.world.populate()
        self.answers = {
            f"{one.method} {one.path}": TypeAdapter(one.response_model)
            for one in self.world.operations
            if one.tag == "Cron"
        }

    def body(self, **more: Any) -> dict[str, Any]:
        return {
            "name": "nightly",
            "agentType": "shell",
            "workingDir": str(self.world.cases("ann")),
            "promptMode": "inline_text",
            "promptText": "make all",
            "inputMode": "paste",
            "scheduleType": "interval",
            "intervalMinutes": 10,
            "enabled": True,
            "concurrencyPolicy": "warn_only",
            **more,
        }

    def call(
        self, method: str, path: str, body: Any = None, name: str = "ann", id: str = ""
    ) -> Any:
        """The payload, which must be what the OpenAPI document says."""
        found = self.world.good(name, method, f"/api/cron/{path}".replace("{id}", id), body)
        adapter = self.answers[f"{method} /api/cron/{path}"]
        adapter.validate_json(json.dumps(found), strict=False)
        return found

    def make(self, **more: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.call("POST", "jobs", self.body(**more))["job"]
        return found

    def refused(self, method: str, path: str, body: Any, name: str = "ann") -> tuple[int, str]:
        cookie = {"Cookie": self.world.cookies[name]}
        answer = self.world.ask(method, f"/api/cron/{path}", body, cookie)
        return answer.status, json.loads(answer.body)["error"]

    def test_routes_are_eleven(self) -> None:
        self.assertEqual(11, len(self.answers))

    def test_job_is_created_changed_run_and_deleted(self) -> None:
        job = self.make(notes="n\n\tm\r\n", launchCommand="cd x")
        want = self.body(notes="n\n\tm\r\n", launchCommand="cd x", owner="ann")
        self.assertEqual(want, {name: job[name] for name in want})
        for name in ("lastRunAt", "lastStatus", "lastDueKey"):
            self.assertIsNone(job[name])
        self.assertTrue(job["autoClosePreviousSession"])
        self.assertNotIn("completedOnce", job)
        self.assertEqual(job, self.call("GET", "jobs/{id}", id=job["id"]))
        other = self.make(name="second")
        self.assertEqual([other, job], self.call("GET", "jobs"))
        changed = self.call("PUT", "jobs/{id}", {"name": "new", "notes": None}, id=job["id"])["job"]
        self.assertEqual(("new", False), (changed["name"], "notes" in changed))
        off = self.call("PUT", "jobs/{id}/enabled", {"enabled": False}, id=job["id"])["job"]
        self.assertEqual((False, None), (off["enabled"], off["nextRunAt"]))
        self.assertEqual({}, self.call("DELETE", "jobs/{id}", id=job["id"]))
        self.assertEqual([other], self.call("GET", "jobs"))

    def test_manual_run_is_listed(self) -> None:
        job = self.make()
        found = self.call("POST", "jobs/{id}/run", id=job["id"])
        # Her own shell of the world is another agent of the same kind.
        self.assertEqual(1, found["activeAgents"])
        run = found["run"]
        want = {
            "cronJobId": job["id"],
            "status": "session_started",
            "triggerType": "manual_run_now",
            "sessionName": "nightly",
            "finishedAt": None,
            "createdSessionUrl": f"/?session={run['sessionId']}",
        }
        self.assertEqual(want, {name: run[name] for name in want})
        self.assertNotIn("errorMessage", run)
        self.world.clock.pump([0.1] * 30)
        (later,) = self.call("GET", "jobs/{id}/runs", id=job["id"])
        self.assertEqual(("prompt_sent", run["id"]), (later["status"], later["id"]))
        self.assertEqual([later], self.call("GET", "runs"))
        self.assertEqual([later], self.call("GET", "runs", name="root"))
        self.assertEqual([], self.call("GET", "runs", name="bob"))

    def test_preview_creates_no_job(self) -> None:
        body = self.body(scheduleType="cron", cronExpression="0 9 * * mon")
        fires = self.call("POST", "preview", body)["fires"]
        self.assertEqual({7 * 86_400_000}, {b - a for a, b in itertools.pairwise(fires)})
        self.assertEqual(5, len(fires))
        self.assertEqual([], self.call("GET", "jobs"))

    def test_schedule_preview_explains_the_expression(self) -> None:
        body = self.body(scheduleType="cron", cronExpression="0 0 */2 * 1")
        shown = self.call("POST", "preview", body)
        words = "At 00:00, on every 2nd day from the 1st to the 31st, only if it is Monday."
        self.assertEqual(words, shown["explanation"])
        zone = find_local_zone({})
        moments = [datetime.fromtimestamp(at / 1000, zone) for at in shown["fires"]]
        self.assertEqual({(1, 1)}, {(at.isoweekday(), at.day % 2) for at in moments})
        self.assertNotIn("explanation", self.call("POST", "preview", self.body()))

    def test_schedule_preview_needs_no_folder(self) -> None:
        body = self.body(scheduleType="cron", cronExpression="0 9 * * mon", workingDir=None)
        self.assertEqual(5, len(self.call("POST", "preview", body)["fires"]))
        body = self.body(scheduleType="cron", cronExpression="0 9 31 2 *", workingDir=None)
        self.assertEqual(
            (400, "cronExpression: never fires"), self.refused("POST", "preview", body)
        )
        self.assertEqual(400, self.refused("POST", "jobs", body)[0])

    def test_job_fields_are_refused_by_name(self) -> None:
        long = "x" * 2001
        gone = str(self.world.cases("ann") / "gone")
        for field, value in (
            ("workingDir", gone),
            ("name", ""), ("name", "x" * 201), ("name", "a\nb"), ("name", None), ("name", 5),
            ("agentType", "emacs"), ("agentType", None), ("workingDir", "nowhere"),
            ("launchCommand", "a\nb"), ("launchCommand", long), ("promptMode", "telepathy"),
            ("promptText", ""), ("promptText", " "), ("promptText", "a\x00b"), ("promptText", None),
            ("promptText", "x" * 100_001), ("inputMode", "spoken"), ("scheduleType", "monthly"),
            ("intervalMinutes", 0), ("intervalMinutes", 525_601), ("intervalMinutes", "5"),
            ("intervalMinutes", 1.5), ("runAt", 0), ("runAt", -1), ("dailyTime", "9:00"),
            ("dailyTime", "24:00"), ("dailyTime", "09:60"), ("dailyTime", "09:00\n"),
            ("weeklyDays", []), ("weeklyDays", [7]), ("weeklyDays", [1, 1]), ("weeklyDays", ["1"]),
            ("weeklyTime", "noon"), ("cronExpression", "x" * 201), ("enabled", "true"),
            ("enabled", None), ("concurrencyPolicy", "hope"), ("autoClosePreviousSession", 1),
            ("notes", long), ("notes", "a\0b"), ("notes", "\x1b[2J"),
            ("surprise", 1), ("id", "x"), ("nextRunAt", 5),
        ):  # fmt: skip
            for method, path in (("POST", "jobs"), ("POST", "preview")):
                status, error = self.refused(method, path, self.body(**{field: value}))
                self.assertEqual(400, status, (field, value, error))
                self.assertTrue(error.startswith(field), (field, value, error))
        self.assertEqual([], self.call("GET", "jobs"))

    def test_missing_required_fields_are_named(self) -> None:
        job = self.make()
        for field in (
            "name", "agentType", "workingDir", "promptMode", "inputMode", "scheduleType",
            "enabled", "concurrencyPolicy",
        ):  # fmt: skip
            bare = self.body()
            del bare[field]
            status, error = self.refused("POST", "jobs", bare)
            self.assertEqual((400, True), (status, error.startswith(field)), error)
            status, error = self.refused("PUT", f"jobs/{job['id']}", {field: None})
            self.assertEqual((400, True), (status, error.startswith(field)), error)
        self.assertEqual([job], self.call("GET", "jobs"))

    def test_empty_update_changes_nothing(self) -> None:
        job = self.make()
        same = self.call("PUT", "jobs/{id}", {}, id=job["id"])["job"]
        self.assertEqual(job | {"updatedAt": same["updatedAt"]}, same)

    def test_longest_prompt_of_a_job_is_accepted(self) -> None:
        text = "\U0001f600" * 100_000
        self.assertEqual(text, self.make(promptText=text)["promptText"])

    def test_prompt_of_several_lines_is_kept(self) -> None:
        text = "first\n\n\t- second\n"
        self.assertEqual(text, self.make(promptText=text)["promptText"])

    def test_missing_or_foreign_job_is_not_found(self) -> None:
        job = self.make()
        for method, path, body in (
            ("GET", "", None), ("PUT", "", {}), ("DELETE", "", None), ("POST", "/run", None),
            ("PUT", "/enabled", {"enabled": True}), ("GET", "/runs", None),
        ):  # fmt: skip
            for who, id in (("ann", "nobody's"), ("bob", job["id"])):
                status, error = self.refused(method, f"jobs/{id}{path}", body, who)
                self.assertEqual((404, f"Cron job {id} not found"), (status, error))

    def test_jobs_are_counted_in_status_and_metrics(self) -> None:
        self.make()
        status = self.world.good("ann", "GET", "/api/status")
        self.assertEqual(1, status["cronJobs"])
        self.assertEqual(0, self.world.good("bob", "GET", "/api/status")["cronJobs"])
        headers = {"Cookie": self.world.cookies["root"]}
        metrics = self.world.ask("GET", "/metrics", None, headers).body
        self.assertIn('tservice_cron_jobs{enabled="true"} 1.0', metrics)
        self.assertIn('tservice_cron_runs{status="failed"} 0.0', metrics)

    def test_deleted_user_loses_the_jobs(self) -> None:
        self.make()
        self.world.good("root", "DELETE", "/api/admin/users/ann")
        self.assertEqual([], self.call("GET", "jobs", name="root"))
