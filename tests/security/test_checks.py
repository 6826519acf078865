"""Saving checks is running commands later: who may, and what is refused (protocol-checks)."""

from __future__ import annotations

import json
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.security.harness import SecurityAnswer, SecurityHarness
from tservice.tokens.agent_tokens import FOLDER

PATH = "/api/cases/of-ann/checks"
CHECK = {"name": "tests", "command": "make test", "timeoutSeconds": 60, "paths": ["src/*"]}


class CheckRightTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.world = SecurityHarness()
        self.addCleanup(self.world.close)
        self.world.populate()
        self.world.good("ann", "POST", "/api/cases", {"name": "of-ann"})

    def put(self, who: Any = "ann", **fields: Any) -> SecurityAnswer:
        headers = self.world.page(who) if isinstance(who, str) else who
        return self.world.ask("PUT", PATH, {"checks": [CHECK], **fields}, headers)

    def grant(self, *, bypass: bool) -> None:
        self.world.good("root", "PATCH", "/api/admin/users/ann", {"canBypassPermissions": bypass})

    def test_checks_are_saved_as_they_were_sent(self) -> None:
        self.assertEqual([], self.world.good("ann", "GET", PATH)["checks"])
        found = self.put(onFailure="send_back", maxAttempts=2)
        self.assertEqual(200, found.status, found.body)
        saved = self.world.good("ann", "GET", PATH)
        self.assertEqual(([CHECK], "send_back", 2, "ann"), (
            saved["checks"], saved["onFailure"], saved["maxAttempts"], saved["updatedBy"]
        ))  # fmt: skip

    def test_field_that_breaks_a_rule_is_named(self) -> None:
        for change, field in (
            ({"timeoutSeconds": 3601}, "timeoutSeconds"),
            ({"timeoutSeconds": True}, "timeoutSeconds"),
            ({"command": ""}, "command"), ({"command": "a\u0000b"}, "command"),
            ({"name": "-"}, "name"), ({"paths": ["../x"]}, "paths"), ({"more": 1}, "more"),
        ):  # fmt: skip
            found = self.put(checks=[{**CHECK, **change}])
            self.assertEqual((400, "INVALID_INPUT"), (found.status, found.error), change)
            self.assertIn(field, json.loads(found.body)["error"])
        for fields in ({"maxAttempts": 6}, {"onFailure": "shout"}, {"checks": [CHECK] * 21}):
            found = self.put(**fields)
            self.assertEqual(400, found.status)
            self.assertIn(next(iter(fields)), json.loads(found.body)["error"])

    def test_account_without_the_grant_is_refused(self) -> None:
        self.assertEqual(200, self.put().status)
        self.grant(bypass=False)
        self.assertEqual(403, self.put(checks=[]).status)
        self.world.cookies["ann"] = self.world.sign_in("ann")
        self.assertEqual([CHECK], self.world.good("ann", "GET", PATH)["checks"])

    def test_token_without_the_scope_is_refused(self) -> None:
        for scope, status in (("sessions:manage", 403), ("sessions:input", 403), ("cron", 200)):
            found = self.put(self.world.token("ann", scope))
            self.assertEqual(status, found.status, (scope, found.body))

    def test_token_of_an_agent_is_refused(self) -> None:
        self.world.good("root", "PUT", "/api/settings", {"agentTokens": True})
        body = {"mode": "shell", "start": True, "caseName": "of-ann"}
        made = self.world.good("ann", "POST", "/api/sessions", body)["session"]["id"]
        token = (self.world.folder / FOLDER / made).read_text().strip()
        found = self.put({"Authorization": f"Bearer {token}"})
        self.assertEqual(403, found.status, found.body)
        self.assertEqual([], self.world.good("ann", "GET", PATH)["checks"])

    def test_checks_go_with_their_case(self) -> None:
        self.world.good("ann", "POST", "/api/cases", {"name": "other"})
        path = "/api/cases/other/checks"
        self.world.good("ann", "PUT", path, {"checks": [CHECK]})
        self.world.good("ann", "DELETE", "/api/cases/other")
        self.world.good("ann", "POST", "/api/cases", {"name": "other"})
        self.assertEqual([], self.world.good("ann", "GET", path)["checks"])
