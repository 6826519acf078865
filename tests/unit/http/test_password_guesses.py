"""How many passwords are looked at once a failure cap is reached, and for whom."""

from __future__ import annotations

from unittest.mock import patch

from twisted.internet.defer import Deferred

from tests.unit.http.gate_harness import GateCase, basic_headers
from tests.unit.http.site_driver import SiteConnection, parse_http_answer, request_head
from tservice.access.passwords.failures import (
    CAP,
    LOOK_SECONDS,
    MAX_TURNS,
    TURN_SECONDS,
    WINDOW_SECONDS,
    LockoutEvent,
)
from tservice.access.passwords.passwords import SingleAccount
from tservice.access.passwords.sign_in import KNOWN_SECONDS, MAX_KNOWN, KnownAddresses
from tservice.core.callers.authentication import FailureBucket
from tservice.core.callers.identity import Identity


class GuessCase(GateCase):
    """Counts the passwords that are looked at."""

    address = "203.0.113.7"

    def setUp(self) -> None:
        super().setUp()
        self.looked = 0
        check = SingleAccount.check_password

        async def counted(
            account: SingleAccount, username: str, password: str, place: str = ""
        ) -> Identity | None:
            self.looked += 1
            return await check(account, username, password, place)

        patched = patch.object(SingleAccount, "check_password", counted)
        patched.start()
        self.addCleanup(patched.stop)

    def guess(self, times: int = 1, name: str = "admin") -> list[int]:
        return [self.ask(basic_headers(name, f"wrong{n}")).status for n in range(times)]

    def flood(self, name: str = "admin") -> None:
        """Reach the cap of the address."""
        self.assertEqual([401] * CAP, self.guess(CAP, name))
        self.looked = 0


class StrangerTests(GuessCase):
    """An address that never signed in."""

    def test_capped_address_has_one_password_checked_in_five_seconds(self) -> None:
        self.flood()
        for _ in range(3):
            self.assertEqual([429] * 200, self.guess(200))
            self.assertEqual(429, self.ask(basic_headers()).status)
            self.assertEqual(429, self.login().status)
            self.assertEqual(0, self.looked)
            self.clock.advance(LOOK_SECONDS)
            self.assertEqual([401], self.guess())
            self.assertEqual(1, self.looked)
            self.looked = 0
        self.clock.advance(LOOK_SECONDS)
        self.assertEqual(200, self.ask(basic_headers()).status)

    def test_refusal_names_the_time_of_the_next_check(self) -> None:
        self.flood()
        self.clock.advance(1.5)
        self.assertEqual("4", self.ask(basic_headers()).headers["retry-after"])

    def test_cap_of_a_stranger_ends_with_its_window(self) -> None:
        self.flood()
        self.clock.advance(WINDOW_SECONDS)
        self.assertEqual([401] * CAP, self.guess(CAP))

    def test_guesses_of_a_name_are_capped_over_all_addresses(self) -> None:
        for number in range(CAP):
            self.address = f"198.51.{number}.1"
            self.assertEqual([401], self.guess())
        self.looked = 0
        found: list[int] = []
        for number in range(50):
            self.address = f"192.0.{number}.1"
            found += self.guess()
        self.assertEqual([429] * 50, found)
        self.assertEqual(0, self.looked)
        self.clock.advance(LOOK_SECONDS)
        self.assertEqual([401, 429], self.guess(2))
        self.assertEqual([401], self.guess(name="another"))

    def test_delayed_checks_from_many_addresses_count_for_the_name(self) -> None:
        """Or many addresses over their own caps would guess one name without a cap."""
        for number in range(CAP + 5):
            self.address = f"198.51.{number}.1"
            self.flood(f"other{number}")
        self.clock.advance(LOOK_SECONDS)
        found: list[int] = []
        for number in range(CAP + 5):
            self.address = f"198.51.{number}.1"
            found += self.guess()
        self.assertEqual([401] * CAP + [429] * 5, found)

    def test_cookie_is_not_delayed(self) -> None:
        page = self.page(self.login())
        self.address = "203.0.113.8"
        self.flood()
        self.assertEqual(200, self.ask(page).status)
        self.assertEqual(200, self.ask({"X-User": "ann"}).status)

    def test_request_without_a_password_is_no_guess(self) -> None:
        self.flood()
        self.assertEqual(401, self.ask().status)
        self.assertEqual(401, self.ask({"Accept": "text/html"}, "/").status)


