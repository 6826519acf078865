"""Checks that a repository brings: who lets them run, and what of the file is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.security.harness import SecurityAnswer, SecurityHarness
from tservice.checks.repository_file.file_model import FILE_NAME
from tservice.tokens.agent_tokens import FOLDER

CASE = "/api/cases/of-ann/checks/file"
FILE = "checks: [{name: tests, command: make test}]\n"
OTHER = "checks: [{name: tests, command: make test; id}]\n"


class CheckFileRightTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.world = SecurityHarness()
        self.addCleanup(self.world.close)
        self.world.populate()
        made = self.world.good("ann", "POST", "/api/cases", {"name": "of-ann"})
        self.folder = Path(made["case"]["path"])
        self.write(FILE)

    def write(self, text: str) -> None:
        (self.folder / FILE_NAME).write_text(text)

    def get(self, path: str = CASE, who: str = "ann") -> dict[str, Any]:
        found: dict[str, Any] = self.world.good(who, "GET", path)
        return found

    def approve(self, who: Any = "ann", path: str = CASE, hash_: str = "") -> SecurityAnswer:
        headers = self.world.page(who) if isinstance(who, str) else who
        wanted = hash_ or self.get()["hash"]
        return self.world.ask("PUT", path, {"hash": wanted}, headers)

    def start_session(self) -> str:
        body = {"mode": "shell", "start": True, "caseName": "of-ann"}
        made: str = self.world.good("ann", "POST", "/api/sessions", body)["session"]["id"]
        return made

    def test_file_is_approved_by_its_hash_and_shown_with_its_diff(self) -> None:
        found = self.get()
        self.assertEqual(("unapproved", FILE), (found["state"], found["text"]))
        self.assertEqual("make test", found["checks"][0]["command"])
        self.assertEqual(200, self.approve().status)
        self.assertEqual(("approved", "ann"), (self.get()["state"], self.get()["approvedBy"]))
        self.write(OTHER)
        changed = self.get()
        self.assertEqual(("changed", FILE), (changed["state"], changed["approvedText"]))
        self.assertIn(f"+{OTHER.strip()}", changed["diff"])
        self.assertEqual(409, self.approve(hash_=found["hash"]).status)
        self.assertEqual(400, self.approve(hash_="x").status)
        self.assertEqual(200, self.approve().status)
        self.assertEqual("approved", self.get()["state"])
        self.world.good("ann", "DELETE", CASE)
        self.assertEqual("unapproved", self.get()["state"])

    def test_session_has_the_file_of_its_folder(self) -> None:
        session_id = self.start_session()
        path = f"/api/sessions/{session_id}/checks"
        self.assertEqual([], self.get(path)["checks"])
        self.assertEqual(200, self.approve(path=f"{path}/file").status)
        self.assertEqual("approved", self.get(f"{path}/file")["state"])
        found = self.get(path)
        self.assertEqual(("make test", True), (found["checks"][0]["command"], found["fromFile"]))
        self.assertEqual("approved", self.get()["state"])
        self.world.good("ann", "DELETE", f"{path}/file")
        self.assertEqual([], self.get(path)["checks"])

    def test_own_checks_of_the_case_win(self) -> None:
        path = f"/api/sessions/{self.start_session()}/checks"
        self.approve()
        own = {"checks": [{"name": "own", "command": "true"}]}
        self.world.good("ann", "PUT", "/api/cases/of-ann/checks", own)
        found = self.get(path)
        self.assertEqual(("own", False), (found["checks"][0]["name"], "fromFile" in found))

    def test_agent_and_accounts_without_the_grant_are_refused(self) -> None:
        self.world.good("root", "PUT", "/api/settings", {"agentTokens": True})
        made = self.start_session()
        token = (self.world.folder / FOLDER / made).read_text().strip()
        agent = {"Authorization": f"Bearer {token}"}
        for path in (CASE, f"/api/sessions/{made}/checks/file"):
            self.assertEqual(403, self.approve(agent, path).status)
            self.assertEqual(403, self.world.ask("DELETE", path, None, agent).status)
        for scope in ("sessions:manage", "cron"):
            self.assertEqual(403, self.approve(self.world.token("ann", scope)).status)
        self.world.good("root", "PATCH", "/api/admin/users/ann", {"canBypassPermissions": False})
        self.world.cookies["ann"] = self.world.sign_in("ann")
        self.assertEqual(403, self.approve().status)
        self.assertEqual("unapproved", self.get()["state"])

    def test_approval_of_one_account_counts_for_no_other(self) -> None:
        self.approve()
        made = self.world.good("bob", "POST", "/api/cases", {"name": "of-ann"})
        (Path(made["case"]["path"]) / FILE_NAME).write_text(FILE)
        self.assertEqual("unapproved", self.get(who="bob")["state"])

    def test_link_out_of_the_workspace_is_not_read(self) -> None:
        secret = self.world.folder / "secret"
        secret.write_text(FILE)
        (self.folder / FILE_NAME).unlink()
        (self.folder / FILE_NAME).symlink_to(secret)
        found = self.get()
        self.assertEqual(("invalid", "it is no plain file"), (found["state"], found["problem"]))
        self.assertNotIn("text", found)
