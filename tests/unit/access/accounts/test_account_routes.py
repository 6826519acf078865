"""Accounts over HTTP, in the assembled service."""

from __future__ import annotations

import json
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.security.harness import PASSWORD, SecurityHarness
from tests.unit.http.gate_harness import basic_headers


class AccountRouteTests(SynchronousTestCase):
    """What admins send and get."""

    def setUp(self) -> None:
        self.world = SecurityHarness()
        self.addCleanup(self.world.close)
        self.world.populate()

    def root(self, method: str, path: str, body: object = None) -> Any:
        return self.world.good("root", method, f"/api/admin/users{path}", body)

    def refused(self, method: str, path: str, body: object) -> tuple[int, str | None]:
        headers = {"Cookie": self.world.cookies["root"]}
        found = self.world.ask(method, f"/api/admin/users{path}", body, headers)
        return found.status, found.error

    def test_accounts_are_listed_without_their_passwords(self) -> None:
        found = self.root("GET", "")
        names = [user["username"] for user in found["users"]]
        self.assertEqual(["ann", "bob", "flag", "root"], sorted(names))
        self.assertNotIn("argon2", json.dumps(found))
        self.assertEqual(
            ["canBypassPermissions", "createdAt", "enabled", "mustChangePassword", "osUser",
             "role", "username"],
            sorted(found["users"][0]),
        )  # fmt: skip

    def test_accounts_are_created_with_and_without_a_password(self) -> None:
        given = self.root("POST", "", {"username": "cleo", "password": PASSWORD})
        self.assertNotIn("oneTimePassword", given)
        self.assertFalse(given["user"]["mustChangePassword"])
        self.assertEqual("user", given["user"]["role"])
        once = self.root("POST", "", {"username": "dora", "role": "admin"})
        self.assertTrue(once["user"]["mustChangePassword"])
        me = self.world.ask("GET", "/api/me", None, basic_headers("dora", once["oneTimePassword"]))
        self.assertEqual(
            {
                "username": "dora",
                "role": "admin",
                "mustChangePassword": True,
                "multiUser": True,
                "signedIn": True,
                "canSetPassword": False,
            },
            json.loads(me.body)["data"],
        )

    def test_invalid_account_requests_are_refused(self) -> None:
        for method, path, body, want in (
            ("POST", "", {"username": "ann"}, (409, "USER_EXISTS")),
            ("POST", "", {"username": "Ann"}, (400, "INVALID_INPUT")),
            ("POST", "", {"username": "cleo", "password": "short"}, (400, "INVALID_INPUT")),
            ("POST", "", {"username": "cleo", "role": "owner"}, (400, "INVALID_INPUT")),
            ("POST", "", {"username": "cleo", "osUser": "nobody"}, (422, "OPERATION_FAILED")),
            ("PATCH", "/ann", {"username": "cleo"}, (400, "INVALID_INPUT")),
            ("PATCH", "/nobody", {"enabled": True}, (404, "USER_NOT_FOUND")),
            ("PATCH", "/root", {"role": "user"}, (409, "LAST_ADMIN")),
            ("PATCH", "/root", {"enabled": False}, (409, "LAST_ADMIN")),
            ("DELETE", "/root", None, (409, "LAST_ADMIN")),
            ("DELETE", "/nobody", None, (404, "USER_NOT_FOUND")),
            ("POST", "/nobody/reset-password", None, (404, "USER_NOT_FOUND")),
            ("POST", "/nobody/logout", None, (404, "USER_NOT_FOUND")),
        ):
            self.assertEqual(want, self.refused(method, path, body), (method, path, body))

    def test_name_with_remaining_sessions_is_refused(self) -> None:
        self.root("DELETE", "/ann")
        self.assertEqual((409, "CONFLICT"), self.refused("POST", "", {"username": "ann"}))
        self.world.good("root", "DELETE", f"/api/sessions/{self.world.session}")
        self.root("POST", "", {"username": "ann"})

    def test_signed_out_account_loses_its_tokens_on_request(self) -> None:
        make = {"name": "x", "scopes": ["sessions:read"]}
        word = self.world.good("bob", "POST", "/api/tokens", make)["token"]
        left = len(self.world.good("bob", "GET", "/api/tokens")["tokens"])
        self.assertEqual({"revoked": 1, "tokens": left}, self.root("POST", "/bob/logout"))
        bob = {"Cookie": self.world.cookies["bob"]}
        self.assertEqual(401, self.world.ask("GET", "/api/me", None, bob).status)
        token = {"Authorization": f"Bearer {word}"}
        self.assertEqual(200, self.world.ask("GET", "/api/sessions", None, token).status)
        ended = self.root("POST", "/bob/logout", {"tokens": True})
        self.assertEqual({"revoked": 0, "tokens": 0}, ended)
        self.assertEqual(401, self.world.ask("GET", "/api/sessions", None, token).status)

    def test_reset_password_is_one_time(self) -> None:
        once = self.root("POST", "/bob/reset-password")["oneTimePassword"]
        self.assertEqual(
            401, self.world.ask("GET", "/api/me", None, basic_headers("bob", PASSWORD)).status
        )
        found = self.world.ask("GET", "/api/sessions", None, basic_headers("bob", once))
        self.assertEqual((403, "PASSWORD_CHANGE_REQUIRED"), (found.status, found.error))

    def test_own_password_is_changed(self) -> None:
        bob = {"Cookie": self.world.cookies["bob"]}
        for body, want in (
            ({"currentPassword": "wrong word", "newPassword": "a better one"}, 403),
            ({"currentPassword": PASSWORD, "newPassword": "short"}, 400),
            ({"currentPassword": PASSWORD, "newPassword": PASSWORD}, 400),
            ({"currentPassword": PASSWORD, "newPassword": "a better one"}, 200),
        ):
            found = self.world.ask("PUT", "/api/me/password", body, bob)
            self.assertEqual(want, found.status, found)

    def test_shell_without_the_grant_is_refused(self) -> None:
        self.root("PATCH", "/bob", {"canBypassPermissions": False})
        bob = {"Cookie": self.world.sign_in("bob")}
        found = self.world.ask("POST", "/api/sessions", {"mode": "shell"}, bob)
        self.assertEqual((403, "FORBIDDEN"), (found.status, found.error))

    def test_cases_belong_to_their_account(self) -> None:
        made = self.world.good("bob", "POST", "/api/quick-start", {"mode": "shell"})
        self.assertEqual(str(self.world.cases("bob") / "testcase"), made["casePath"])
        own = {"mode": "shell", "caseName": "testcase"}
        ann = {"Cookie": self.world.cookies["ann"]}
        self.assertEqual(404, self.world.ask("POST", "/api/sessions", own, ann).status)

    def test_caps_are_per_account(self) -> None:
        limit = self.world.config.max_sessions_per_user
        for _ in range(limit):
            self.world.good("bob", "POST", "/api/sessions", {"mode": "shell"})
        bob = {"Cookie": self.world.cookies["bob"]}
        found = self.world.ask("POST", "/api/sessions", {"mode": "shell"}, bob)
        self.assertEqual((422, "OPERATION_FAILED"), (found.status, found.error))
        self.world.good("ann", "POST", "/api/sessions", {"mode": "shell"})


class SingleUserRouteTests(SynchronousTestCase):
    """Without accounts."""

    def test_single_user_service_has_no_account_routes(self) -> None:
        world = SecurityHarness(multiuser=False)
        self.addCleanup(world.close)
        paths = {operation.path for operation in world.operations}
        self.assertFalse([path for path in paths if path.startswith("/api/admin/users")])
        self.assertNotIn("/api/me/password", paths)
        self.assertLessEqual({"/api/tokens", "/api/admin/audit", "/api/me"}, paths)

    def test_token_narrows_rights_without_a_password(self) -> None:
        world = SecurityHarness(multiuser=False, password=None)
        self.addCleanup(world.close)
        body = {"name": "t", "scopes": ["waits"]}
        made = json.loads(world.ask("POST", "/api/tokens", body).body)["data"]
        token = {"Authorization": f"Bearer {made['token']}"}
        self.assertEqual(403, world.ask("GET", "/api/sessions", None, token).status)
        self.assertEqual(200, world.ask("GET", "/api/sessions").status)
