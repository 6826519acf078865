"""What an account drives that lost the right to have it run (protocol-driving)."""

from __future__ import annotations

import json
from typing import Any

from tests.fakes.multiplexer.multiplexer import HostedPane
from tests.security.attack_harness import AttackCase
from tests.security.harness import SecurityAnswer
from tests.unit.http.site_driver import MemoryTransport, SiteConnection, request_head
from tests.unit.http.websockets.ws_frames import TEXT, UPGRADE, masked_frame, read_frames


class LostGrantTests(AttackCase):
    """C{ann} made a shell while she had the grant; an admin took it away."""

    def setUp(self) -> None:
        super().setUp()
        self.path = f"/api/sessions/{self.world.session}"
        self.token = self.world.token("ann", "sessions:input", "sessions:read")
        self.change(canBypassPermissions=False)
        self.typed = self.seen()

    def change(self, **fields: Any) -> None:
        self.world.good("root", "PATCH", "/api/admin/users/ann", fields)
        self.world.cookies["ann"] = self.world.sign_in("ann")

    @property
    def pane(self) -> HostedPane:
        return self.world.host[self.world.session]

    def seen(self) -> tuple[bytes, list[str], list[str]]:
        return bytes(self.pane.typed), [*self.pane.keys], [*self.pane.pastes]

    def refused(self, answer: SecurityAnswer) -> None:
        self.assertEqual((403, "FORBIDDEN"), (answer.status, answer.error), answer.body)
        self.assertIn("Shell needs the grant", answer.body)
        self.assertEqual(self.typed, self.seen())

    def test_lost_grant_allows_no_typing(self) -> None:
        bodies: tuple[tuple[str, dict[str, Any]], ...] = (
            ("input", {"input": "id > pwned\r"}),
            ("input", {"input": "id > pwned\r", "wait": True, "waitTimeout": 1000}),
            ("input", {"input": "\x1b[A\r", "useMux": False, "clientId": "c", "seq": 1}),
            ("send-key", {"key": "Enter"}),
        )
        for headers in (self.cookie("ann"), self.token):
            for name, body in bodies:
                self.refused(self.ask("POST", f"{self.path}/{name}", body, headers=headers))

    def test_lost_grant_still_allows_reading_and_ending(self) -> None:
        for headers in (self.cookie("ann"), self.token):
            answer = self.ask("GET", f"{self.path}/terminal", headers=headers)
            self.assertEqual(200, answer.status, answer.body)
        self.assertEqual(200, self.ask("DELETE", self.path, headers=self.cookie("ann")).status)

    def test_terminal_input_is_refused_and_the_terminal_stays_open(self) -> None:
        """Its frames of input are answered as those that could not be typed; it goes on."""
        connection = SiteConnection(self.world.site, MemoryTransport("10.1.1.1"))
        self.addCleanup(connection.lose)
        path = f"/ws/sessions/{self.world.session}/terminal"
        connection.send(request_head("GET", path, {**UPGRADE, **self.cookie("ann")}))
        self.world.clock.advance(1)
        connection.send(masked_frame(TEXT, b'{"t":"i","d":"id > pwned\\r","seq":1}'))
        self.world.clock.advance(1)
        self.pane.emit_output(b"still running")
        self.world.clock.advance(1)
        sent = [*read_frames(connection.value().partition(b"\r\n\r\n")[2])]
        told = [json.loads(it.payload) for it in sent if it.first == 0x81]
        self.assertIn({"t": "ack", "seq": 1, "err": "FORBIDDEN"}, told)
        self.assertIn(b"still running", [it.payload for it in sent if it.first == 0x82])
        self.assertEqual(self.typed, self.seen())

    def test_admin_may_still_type(self) -> None:
        body = {"input": "exit\r"}
        answer = self.ask("POST", f"{self.path}/input", body, headers=self.cookie())
        self.assertEqual(200, answer.status, answer.body)
        self.assertNotEqual(self.typed, self.seen())

    def test_restored_grant_allows_typing_again(self) -> None:
        self.change(canBypassPermissions=True)
        self.world.good("ann", "POST", f"{self.path}/input", {"input": "exit\r"})
