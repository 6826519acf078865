"""Users among each other, floods of strangers, and what the audit log tells of all of them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.security.attack_harness import AttackCase
from tests.security.harness import PASSWORD, SOON
from tests.unit.http.gate_harness import basic_headers
from tests.unit.http.site_driver import MemoryTransport, SiteConnection, request_head
from tservice.access.passwords.failures import LOOK_SECONDS, MAX_COUNTED, WINDOW_SECONDS
from tservice.audit.service import REPEAT_SECONDS


class OwnershipTests(AttackCase):
    """One user's sessions in everything that another one can read."""

    def test_lists_and_states_show_only_own_sessions(self) -> None:
        for path in ("/api/sessions", "/api/status", "/api/v1/sessions"):
            found = self.ask("GET", path, headers=self.cookie("bob"))
            self.assertEqual(200, found.status)
            self.assertNotIn(self.world.session, found.body)
            self.assertIn(
                self.world.session, self.ask("GET", path, headers=self.cookie("ann")).body
            )

    def test_unknown_and_foreign_sessions_look_alike(self) -> None:
        unknown = self.world.session.replace(self.world.session[:4], "0000")
        foreign = self.ask("GET", f"/api/sessions/{self.world.session}", headers=self.cookie("bob"))
        missing = self.ask("GET", f"/api/sessions/{unknown}", headers=self.cookie("bob"))
        self.assertEqual(missing.status, foreign.status)
        self.assertEqual(
            missing.body.replace(unknown, "-"), foreign.body.replace(self.world.session, "-")
        )

    def test_parent_session_of_another_account_is_refused(self) -> None:
        body = {"mode": "shell", "parentSessionId": self.world.session}
        found = self.ask("POST", "/api/sessions", body, headers=self.cookie("bob"))
        self.assertEqual(404, found.status)

    def test_ending_all_sessions_ends_only_own_ones(self) -> None:
        found = self.world.good("bob", "DELETE", "/api/sessions")
        self.assertEqual({"killed": 0}, found)
        self.assertIn(self.world.session, self.world.host.panes)

    def test_new_account_of_a_reused_name_receives_no_old_events(self) -> None:
        """The name of a user who is gone is given again: what that one missed is nobody's."""
        heard = self.raw(
            request_head("GET", "/api/events", {"Host": "localhost", **self.cookie("bob")})
        )
        found = re.search(rb"id: (\S+)", heard)
        assert found is not None, heard
        again = {"Host": "localhost", "Last-Event-ID": found[1].decode()}
        body = {"mode": "shell", "name": "of the first bob"}
        made = self.world.good("bob", "POST", "/api/sessions", body)["session"]["id"]
        self.world.good("bob", "DELETE", f"/api/sessions/{made}")
        mine = self.raw(request_head("GET", "/api/events", {**again, **self.cookie("bob")}))
        self.assertIn(b"of the first bob", mine)
        self.world.good("root", "DELETE", "/api/admin/users/bob")
        account = {"username": "bob", "password": PASSWORD}
        self.world.good("root", "POST", "/api/admin/users", account)
        heard = self.raw(
            request_head("GET", "/api/events", {**again, **basic_headers("bob", PASSWORD)})
        )
        self.assertIn(b"event: init", heard)
        self.assertNotIn(b"of the first bob", heard)

    def test_folders_of_other_accounts_are_refused(self) -> None:
        for folder in ("/", "/etc", str(self.world.folder), str(self.world.config.cases_dir)):
            body = {"mode": "shell", "workingDir": folder}
            found = self.ask("POST", "/api/sessions", body, headers=self.cookie("bob"))
            self.assertIn(found.status, (400, 403), folder)
        self.assertNoEffect()

    def test_existence_of_outside_folders_is_not_revealed(self) -> None:
        """A folder that is there is refused like one that is not, a file and a loop of links."""
        own = self.world.cases("bob")
        (own / "loop").symlink_to(own / "loop")
        (own / "out").symlink_to("/etc")
        answers = set()
        for folder in ("/etc", "/not/there", "/etc/passwd", f"{own}/out", f"{own}/out/nothing"):
            body = {"mode": "shell", "workingDir": folder}
            found = self.ask("POST", "/api/sessions", body, headers=self.cookie("bob"))
            answers.add((found.status, found.body))
        self.assertEqual([403], [status for status, _ in answers])
        for folder in (f"{own}/nothing", f"{own}/loop", f"{own}/{'x' * 300}"):
            body = {"mode": "shell", "workingDir": folder}
            found = self.ask("POST", "/api/sessions", body, headers=self.cookie("bob"))
            self.assertEqual((400, "INVALID_INPUT"), (found.status, found.error), folder)

    def test_events_of_other_accounts_are_not_received(self) -> None:
        streams = {}
        for name in ("root", "ann", "bob"):
            streams[name] = SiteConnection(self.world.site, MemoryTransport("10.1.1.1"))
            self.addCleanup(streams[name].lose)
            cookie = self.cookie(name)["Cookie"]
            head = f"GET /api/events HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n"
            streams[name].send(head.encode())
        self.world.good("ann", "PUT", f"/api/sessions/{self.world.session}/name", {"name": "zebra"})
        self.world.good("root", "POST", "/api/admin/users", {"username": "cleo"})
        text = {name: stream.value().decode() for name, stream in streams.items()}
        self.assertEqual([True, True, False], ["zebra" in text[n] for n in ("root", "ann", "bob")])
        self.assertEqual(
            [True, False, False], ["admin:usersChanged" in text[n] for n in ("root", "ann", "bob")]
        )


