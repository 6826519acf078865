"""The recipe of docs/howto/tailscale.rst: C{tailscale serve} stands in front.

The headers are those that tailscaled sets since 1.90; it removes what a client sent under the names
of an identity.
"""

from __future__ import annotations

import json
from typing import Any

from tests.security.attack_harness import AttackCase
from tests.security.harness import PASSWORD, SecurityAnswer
from tests.unit.http.gate_harness import basic_headers

NAME = "box.tail1234.ts.net"
CLIENT = "100.64.0.9"
SERVE = {
    "Host": NAME,
    "X-Forwarded-Host": NAME,
    "X-Forwarded-Proto": "https",
    "X-Forwarded-For": CLIENT,
    "Tailscale-User-Login": "root",
    "Tailscale-User-Name": "root",
    "Tailscale-User-Profile-Pic": "https://example.org/root.png",
    "Tailscale-Headers-Info": "https://tailscale.com/s/serve-headers",
}


class ServeCase(AttackCase):
    """A single-user service behind the proxy."""

    config: dict[str, Any] = {"multiuser": False, "trusted_proxies": ("127.0.0.1",)}

    def populate(self) -> None:
        """Nobody is signed in."""

    def serve(self, method: str, path: str, body: object = None, **more: str) -> SecurityAnswer:
        """A request as the proxy passes it on."""
        return self.ask(method, path, body, headers={**SERVE, **more}, address="127.0.0.1")

    def sign_in(self) -> SecurityAnswer:
        body = {"username": "root", "password": PASSWORD}
        return self.serve("POST", "/api/login", body, Origin=f"https://{NAME}")


class ServeRecipeTests(ServeCase):
    """With C{trusted-proxies}, as the page says."""

    def test_password_signs_in_through_the_proxy(self) -> None:
        answer = self.sign_in()
        self.assertEqual(200, answer.status, answer.body)
        self.assertIn("Secure", answer.headers["set-cookie"])
        key = json.loads(answer.body)["data"]["key"]
        page = {
            "Cookie": answer.headers["set-cookie"].partition(";")[0],
            "X-Service-Key": key,
        }
        self.assertEqual(200, self.serve("GET", "/api/me", **page).status)
        found = json.loads(self.serve("GET", "/api/tunnel/status", **page).body)["data"]
        self.assertEqual([CLIENT], [each["ip"] for each in found["authSessions"]])
        phone = json.loads(self.serve("GET", "/api/tunnel/phone", **page).body)["data"]
        self.assertEqual(f"https://{NAME}/", phone["url"])
        self.assertIn("<svg", phone["svg"])

    def test_identity_headers_sign_nobody_in(self) -> None:
        self.assertEqual(401, self.serve("GET", "/api/me").status)
        self.assertEqual(401, self.serve("GET", "/api/sessions").status)

    def test_other_site_cannot_use_the_address(self) -> None:
        body = {"username": "root", "password": PASSWORD}
        for origin in ("https://evil.example", f"http://{NAME}"):
            self.assertEqual(403, self.serve("POST", "/api/login", body, Origin=origin).status)


class UnlistedProxyTests(ServeCase):
    """Without C{trusted-proxies} nothing that the proxy says is believed."""

    config = {"multiuser": False}

    def test_headers_of_an_unlisted_proxy_are_ignored(self) -> None:
        self.assertEqual(401, self.serve("GET", "/api/me").status)
        answer = self.sign_in()
        self.assertEqual(200, answer.status)
        self.assertNotIn("Secure", answer.headers["set-cookie"])
        headers = basic_headers("root", PASSWORD)
        shown = self.ask("GET", "/api/tunnel/status", headers=headers, address="127.0.0.1")
        ips = {each["ip"] for each in json.loads(shown.body)["data"]["authSessions"]}
        self.assertEqual({"127.0.0.1"}, ips)

    def test_page_on_this_machine_has_no_address_for_a_phone(self) -> None:
        headers = basic_headers("root", PASSWORD)
        for host in ("localhost:8770", "127.0.0.1", "[::1]"):
            answer = self.ask("GET", "/api/tunnel/phone", headers={**headers, "Host": host})
            self.assertEqual((None, None), self._shown(answer), host)

    def _shown(self, answer: SecurityAnswer) -> tuple[object, object]:
        data = json.loads(answer.body)["data"]
        return data["url"], data["svg"]
