"""Checks of a session in a container, by the real daemon (protocol-check-runs)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.integration.containers.case_harness import IMAGE, USER, CaseTestCase
from tests.integration.containers.images import PROGRAMS
from tests.waiting import wait_until

CHECKED = "localhost/checked:1"


class PodmanCheckTests(CaseTestCase):
    """Runs, limits, cancelling, and the file of the repository in there."""

    def save(self, case: str, *checks: dict[str, Any]) -> None:
        self.ask("PUT", f"/api/cases/{case}/checks", {"checks": [*checks]})

    def find_run(self, session: str) -> Any:
        return self.ask("GET", f"/api/sessions/{session}/checks")["runs"][0]

    def begin(self, session: str) -> str:
        started = self.ask("POST", f"/api/sessions/{session}/checks/run", {})
        return str(started["run"]["id"])

    def run_checks(self, session: str) -> dict[str, Any]:
        started = self.begin(session)

        def ended() -> Any:
            run = self.find_run(session)
            return run if run["id"] == started and "finishedAt" in run else None

        found: dict[str, Any] = wait_until("the end of the checks", ended)
        return found

    def test_checks_run_in_the_container_within_their_limits(self) -> None:
        self.engine.image(CHECKED, (*PROGRAMS, "setsid", "grep", "nice"))
        self.ask("POST", "/api/container-hosts", self.host("Checked", CHECKED))
        case = self.case("checked")
        folder = Path(self.daemon.folder / case)
        session = self.session(case)
        self.save(
            case,
            {"name": "where", "command": "pwd; id -u; exit 3"},
            {"name": "hangs", "command": "setsid sleep 600 & sleep 600", "timeoutSeconds": 1},
            {"name": "left", "command": "grep -lsF sleep /proc/[0-9]*/cmdline; echo none"},
        )
        run = self.run_checks(session)
        where, hangs, left = run["results"]
        self.assertEqual(("failed", 3), (where["state"], where["status"]), run)
        self.assertEqual("/workspace", where["output"].split("\n")[0])
        self.assertEqual("timed_out", hangs["state"], run)
        self.assertEqual("none", left["output"].split("\n")[-1], run)
        self.save(case, {"name": "hangs", "command": "touch begun; sleep 600"})
        self.begin(session)
        wait_until("the check", (folder / "begun").exists)
        self.assertEqual(USER, (folder / "begun").stat().st_uid)
        self.ask("DELETE", f"/api/sessions/{session}/checks/run")
        wait_until("its end", lambda: self.find_run(session)["state"] == "cancelled")
        self.save(case)
        self.type(session, "echo 'checks: [{name: a, command: echo 7 passed}]' > .tservice.yaml", 1)
        where_is = f"/api/sessions/{session}/checks/file"
        found = wait_until("the file", lambda: self.ask("GET", where_is).get("hash"))
        self.ask("PUT", where_is, {"hash": found})
        self.assertEqual("green", self.run_checks(session)["state"])

    def test_container_without_setsid_says_why(self) -> None:
        self.ask("POST", "/api/container-hosts", self.host("Plain", IMAGE))
        case = self.case("plain")
        session = self.session(case)
        self.save(case, {"name": "x", "command": "true"})
        run = self.run_checks(session)
        self.assertEqual("unavailable", run["results"][0]["state"], run)
        self.assertIn("neither setsid nor perl", run["results"][0]["reason"])