@pytest.mark.extended
class LoginFloodUserTests(AttackCase):
    """Ten thousand wrong logins from one address."""

    def test_real_user_can_sign_in_during_a_flood(self) -> None:
        address = "203.0.113.7"
        world = self.world
        statuses = set()
        for number in range(10_000):
            headers = basic_headers(f"user{number}", "guess")
            statuses.add(world.ask("GET", "/api/me", headers=headers, address=address).status)
        self.assertEqual({401, 429}, statuses)
        inside = self.cookie("ann")
        self.assertEqual(200, world.ask("GET", "/api/me", headers=inside, address=address).status)
        right = basic_headers("bob", PASSWORD)
        self.assertEqual(429, world.ask("GET", "/api/me", headers=right, address=address).status)
        world.clock.advance(LOOK_SECONDS)
        body = {"username": "ann", "password": PASSWORD}
        found = world.ask("POST", "/api/login", body, address=address)
        self.assertEqual(200, found.status)
        elsewhere = world.ask(
            "GET", "/api/me", headers=basic_headers("bob", "x"), address="198.51.100.1"
        )
        self.assertEqual(401, elsewhere.status)
        self.assertBounded()

    def assertBounded(self) -> None:
        gate: Any = self.world.site.kernel._gate
        self.assertLessEqual(len(gate._failures._windows), MAX_COUNTED)
        self.world.clock.advance(WINDOW_SECONDS)
        rows = self.world.good("root", "GET", "/api/admin/audit?action=login.failed&limit=500")
        self.assertLess(len(rows["entries"]), 10)
        self.assertGreater(self.world.clock.seconds(), SOON)


class AuditStoryTests(AttackCase):
    """What was done can be read, and what was typed cannot."""

    def test_account_cannot_flush_the_audit_log(self) -> None:
        """An ordinary request, over and over, is an entry and a number."""
        before = len(self.world.good("root", "GET", "/api/admin/audit?limit=500")["entries"])
        for _ in range(300):
            self.ask(
                "PUT",
                "/api/session-order",
                {"order": []},
                headers=self.cookie("bob"),
                address="192.0.2.9",
            )
        self.world.clock.advance(REPEAT_SECONDS)
        self.world.cookies["root"] = self.world.sign_in("root")
        found = self.world.good("root", "GET", "/api/admin/audit?limit=500")["entries"]
        flood = [entry for entry in found if entry["action"] == "PUT /api/session-order"]
        self.assertEqual([300, None], [entry["detail"].get("times") for entry in flood])
        self.assertEqual(before + 3, len(found))

    def test_audit_log_records_actions_without_typed_text(self) -> None:
        path = f"/api/sessions/{self.world.session}/input"
        self.world.good("ann", "POST", path, {"input": "hunter2\r"})
        self.ask("GET", "/api/me", headers=basic_headers("ann", "hunter2wrong"))
        self.world.token("ann", "waits")
        self.world.good("ann", "DELETE", f"/api/sessions/{self.world.session}")
        self.world.clock.advance(WINDOW_SECONDS)
        self.world.cookies["root"] = self.world.sign_in("root")
        found = self.world.good("root", "GET", "/api/admin/audit?limit=500")["entries"]
        actions = {entry["action"] for entry in found}
        wanted = {
            "login",
            "login.failed",
            "POST /api/admin/users",
            "POST /api/sessions",
            "POST /api/sessions/{id}/input",
            "DELETE /api/sessions/{id}",
            "POST /api/tokens",
        }
        self.assertLessEqual(wanted, actions)
        self.assertNotIn("hunter2", json.dumps(found))
        self.assertNotIn(PASSWORD, json.dumps(found))
