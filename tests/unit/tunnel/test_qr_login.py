"""Signing in by code."""

from __future__ import annotations

import os
from typing import Any

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.event_helpers import to_wire
from tservice.access.passwords.failures import CAP, FailureCounter
from tservice.core.callers.authentication import SignInRule
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.events import Event, EventAudience, EventHub
from tservice.tunnel.guess_limit import MAX_GUESSES
from tservice.tunnel.model import ROTATION_SECONDS
from tservice.tunnel.qr_login import QrLogin, QrLoginDependencies, TooManyGuesses, draw_qr_code

SIGNED_IN = ("cookie", "key")
URL = "https://a.example.org"


class LoginCase(SynchronousTestCase):
    deps: dict[str, Any] = {}

    def setUp(self) -> None:
        self.clock = Clock()
        self.clock.advance(1_000_000)
        self.events: list[Event] = []
        self.opened: list[tuple[str, str, str]] = []
        self.heard: list[tuple[Any, ...]] = []
        self.gone: set[str] = set()
        hub = EventHub()
        hub.subscribe(self.events.append)
        given: dict[str, Any] = {
            "clock": self.clock,
            "random": os.urandom,
            "hub": hub,
            "failures": FailureCounter(self.clock, lambda *what: self.heard.append(what)),
            "sign_in": self.sign_in,
            "standing": "admin",
            "sign_in_rule": SignInRule(is_required=True),
        }
        self.login = QrLogin(QrLoginDependencies(**{**given, **self.deps}))
        self.addCleanup(self.login.close)
        self.login.handle_tunnel_change(URL)

    def sign_in(self, username: str, address: str, agent: str) -> tuple[str, str] | None:
        if username in self.gone:
            return None
        self.opened.append((username, address, agent))
        return SIGNED_IN

    def code(self, owner: str = "admin") -> str:
        return self.login.get_display(owner).url.rpartition("/")[2]

    def enter(self, word: str, address: str = "203.0.113.1") -> tuple[str, str] | None:
        return self.login.sign_in_with_code(word, address, "phone")

    def named(self, name: str) -> list[Event]:
        return [event for event in self.events if event.name == f"tunnel:{name}"]


class QrLoginTests(LoginCase):
    def test_shown_code_is_a_url_and_a_picture(self) -> None:
        shown = self.login.get_display("admin")
        self.assertEqual(f"{URL}/q/{self.code()}", shown.url)
        self.assertEqual(draw_qr_code(shown.url), shown.svg)
        self.assertEqual((1_000_060_000, True), (shown.expires_at, shown.auth_enabled))

    def test_picture_of_a_code_is_drawn_once(self) -> None:
        self.assertIs(self.login.get_display("admin").svg, self.login.get_display("admin").svg)

    def test_picture_is_bare_svg(self) -> None:
        svg = draw_qr_code(f"{URL}/q/abc123")
        self.assertTrue(svg.startswith("<svg viewBox="))
        for word in ("<script", "style=", " on", "href", "xmlns"):
            self.assertNotIn(word, svg)

    def test_code_signs_in_once(self) -> None:
        code = self.code()
        self.assertEqual(SIGNED_IN, self.enter(code))
        self.assertEqual([("admin", "203.0.113.1", "phone")], self.opened)
        [event] = self.named("qrAuthUsed")
        self.assertEqual(
            {"ip": "203.0.113.1", "ua": "phone", "timestamp": 1_000_000_000}, to_wire(event)
        )
        self.assertIs(EventAudience.ADMINS, event.name.audience)
        self.assertIsNone(self.enter(code))
        self.assertEqual(1, len(self.named("qrAuthUsed")))

    def test_rotation_is_announced_to_its_owner_only(self) -> None:
        self.clock.advance(ROTATION_SECONDS)
        [event] = self.named("qrRotated")
        shown = self.login.get_display("admin")
        self.assertEqual(
            {"svg": shown.svg, "url": shown.url, "expiresAt": shown.expires_at}, to_wire(event)
        )
        self.assertEqual((EventAudience.PERSON, "admin"), (event.name.audience, event.owner))

    def test_regenerated_code_voids_the_old_one(self) -> None:
        code = self.code()
        shown = self.login.regenerate_code("admin")
        self.assertNotIn(code, shown.url)
        [event] = self.named("qrRegenerated")
        self.assertEqual(shown.svg, to_wire(event)["svg"])
        self.assertIsNone(self.enter(code))

    def test_renewing_all_codes_voids_them(self) -> None:
        codes = [self.code(), self.code("root")]
        self.login.replace_all_codes()
        self.assertEqual([None, None], [self.enter(code) for code in codes])
        self.assertEqual(SIGNED_IN, self.enter(self.code("root")))

    def test_changed_tunnel_voids_the_codes(self) -> None:
        code = self.code()
        self.login.handle_tunnel_change(None)
        error = self.assertRaises(ServiceError, self.login.get_display, "admin")
        self.assertIs(ErrorCode.NOT_FOUND, error.code)
        self.assertRaises(ServiceError, self.login.regenerate_code, "admin")
        self.assertEqual([], self.clock.getDelayedCalls())
        self.login.handle_tunnel_change(URL)
        self.assertIsNone(self.enter(code))

    def test_code_of_a_removed_account_is_refused(self) -> None:
        code = self.code("root")
        self.gone.add("root")
        self.assertIsNone(self.enter(code))
        self.assertEqual([], self.named("qrAuthUsed"))

    def test_code_of_a_changed_account_is_refused(self) -> None:
        code = self.code("root")
        self.login.revoke_codes("root")
        self.assertIsNone(self.enter(code))


