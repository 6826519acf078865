"""Tests for L{tservice.access.cookie_sessions}, on both stores."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tservice.access.cookie_sessions import LOOK_SECONDS, SLACK_SECONDS, CookieSessionRegistry
from tservice.access.cookie_store import DatabaseCookieStore, MemoryCookieStore
from tservice.access.interfaces import ICookieStore
from tservice.access.model import (
    LIFETIME_SECONDS,
    MAX_AGENT,
    MAX_SESSIONS,
    SCANNED_KEY_PREFIX,
    TTL_SECONDS,
    CookieSession,
    hash_cookie,
)
from tservice.store.database import Database
from tservice.store.schemas import find_packaged_schemas, read_steps

SESSION = CookieSession(
    id="a",
    token_hash=hash_cookie("t"),
    key_hash=hash_cookie("k"),
    seal=b"sealed",
    username="ann",
    method="login",
    address="::1",
    user_agent="ü",
    created_at=1,
    expires_at=2,
)


class StoreContract:
    """What every L{ICookieStore} does; mixed into a test case for each."""

    def make(self) -> ICookieStore:
        raise NotImplementedError

    def setUp(self) -> None:
        self.store = self.make()
        self.other = evolve(SESSION, id="b", token_hash=hash_cookie("u"), created_at=2)

    def test_new_store_is_empty(self) -> None:
        assert not self.store.load()

    def test_saved_sessions_are_loaded(self) -> None:
        self.store.save(self.other)
        self.store.save(SESSION)
        assert set(self.store.load()) == {SESSION, self.other}

    def test_session_saved_again_is_replaced(self) -> None:
        self.store.save(SESSION)
        later = evolve(SESSION, expires_at=99)
        self.store.save(later)
        assert list(self.store.load()) == [later]

    def test_deleted_sessions_are_not_loaded(self) -> None:
        self.store.save(SESSION)
        self.store.save(self.other)
        self.store.delete(["a", "unknown"])
        assert list(self.store.load()) == [self.other]
        self.store.delete([])


class MemoryStoreTests(StoreContract, SynchronousTestCase):
    """In memory."""

    def make(self) -> ICookieStore:
        return MemoryCookieStore()


class DatabaseStoreTests(StoreContract, SynchronousTestCase):
    """In SQLite, on disk."""

    def make(self) -> ICookieStore:
        self.path = Path(self.mktemp())
        database = Database.open_file(self.path, clock=Clock())
        self.addCleanup(database.close)
        return DatabaseCookieStore(database)

    def test_sessions_outlive_the_process(self) -> None:
        self.store.save(SESSION)
        again = Database.open_file(self.path, clock=Clock())
        self.addCleanup(again.close)
        self.assertEqual([SESSION], list(DatabaseCookieStore(again).load()))

    def test_sessions_from_before_page_keys_are_removed(self) -> None:
        steps = read_steps(find_packaged_schemas())
        path = Path(self.mktemp())
        old = Database.open_file(path, clock=Clock(), schemas=steps[:11])
        old.execute(
            "INSERT INTO auth_sessions VALUES ('a', :hash, 'ann', 'login', '::1', '', 1, 2)",
            {"hash": hash_cookie("t")},
        )
        old.close()
        new = Database.open_file(path, clock=Clock())
        self.addCleanup(new.close)
        self.assertEqual([], list(DatabaseCookieStore(new).load()))


class CountingStore(MemoryCookieStore):
    """Counts the writes."""

    writes = 0

    def save(self, session: CookieSession) -> None:
        self.writes += 1
        super().save(session)


class CookieTests(SynchronousTestCase):
    """Opening, extending, ending."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.store = CountingStore()
        self.number = 0
        self.revoked: list[frozenset[str]] = []
        self.cookies = self.start()

    def start(self) -> CookieSessionRegistry:
        return CookieSessionRegistry(self.store, self.clock, self.random, self.revoked.append)

    def random(self, size: int) -> bytes:
        self.number += 1
        return self.number.to_bytes(size, "big")

    def open(self, username: str = "ann") -> tuple[str, str]:
        self.clock.advance(0.001)
        opened = self.cookies.open_session(username, "login", "1.2.3.4", "x" * 999)
        return opened.id, opened.token

    def use(self, token: str) -> CookieSession | None:
        """A request with a cookie."""
        found = self.cookies.find_session(token)
        return None if found is None else self.cookies.extend_session(found)

    def test_opened_session_is_found_by_its_token(self) -> None:
        opened, token = self.open()
        self.assertEqual(64, len(token))
        found = self.cookies.find_session(token)
        assert found is not None
        self.assertEqual(
            (opened, "ann", MAX_AGENT), (found.id, found.username, len(found.user_agent))
        )

    def test_no_cookie_is_stored(self) -> None:
        _, token = self.open()
        self.assertNotIn(token, repr(self.store.load()))

    def test_unknown_token_is_not_found(self) -> None:
        self.assertIsNone(self.cookies.find_session("nope"))
        self.assertIsNone(
            self.cookies.find_session("\udcff\ufffd".encode("utf-8", "replace").decode())
        )

    def test_use_extends_the_session(self) -> None:
        _, token = self.open()
        for _ in range(5):
            self.clock.advance(TTL_SECONDS - 1)
            self.assertIsNotNone(self.use(token))
        self.clock.advance(TTL_SECONDS)
        self.assertIsNone(self.cookies.find_session(token))
        self.assertEqual([], list(self.store.load()))

    def test_restart_keeps_sessions_signed_in(self) -> None:
        _, token = self.open()
        self.clock.advance(TTL_SECONDS - 1)
        self.assertIsNotNone(self.use(token))
        self.clock.advance(TTL_SECONDS - 1)
        self.assertIsNotNone(self.start().find_session(token))

    def test_cookie_use_is_not_written_on_every_request(self) -> None:
        _, token = self.open()
        for _ in range(SLACK_SECONDS):
            self.clock.advance(0.9)
            self.use(token)
        self.assertEqual(1, self.store.writes)
        self.clock.advance(SLACK_SECONDS)
        self.use(token)
        self.assertEqual(2, self.store.writes)

    def test_oldest_session_is_evicted(self) -> None:
        tokens = [self.open() for _ in range(MAX_SESSIONS + 1)]
        self.assertIsNone(self.cookies.find_session(tokens[0][1]))
        self.assertIsNotNone(self.cookies.find_session(tokens[1][1]))
        self.assertEqual(MAX_SESSIONS, len(self.store.load()))
        self.assertEqual([frozenset([tokens[0][0]])], self.revoked)

    def test_expired_sessions_are_evicted_first(self) -> None:
        old = [self.open() for _ in range(MAX_SESSIONS)]
        self.revoked.clear()
        self.clock.advance(TTL_SECONDS)
        self.open()
        self.assertEqual([frozenset(session for session, _ in old)], self.revoked)
        self.assertEqual(1, len(self.cookies.list_sessions()))
        self.assertIsNone(self.cookies.find_session(old[0][1]))

    def test_sessions_of_one_account_evict_only_its_own(self) -> None:
        """Whoever signs in again and again ends sessions of their own."""
        ann = self.open("ann")
        bobs = [self.open("bob") for _ in range(MAX_SESSIONS + 5)]
        self.assertIsNotNone(self.cookies.find_session(ann[1]))
        self.assertIsNone(self.cookies.find_session(bobs[5][1]))
        self.assertIsNotNone(self.cookies.find_session(bobs[6][1]))
        self.assertEqual(MAX_SESSIONS, len(self.store.load()))

    def test_expired_session_ends_its_open_connections(self) -> None:
        """A stream asks once; without this it would outlive its session for good."""
        opened, _ = self.open()
        self.clock.pump([LOOK_SECONDS] * int(TTL_SECONDS / LOOK_SECONDS - 1))
        self.assertEqual([], self.revoked)
        self.clock.pump([LOOK_SECONDS] * 2)
        self.assertEqual([frozenset([opened])], self.revoked)
        self.assertEqual([], list(self.store.load()))
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_session_ends_to_the_millisecond(self) -> None:
        opened, token = self.open()
        self.clock.advance(100)
        self.use(token)
        self.clock.advance(TTL_SECONDS - 0.001)
        self.assertTrue(self.cookies.is_live(opened))
        self.clock.advance(0.001)
        self.assertEqual([frozenset([opened])], self.revoked)
        self.assertFalse(self.cookies.is_live(opened))

    def test_asking_whether_a_session_lives_does_not_extend_it(self) -> None:
        opened, _ = self.open()
        for _ in range(int(TTL_SECONDS / 3600)):
            self.assertTrue(self.cookies.is_live(opened))
            self.clock.advance(3600)
        self.assertFalse(self.cookies.is_live(opened))
        self.assertFalse(self.cookies.is_live("none"))

    def test_expired_session_ends_its_connections_after_a_restart(self) -> None:
        self.open()
        self.cookies.close()
        self.assertEqual([], self.clock.getDelayedCalls())
        again = self.start()
        # The disk gives it a little longer than it must live.
        self.clock.pump([LOOK_SECONDS] * int((TTL_SECONDS + SLACK_SECONDS) / LOOK_SECONDS + 1))
        self.assertEqual(1, len(self.revoked))
        again.close()

    def test_revoking_all_ends_connections_of_expired_sessions(self) -> None:
        opened, _ = self.open()
        self.clock.advance(TTL_SECONDS)
        self.cookies.revoke_sessions()
        self.assertEqual([frozenset([opened])], self.revoked)

    def test_reuse_returns_the_session_of_the_same_client(self) -> None:
        first = self.cookies.find_or_open("ann", "::1", "curl")
        self.assertEqual(first, self.cookies.find_or_open("ann", "::1", "curl"))
        for who in (("bob", "::1", "curl"), ("ann", "::2", "curl"), ("ann", "::1", "wget")):
            self.assertNotEqual(first, self.cookies.find_or_open(*who))
        self.cookies.revoke_sessions()
        self.assertNotEqual(first, self.cookies.find_or_open("ann", "::1", "curl"))

    def test_reuse_ignores_sessions_ended_by_a_clock_jump(self) -> None:
        """The right password was refused until somebody looked at what had expired."""
        first = self.cookies.find_or_open("ann", "::1", "curl")
        self.clock.time_of_day = lambda: self.clock.seconds() + LIFETIME_SECONDS  # type: ignore[attr-defined]
        again = self.cookies.find_or_open("ann", "::1", "curl")
        self.assertNotEqual(first, again)
        self.assertIsNotNone(self.cookies.find_session(again.token))

    def test_reuse_never_returns_the_cookie_of_a_browser(self) -> None:
        for keyed in (True, False):
            token = self.cookies.open_session("ann", "login", "::1", "curl").token
            self.assertNotEqual(token, self.cookies.find_or_open("ann", "::1", "curl", keyed).token)

    def test_reuse_distinguishes_browsers_from_programs(self) -> None:
        program = self.cookies.find_or_open("ann", "::1", "curl")
        browser = self.cookies.find_or_open("ann", "::1", "curl", keyed=True)
        self.assertNotEqual(program.token, browser.token)
        self.assertEqual(program, self.cookies.find_or_open("ann", "::1", "curl"))
        self.assertEqual(browser, self.cookies.find_or_open("ann", "::1", "curl", keyed=True))
        keys = {session.id: session.key_hash for session in self.cookies.list_sessions()}
        self.assertIsNone(keys[program.id])
        self.assertIsNotNone(keys[browser.id])

    def test_revoke_ends_matching_sessions(self) -> None:
        ann, bob = self.open("ann"), self.open("bob")
        self.assertEqual(1, self.cookies.revoke_sessions(lambda session: session.username == "bob"))
        self.assertIsNone(self.cookies.find_session(bob[1]))
        self.assertIsNotNone(self.cookies.find_session(ann[1]))
        self.assertEqual([frozenset([bob[0]])], self.revoked)
        self.assertEqual(1, len(self.store.load()))
        self.assertEqual(1, self.cookies.revoke_sessions())
        self.assertEqual(0, self.cookies.revoke_sessions())

    def test_sessions_are_listed_in_order(self) -> None:
        opened = [self.open()[0] for _ in range(3)]
        self.assertEqual(opened, [session.id for session in self.cookies.list_sessions()])

    def test_no_page_key_is_stored(self) -> None:
        opened = self.cookies.open_session("ann", "login", "::1", "")
        assert opened.key is not None
        self.assertEqual(64, len(opened.key))
        self.assertNotIn(opened.key, repr(self.store.load()))
        again = self.cookies.open_session("ann", "login", "::1", "")
        self.assertNotEqual(opened.key, again.key)

    def test_page_key_of_a_scanned_code_is_marked(self) -> None:
        keys = {
            way: self.cookies.open_session("ann", way, "::1", "").key for way in ("login", "qr")
        }
        self.assertFalse((keys["login"] or "").startswith(SCANNED_KEY_PREFIX))
        self.assertTrue((keys["qr"] or "").startswith(SCANNED_KEY_PREFIX))

    def test_no_session_lives_longer_than_the_maximum(self) -> None:
        _, token = self.open()
        days = LIFETIME_SECONDS // TTL_SECONDS
        for _ in range(days - 1):
            self.clock.advance(TTL_SECONDS - 1)
            self.assertIsNotNone(self.use(token))
        # The days were a second short each.
        self.clock.advance(days - 1)
        found = self.use(token)
        assert found is not None
        self.assertEqual(TTL_SECONDS, self.cookies.get_remaining_seconds(found))
        self.clock.advance(TTL_SECONDS - 1)
        found = self.use(token)
        assert found is not None
        self.assertEqual(1, self.cookies.get_remaining_seconds(found))
        self.assertIsNotNone(self.start().find_session(token))
        self.clock.advance(1)
        self.assertIsNone(self.start().find_session(token))
        self.assertIsNone(self.use(token))

    def test_reused_session_ends_at_the_maximum_lifetime(self) -> None:
        first = self.cookies.find_or_open("ann", "::1", "curl")
        for _ in range(2 * LIFETIME_SECONDS // TTL_SECONDS):
            self.clock.advance(TTL_SECONDS / 2)
            again = self.cookies.find_or_open("ann", "::1", "curl")
        self.assertNotEqual(first.id, again.id)

    def test_session_keeps_the_password_seal_of_its_opening(self) -> None:
        seals = {"ann": b"one"}
        cookies = CookieSessionRegistry(self.store, self.clock, self.random, seal_of=seals.get)
        cookies.open_session("ann", "login", "::1", "")
        seals["ann"] = b"two"
        self.clock.advance(1)
        cookies.open_session("ann", "login", "::1", "")
        self.assertEqual([b"one", b"two"], [session.seal for session in cookies.list_sessions()])
