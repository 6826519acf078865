"""Tests for L{tservice.access.hook_secret} and L{tservice.access.passwords.passwords}."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.access.harness import cheap_hasher
from tservice.access.authenticators import parse_basic_header
from tservice.access.hook_secret import FILE_NAME, load_hook_secret
from tservice.access.passwords.hashing import FairQueue
from tservice.access.passwords.passwords import SingleAccount
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import StartError


class HookSecretTests(SynchronousTestCase):
    """Made once, then read."""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp())
        self.folder.mkdir()
        self.path = self.folder / FILE_NAME

    def read(self, byte: bytes = b"\xab") -> str:
        return load_hook_secret(self.folder, lambda size: byte * size)

    def test_secret_is_created_at_the_first_start(self) -> None:
        self.assertEqual("ab" * 32, self.read())
        self.assertEqual(0o600, self.path.stat().st_mode & 0o777)

    def test_existing_secret_is_kept(self) -> None:
        self.read()
        self.assertEqual("ab" * 32, self.read(b"\xcd"))

    def test_secret_readable_by_others_stops_the_start(self) -> None:
        self.read()
        self.path.chmod(0o644)
        self.assertRaises(StartError, self.read)

    def test_broken_secret_stops_the_start(self) -> None:
        for content in (b"", b"short", b"\xff" * 64):
            self.path.write_bytes(content)
            self.path.chmod(0o600)
            error = self.assertRaises(StartError, self.read)
            self.assertNotIn("short", str(error))


class SingleAccountTests(SynchronousTestCase):
    """One name, one password."""

    def setUp(self) -> None:
        self.account = SingleAccount("admin", "pass:wörd", cheap_hasher())

    def check(self, username: str, password: str) -> Identity | None:
        return self.successResultOf(
            Deferred.fromCoroutine(self.account.check_password(username, password))
        )

    def test_right_name_and_password_are_accepted(self) -> None:
        self.assertEqual(Identity(username="admin", admin=True), self.check("admin", "pass:wörd"))

    def test_password_is_kept_only_as_an_argon2_hash(self) -> None:
        self.check("admin", "pass:wörd")
        self.assertRegex(self.account._hash or "", r"^\$argon2id\$")
        self.assertNotIn("pass:w", repr(vars(self.account)))

    def test_every_other_attempt_costs_a_hash(self) -> None:
        self.check("admin", "pass:wörd")
        with patch.object(FairQueue, "run_in_turn", side_effect=ZeroDivisionError) as hashed:
            self.check("admin", "pass:wörd")
            for name, password in (("admin", "x"), ("root", "pass:wörd"), ("root", "x")):
                checked = Deferred.fromCoroutine(self.account.check_password(name, password))
                self.failureResultOf(checked, ZeroDivisionError)
        self.assertEqual(3, hashed.call_count)

    def test_wrong_name_or_password_is_refused(self) -> None:
        for username, password in (
            ("admin", "pass"),
            ("Admin", "pass:wörd"),
            ("admin", ""),
            ("", ""),
            ("admin", "\ud800"),
        ):
            self.assertIsNone(self.check(username, password))

    def test_only_the_single_account_exists(self) -> None:
        self.assertIsNotNone(self.account.find_identity("admin"))
        self.assertIsNone(self.account.find_identity("root"))

    def test_colon_belongs_to_the_password(self) -> None:
        self.assertEqual(("a", "b:c"), parse_basic_header("basic YTpiOmM="))