class CapTests(LoginCase):
    def test_failures_of_an_address_are_capped_at_ten(self) -> None:
        for _ in range(CAP):
            self.assertIsNone(self.enter("wrong1"))
        error = self.assertRaises(TooManyGuesses, self.enter, self.code())
        self.assertEqual(900, error.seconds)
        self.assertEqual([], self.opened)
        self.assertTrue(self.heard[-1][-1])  # noted as locked
        self.assertEqual(SIGNED_IN, self.enter(self.code(), "203.0.113.2"))
        self.clock.advance(900)
        self.assertEqual(SIGNED_IN, self.enter(self.code()))

    def test_failures_of_all_addresses_are_capped_at_thirty(self) -> None:
        for number in range(MAX_GUESSES):
            self.assertIsNone(self.enter("wrong1", f"203.0.113.{number}"))
        error = self.assertRaises(TooManyGuesses, self.enter, self.code(), "198.51.100.1")
        self.assertEqual(60, error.seconds)
        self.clock.advance(60)
        self.assertEqual(SIGNED_IN, self.enter(self.code(), "198.51.100.1"))

    def test_password_caps_are_separate(self) -> None:
        for _ in range(CAP):
            self.enter("wrong1")
        self.assertEqual({"qr"}, {what[0] for what in self.heard})

    def test_successful_code_is_no_failure(self) -> None:
        for _ in range(MAX_GUESSES + CAP):
            self.assertEqual(SIGNED_IN, self.enter(self.code()))


class OpenQrLoginTests(LoginCase):
    """A service that asks nobody who they are, as its operator wants it."""

    deps = {"sign_in_rule": SignInRule(is_required=False), "standing": "admin"}

    def test_open_service_shows_its_address_without_a_code(self) -> None:
        shown = self.login.get_display("admin")
        self.assertEqual((URL, None, False), (shown.url, shown.expires_at, shown.auth_enabled))
        self.assertEqual(shown, self.login.regenerate_code("admin"))
        self.assertEqual([], self.events)
        self.assertEqual([], self.clock.getDelayedCalls())


class MultiuserQrLoginTests(LoginCase):
    deps = {"standing": None}

    def test_accounts_have_no_code_before_asking(self) -> None:
        self.assertEqual([], self.clock.getDelayedCalls())
        self.assertNotEqual(self.code("ann"), self.code("bob"))
        self.enter(self.code("bob"))
        self.assertEqual("bob", self.opened[0][0])
