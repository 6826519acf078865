"""Words that open one thing in somebody's name."""

from __future__ import annotations

import os

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tservice.access.capabilities import MOST, TTL_SECONDS, CapabilityRegistry


class CapabilityStoreTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.sizes: list[int] = []
        self.capabilities = CapabilityRegistry(self.clock, self.random)

    def random(self, size: int) -> bytes:
        self.sizes.append(size)
        return os.urandom(size)

    def mint(self, username: str = "ann", subject: str = "tab", session: str | None = None) -> str:
        return self.capabilities.create_token("webview", subject, username, session)

    def opens(self, word: str, username: str | None = None) -> bool:
        return self.capabilities.find_grant("webview", word, username) is not None

    def test_capability_has_192_bits_and_is_path_safe(self) -> None:
        word = self.mint()
        self.assertEqual([24], self.sizes)
        self.assertRegex(word, r"\A[A-Za-z0-9_-]{32}\Z")

    def test_capability_opens_its_subject(self) -> None:
        found = self.capabilities.find_grant("webview", self.mint("ann", "tab-1"))
        assert found is not None
        self.assertEqual(("webview", "tab-1", "ann"), (found.kind, found.subject, found.username))

    def test_capability_of_another_kind_is_refused(self) -> None:
        self.assertIsNone(self.capabilities.find_grant("child", self.mint()))

    def test_capability_of_another_user_is_refused(self) -> None:
        word = self.mint("ann")
        self.assertFalse(self.opens(word, "bob"))
        self.assertTrue(self.opens(word, "ann"))

    def test_invented_capabilities_are_refused(self) -> None:
        word = self.mint()
        for wrong in ("", word[:-1], word + "=", word.lower(), "\udc80", "x" * 32):
            self.assertFalse(self.opens(wrong), wrong)

    def test_capability_expires_twelve_hours_after_its_last_use(self) -> None:
        word = self.mint()
        for _ in range(3):
            self.clock.advance(TTL_SECONDS - 1)
            self.assertTrue(self.opens(word))
        self.clock.advance(TTL_SECONDS)
        self.assertFalse(self.opens(word))

    def test_capability_may_have_a_shorter_lifetime(self) -> None:
        word = self.capabilities.create_token("webview", "tab", "ann", lasts=60.0)
        for _ in range(3):
            self.clock.advance(59)
            self.assertTrue(self.opens(word))
        self.clock.advance(60)
        self.assertFalse(self.opens(word))

    def test_refused_use_does_not_extend_a_capability(self) -> None:
        word = self.mint("ann")
        self.clock.advance(TTL_SECONDS - 1)
        self.assertFalse(self.opens(word, "bob"))
        self.clock.advance(1)
        self.assertFalse(self.opens(word))

    def test_ended_capability_opens_nothing(self) -> None:
        words = [self.mint("ann", session="s1"), self.mint("ann"), self.mint("bob", session="s2")]
        self.assertEqual(
            1, self.capabilities.revoke_tokens(lambda known: known.auth_session == "s1")
        )
        self.assertEqual([False, True, True], [self.opens(word) for word in words])
        self.assertEqual(1, self.capabilities.revoke_tokens(lambda known: known.username == "bob"))
        self.assertEqual([False, True, False], [self.opens(word) for word in words])

    def test_bound_evicts_from_the_account_with_most_capabilities(self) -> None:
        bob = self.mint("bob")
        first, second = self.mint(), self.mint()
        for _ in range(MOST - 3):
            self.mint()
        self.assertTrue(self.opens(first))  # so it is not the one used longest ago
        self.mint()
        self.assertEqual([True, True, False], [self.opens(word) for word in (bob, first, second)])
        self.assertEqual(MOST, len(self.capabilities._known))

    def test_expired_capabilities_make_room(self) -> None:
        for _ in range(MOST):
            self.mint()
        self.clock.advance(TTL_SECONDS)
        self.mint()
        self.assertEqual(1, len(self.capabilities._known))

    def test_capabilities_do_not_survive_a_restart(self) -> None:
        word = self.mint()
        self.assertIsNone(CapabilityRegistry(self.clock, os.urandom).find_grant("webview", word))

    def test_capability_itself_is_not_stored(self) -> None:
        word = self.mint()
        self.assertNotIn(word, repr(vars(self.capabilities)))
