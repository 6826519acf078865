"""Somebody who waits for an answer, and the ways of losing the right to it meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen

from tests.security.attack_harness import AttackCase
from tests.security.harness import PASSWORD
from tests.unit.http.gate_harness import basic_headers
from tests.unit.http.site_driver import MemoryTransport, SiteConnection, request_head

MARK = "the zebra of another"

Revocation = Callable[["LateCase"], object]


@frozen
class RightLoss:
    """One way of losing a right.

    @ivar shown: the headers of the one who loses it, made before.
    """

    title: str
    shown: Callable[[LateCase], dict[str, str]]
    work: Revocation


class LateCase(AttackCase):
    """Root and another admin, who waits for what ann's session prints."""

    def setUp(self) -> None:
        super().setUp()
        self.count = self.prints = 0
        self.newcomer()

    def newcomer(self) -> None:
        """Another admin takes the place of the one before."""
        self.count += 1
        self.name = f"max{self.count}"
        self.own = f"/api/admin/users/{self.name}"
        body = {"username": self.name, "password": PASSWORD, "role": "admin"}
        self.world.good("root", "POST", "/api/admin/users", body)
        self.world.cookies["max"] = self.world.sign_in(self.name)

    def park(
        self, method: str, path: str, headers: dict[str, str], body: bytes = b""
    ) -> SiteConnection:
        """A request that is not answered yet."""
        connection = SiteConnection(self.world.site, MemoryTransport("10.1.1.1"))
        self.addCleanup(connection.lose)
        named = dict(headers)
        if body:
            named |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        connection.send(request_head(method, path, named) + body)
        self.assertEqual(b"", connection.value(), path)
        return connection

    def watch(self, headers: dict[str, str]) -> SiteConnection:
        """Wait for a word of ann's session."""
        path = f"/api/sessions/{self.world.session}/wait-output?match=zebra&timeout=600000"
        return self.park("GET", path, headers)

    def print_mark(self) -> bytes:
        """Print what nobody has seen before."""
        self.prints += 1
        mark = f"{MARK} {self.prints}".encode()
        self.world.host[self.world.session].emit_output(mark + b"\r\n")
        self.world.clock.advance(1)
        return mark

    def patch_max(self, **changes: Any) -> None:
        self.world.good("root", "PATCH", self.own, changes)

    def as_max(self, method: str, path: str, body: object = None) -> None:
        self.assertEqual(200, self.ask(method, path, body, headers=self.cookie("max")).status)

    def delete_tokens(self) -> None:
        for token in self.world.good("max", "GET", "/api/tokens")["tokens"]:
            self.world.good("max", "DELETE", f"/api/tokens/{token['id']}")

    def revoke_session(self) -> None:
        """End max' cookie sessions one by one, as the list of devices does."""
        sessions = self.world.good("root", "GET", "/api/tunnel/status")["authSessions"]
        for one in sessions:
            if one["username"] == self.name:
                self.world.good("root", "POST", "/api/auth/revoke", {"sessionId": one["id"]})


def of_cookie(case: LateCase) -> dict[str, str]:
    return case.cookie("max")


def of_token(case: LateCase) -> dict[str, str]:
    return case.world.token("max", "waits", "sessions:read", "events", "sessions:input")


def of_brief_token(case: LateCase) -> dict[str, str]:
    """One that ends in five minutes and a half."""
    expires = int((case.world.clock.seconds() + 330) * 1000)
    return case.world.token("max", "waits", "events", expiresAt=expires)


def of_password(case: LateCase) -> dict[str, str]:
    return basic_headers(case.name, PASSWORD)


NEW = {"currentPassword": PASSWORD, "newPassword": "another word"}
ENDS = [
    *(
        end
        for shown in (of_cookie, of_token, of_password)
        for end in (
            RightLoss("demoted", shown, lambda case: case.patch_max(role="user")),
            RightLoss("disabled", shown, lambda case: case.patch_max(enabled=False)),
            RightLoss("removed", shown, lambda case: case.world.good("root", "DELETE", case.own)),
        )
    ),
    *(
        end
        for shown in (of_cookie, of_password)
        for end in (
            RightLoss(
                "given a password", shown, lambda case: case.patch_max(password="a new word")
            ),
            RightLoss("password", shown, lambda case: case.as_max("PUT", "/api/me/password", NEW)),
            RightLoss(
                "signed out", shown, lambda it: it.world.good("root", "POST", f"{it.own}/logout")
            ),
            RightLoss("session revoked", shown, LateCase.revoke_session),
        )
    ),
    RightLoss("logs out", of_cookie, lambda case: case.as_max("POST", "/api/logout")),
    RightLoss("token deleted", of_token, LateCase.delete_tokens),
    RightLoss("token expired", of_brief_token, lambda case: case.world.clock.advance(330)),
    RightLoss(
        "reset", of_token, lambda it: it.world.good("root", "POST", f"{it.own}/reset-password")
    ),
]