class KnownTests(GuessCase):
    """An address that somebody signed in from."""

    def setUp(self) -> None:
        super().setUp()
        self.assertEqual(200, self.login().status)

    def send(self, headers: dict[str, str], address: str | None = None) -> SiteConnection:
        connection = self.api.connect(address or self.address)
        connection.send(request_head("GET", "/api/who", headers))
        return connection

    def flood(self, name: str = "admin") -> None:
        self.assertEqual([401] * (CAP + 1), self.guess(CAP + 1, name))
        self.looked = 0

    def statuses(self, asked: list[SiteConnection]) -> list[int]:
        return [parse_http_answer(one.value()).status for one in asked if one.value()]

    def test_request_from_a_known_address_waits_its_turn(self) -> None:
        self.flood()
        asked = [self.send(basic_headers(password=f"x{n}")) for n in range(3)] + [
            self.send(basic_headers())
        ]
        self.assertEqual((0, []), (self.looked, self.statuses(asked)))
        for number in range(4):
            self.clock.advance(TURN_SECONDS)
            self.assertEqual(number + 1, self.looked)
        self.assertEqual([401, 401, 401, 200], self.statuses(asked))

    def test_waiting_checks_are_bounded(self) -> None:
        self.flood()
        asked = [self.send(basic_headers(password=f"x{n}")) for n in range(500)]
        self.assertEqual([429] * (500 - MAX_TURNS), self.statuses(asked))
        self.clock.pump([TURN_SECONDS] * MAX_TURNS)
        self.assertEqual(MAX_TURNS, self.looked)
        self.assertEqual(500, len(self.statuses(asked)))

    def test_one_password_sent_by_many_requests_is_checked_once(self) -> None:
        """A program sends its password with each request, and may send many at once."""
        self.flood()
        asked = [self.send(basic_headers()) for _ in range(50)]
        self.clock.advance(TURN_SECONDS)
        self.assertEqual((1, [200] * 50), (self.looked, self.statuses(asked)))

    def test_guessing_strangers_do_not_delay_the_owner_of_the_name(self) -> None:
        home = self.address
        for number in range(CAP + 5):
            self.address = f"198.51.{number}.1"
            self.guess()
        self.address = home
        self.assertEqual(200, self.ask(basic_headers()).status)

    def test_other_name_at_a_known_address_waits_too(self) -> None:
        """Nobody is locked out of their own house."""
        for number in range(CAP):
            self.guess(name=f"name{number}")
        self.assertEqual(200, self.ask(basic_headers()).status)
        asked = [self.send(basic_headers("carol", "x")), self.send(basic_headers(password="x"))]
        self.clock.pump([TURN_SECONDS] * 2)
        self.assertEqual([401, 401], self.statuses(asked))

    def test_known_address_gives_no_turns_to_another_name(self) -> None:
        """Or whoever has an account could guess others' passwords once a second."""
        for number in range(CAP):
            self.address = f"198.51.{number}.1"
            self.guess(name="bob")
        self.address = "203.0.113.7"
        self.assertEqual([429] * 5, self.guess(5, "bob"))

    def test_known_address_is_forgotten_after_thirty_days(self) -> None:
        self.clock.advance(KNOWN_SECONDS + 1)
        self.assertEqual([401] * CAP + [429] * 3, self.guess(CAP + 3))

    def test_known_address_survives_a_restart(self) -> None:
        known = KnownAddresses(self.clock, [("ann", "2001:db8::1", 0), ("ann", "192.0.2.1", 5)])
        self.assertTrue(known.has_anyone_signed_in_from("2001:db8::2"))
        self.assertFalse(known.has_user_signed_in_from("2001:db8::2", "bob"))
        self.clock.advance(KNOWN_SECONDS + 0.004)
        self.assertEqual(
            (False, True),
            (
                known.has_anyone_signed_in_from("2001:db8::1"),
                known.has_anyone_signed_in_from("192.0.2.1"),
            ),
        )

    def test_known_addresses_are_bounded(self) -> None:
        for number in range(MAX_KNOWN + 1):
            self.known_addresses.record_sign_in("ann", f"192.0.2.{number}")
        found = [
            self.known_addresses.has_user_signed_in_from(f"192.0.2.{n}", "ann")
            for n in range(MAX_KNOWN + 1)
        ]
        self.assertEqual([False] + [True] * MAX_KNOWN, found)

    def test_stopped_service_ends_waiting_checks(self) -> None:
        self.flood()
        asked = [self.send(basic_headers(password="x"))]
        assert self.passwords is not None
        self.passwords.close()
        self.assertEqual([429], self.statuses(asked))
        self.assertEqual(set(), self.passwords._waiting)

    def test_disconnected_client_does_not_fail_others(self) -> None:
        self.flood()
        self.send(basic_headers(password="x")).lose()
        asked = [self.send(basic_headers())]
        self.clock.pump([TURN_SECONDS] * 2)
        self.assertEqual([200], self.statuses(asked))


class ManyAtOnceTests(GuessCase):
    """Passwords whose hashes are still being computed."""

    def setUp(self) -> None:
        super().setUp()
        self.hashes: list[Deferred[Identity | None]] = []

        async def slow(*shown: str) -> Identity | None:
            self.looked += 1
            self.hashes.append(Deferred())
            return await self.hashes[-1]

        self.patch(self.account, "check_password", slow)

    def test_simultaneous_guesses_do_not_pass_the_cap(self) -> None:
        for number in range(3 * CAP):
            connection = self.api.connect(self.address)
            connection.send(request_head("GET", "/api/who", basic_headers(password=f"x{number}")))
        self.assertEqual(CAP, self.looked)

    def test_simultaneous_right_passwords_do_not_count(self) -> None:
        asked = [self.api.connect(self.address) for _ in range(CAP)]
        for number, connection in enumerate(asked):
            connection.send(request_head("GET", "/api/who", basic_headers(password=f"x{number}")))
        for done in self.hashes:
            done.callback(Identity(username="admin", admin=True))
        self.assertEqual(
            0, self.failures.get_block_seconds(FailureBucket.BASIC, self.address, "admin")
        )


class PasswordLockoutTests(GuessCase):
    """Each cap that is reached is told once."""

    def test_each_lockout_is_reported_once(self) -> None:
        told: list[LockoutEvent] = []
        self.failures.add_lockout_observer(told.append)
        self.guess(CAP - 1)
        self.assertEqual([], told)
        self.guess(50)
        self.assertEqual(
            [("address", self.address), ("username", "admin")],
            [(one.kind, one.value) for one in told],
        )
        self.assertEqual(
            {("basic", "address"): 1, ("basic", "username"): 1}, self.failures.lockouts
        )
        self.clock.advance(WINDOW_SECONDS)
        self.guess(CAP)
        self.assertEqual(4, len(told))
