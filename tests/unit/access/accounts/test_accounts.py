"""Tests for L{tservice.access.accounts.accounts} and the first admin."""

from __future__ import annotations

import os
from collections import Counter
from io import StringIO
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.callers import GRANTED
from tests.unit.access.harness import PASSWORD, AccountCase
from tests.unit.right_checks import DENIED
from tservice.access.accounts.account import (
    MAX_ACCOUNTS,
    AccountRole,
    UserAccount,
    check_username,
    make_one_time_password,
)
from tservice.access.accounts.accounts import AccountChange
from tservice.access.accounts.first_admin import make_first_admin
from tservice.core.kernel.errors import ErrorCode, ServiceError, StartError


class CheckTests(AccountCase):
    """Who gets in."""

    def test_right_password_is_accepted(self) -> None:
        found = self.check("ann")
        assert found is not None
        self.assertTrue(found.admin)
        self.assertTrue(found.can_bypass_permissions)
        self.assertEqual(found, self.accounts.find_identity("ann"))

    def test_wrong_name_or_password_is_refused(self) -> None:
        for name, word in (("ann", "x"), ("bob", PASSWORD), ("", ""), ("Ann", PASSWORD)):
            self.assertIsNone(self.check(name, word), (name, word))
        self.assertIsNone(self.check("ann", "\ud800"))

    def test_verified_password_is_hashed_once(self) -> None:
        self.check("ann")
        self.patch(self.hasher, "verify_password", None)
        self.assertIsNotNone(self.check("ann"))

    def test_new_password_replaces_the_old_one(self) -> None:
        self.check("ann")
        self.now(self.accounts.set_own_password("ann", PASSWORD, "another one", "::1", GRANTED))
        self.assertIsNone(self.check("ann"))
        self.assertIsNotNone(self.check("ann", "another one"))

    def test_disabled_account_is_refused(self) -> None:
        self.now(
            self.accounts.create_account(
                "cleo",
                AccountRole.USER,
                PASSWORD,
                can_bypass_permissions=True,
                caller=GRANTED,
            )
        )
        self.check("cleo")
        self.now(self.accounts.change_account("cleo", AccountChange(enabled=False), GRANTED))
        self.assertIsNone(self.check("cleo"))
        self.assertIsNone(self.accounts.find_identity("cleo"))
        self.assertFalse(self.accounts.get_account("cleo").enabled)

    def test_failures_count_for_existing_and_unknown_names(self) -> None:
        self.assertEqual("ann", self.accounts.get_failure_count_name("ann"))
        self.assertEqual("nobody", self.accounts.get_failure_count_name("nobody"))
        self.assertIsNone(self.accounts.get_failure_count_name("no\nname"))

    def test_accounts_survive_a_restart(self) -> None:
        self.now(
            self.accounts.create_account(
                "bob", AccountRole.USER, None, can_bypass_permissions=True, caller=GRANTED
            )
        )
        self.assertEqual(list(self.accounts.list_accounts()), list(self.start().list_accounts()))

    def test_no_password_is_stored(self) -> None:
        rows = self.database.query_rows("SELECT * FROM accounts")
        self.assertNotIn(PASSWORD, repr([tuple(row) for row in rows]))
        self.assertTrue(rows[0]["password_hash"].startswith("$argon2id$"))


class RaceTests(AccountCase):
    """What happens while a hash runs."""

    def setUp(self) -> None:
        super().setUp()
        self.pending: list[Deferred[bool]] = []

        async def verify(place: str, password_hash: str | None, password: str) -> bool:
            waiting: Deferred[bool] = Deferred()
            self.pending.append(waiting)
            return await waiting

        self.patch(self.hasher, "verify_password", verify)

    def test_account_changed_during_the_check_is_refused(self) -> None:
        self.now(
            self.accounts.create_account(
                "eve",
                AccountRole.ADMIN,
                PASSWORD,
                can_bypass_permissions=False,
                caller=GRANTED,
            )
        )
        changes = (
            lambda: self.now(
                self.accounts.set_own_password("ann", PASSWORD, "another one", "::1", GRANTED)
            ),
            lambda: self.now(
                self.accounts.change_account("ann", AccountChange(enabled=False), GRANTED)
            ),
            lambda: self.accounts.remove_account("ann"),
        )
        for change in changes:
            found = Deferred.fromCoroutine(self.accounts.check_password("ann", PASSWORD, "::1"))
            change()
            self.pending.pop().callback(True)
            self.assertIsNone(self.successResultOf(found))


class AccountChangeTests(AccountCase):
    """What admins do, and what comes of it."""

    def make(self, name: str = "bob", role: AccountRole = AccountRole.USER) -> UserAccount:
        account, _ = self.now(
            self.accounts.create_account(
                name, role, PASSWORD, can_bypass_permissions=False, caller=GRANTED
            )
        )
        self.revoked.clear()
        self.events.clear()
        return account

    def test_account_gets_a_one_time_password(self) -> None:
        account, once = self.now(
            self.accounts.create_account(
                "bob",
                AccountRole.USER,
                None,
                can_bypass_permissions=False,
                caller=GRANTED,
            )
        )
        self.assertTrue(account.must_change_password)
        found = self.check("bob", once or "")
        assert found is not None
        self.assertTrue(found.must_change_password)
        known = once or ""
        text = self.refused(
            ErrorCode.INVALID_INPUT,
            self.accounts.set_own_password("bob", known, known, "::1", GRANTED),
        )
        self.assertEqual("newPassword: must differ from the current one", text)
        self.assertTrue(self.accounts.get_account("bob").must_change_password)
        self.now(self.accounts.set_own_password("bob", known, "chosen by bob", "::1", GRANTED))
        found = self.check("bob", "chosen by bob")
        assert found is not None
        self.assertFalse(found.must_change_password)

    def test_invalid_names_and_passwords_are_refused(self) -> None:
        for name in ("", "b", "Bob", "_b", "b" * 33, "bo b", "böb", "bob\n"):
            self.refused(
                ErrorCode.INVALID_INPUT,
                self.accounts.create_account(
                    name,
                    AccountRole.USER,
                    PASSWORD,
                    can_bypass_permissions=False,
                    caller=GRANTED,
                ),
            )
        self.make()
        text = self.refused(
            ErrorCode.INVALID_INPUT,
            self.accounts.change_account("bob", AccountChange(password="1234567"), GRANTED),
        )
        self.assertIn("password: must have 8", text)

    def test_existing_name_is_refused(self) -> None:
        self.make()
        self.refused(
            ErrorCode.USER_EXISTS,
            self.accounts.create_account(
                "bob",
                AccountRole.USER,
                None,
                can_bypass_permissions=False,
                caller=GRANTED,
            ),
        )

    def test_name_of_a_former_user_with_sessions_is_refused(self) -> None:
        self.owners.add("bob")
        text = self.refused(
            ErrorCode.CONFLICT,
            self.accounts.create_account(
                "bob",
                AccountRole.USER,
                None,
                can_bypass_permissions=False,
                caller=GRANTED,
            ),
        )
        self.assertIn("bob", text)

    def test_number_of_accounts_is_bounded(self) -> None:
        ann = self.accounts.get_account("ann")
        self.accounts._accounts.update({f"u{n}": ann for n in range(MAX_ACCOUNTS)})
        self.refused(
            ErrorCode.OPERATION_FAILED,
            self.accounts.create_account(
                "bob",
                AccountRole.USER,
                None,
                can_bypass_permissions=False,
                caller=GRANTED,
            ),
        )

    def test_every_change_ends_open_sessions(self) -> None:
        changes = (
            lambda: self.now(
                self.accounts.change_account("bob", AccountChange(role=AccountRole.ADMIN), GRANTED)
            ),
            lambda: self.now(
                self.accounts.change_account(
                    "bob", AccountChange(password="something else"), GRANTED
                )
            ),
            lambda: self.now(
                self.accounts.change_account(
                    "bob", AccountChange(can_bypass_permissions=True), GRANTED
                )
            ),
            lambda: self.now(self.accounts.reset_password("bob", GRANTED)),
            lambda: self.now(
                self.accounts.set_own_password("bob", PASSWORD, "something else", "x", GRANTED)
            ),
            lambda: self.accounts.remove_account("bob"),
        )
        self.make()
        for change in changes:
            self.revoked.clear()
            self.events.clear()
            change()
            self.assertEqual(["bob"], self.revoked)
            self.assertEqual(["admin:usersChanged"], [event.name for event in self.events])

    def test_absent_fields_are_unchanged(self) -> None:
        before = self.make()
        self.assertEqual(
            before, self.now(self.accounts.change_account("bob", AccountChange(), GRANTED))
        )
        self.assertIsNotNone(self.check("bob"))

    def test_last_admin_cannot_be_demoted_disabled_or_removed(self) -> None:
        self.make()
        for wanted in (AccountChange(role=AccountRole.USER), AccountChange(enabled=False)):
            self.refused(ErrorCode.LAST_ADMIN, self.accounts.change_account("ann", wanted, GRANTED))
        error = self.assertRaises(ServiceError, self.accounts.remove_account, "ann")
        self.assertEqual(ErrorCode.LAST_ADMIN, error.code)
        self.now(
            self.accounts.change_account("bob", AccountChange(role=AccountRole.ADMIN), GRANTED)
        )
        self.now(self.accounts.change_account("ann", AccountChange(enabled=False), GRANTED))
        self.refused(
            ErrorCode.LAST_ADMIN,
            self.accounts.change_account("bob", AccountChange(role=AccountRole.USER), GRANTED),
        )
        self.accounts.remove_account("ann")
        self.assertEqual(["bob"], [account.username for account in self.start().list_accounts()])

    def test_removed_account_loses_its_tokens(self) -> None:
        self.make()
        self.accounts.remove_account("bob")
        self.assertEqual(["bob"], self.forgotten)
        self.assertIsNone(self.check("bob"))
        error = self.assertRaises(ServiceError, self.accounts.remove_account, "bob")
        self.assertEqual((404, "User bob not found"), (error.status, error.message))

    def test_log_out_ends_sessions_and_tokens_on_request(self) -> None:
        self.make()
        self.assertEqual((3, 2), self.accounts.end_account_access("bob"))
        self.assertEqual([], self.forgotten)
        self.assertRaises(ServiceError, self.accounts.end_account_access, "nobody")
        self.assertEqual(["bob"], self.revoked)
        self.assertEqual((3, 0), self.accounts.end_account_access("bob", tokens=True))
        self.assertEqual(["bob"], self.forgotten)


class LostRightTests(AccountCase):
    """An admin who is none any more by the time of the change."""

    def test_account_is_not_changed_after_a_lost_right(self) -> None:
        before = self.accounts.get_account("ann")
        for wanted in (AccountChange(enabled=False), AccountChange(password="another horse")):
            changing = Deferred.fromCoroutine(self.accounts.change_account("ann", wanted, DENIED))
            error = self.failureResultOf(changing, ServiceError).value
            self.assertEqual(ErrorCode.FORBIDDEN, error.code)
        self.assertEqual(before, self.accounts.get_account("ann"))


class FirstAdminAccountTests(AccountCase):
    """The first start."""

    def setUp(self) -> None:
        super().setUp()
        self.database.execute("DELETE FROM accounts")
        self.accounts = self.start()

    def test_first_password_is_printed(self) -> None:
        out = StringIO()
        make_first_admin(self.accounts, "root", None, out)
        words = out.getvalue().split()
        self.assertEqual("One-time password for root:", " ".join(words[:-1]))
        self.assertEqual(1, out.getvalue().count("\n"))
        found = self.check("root", words[-1])
        assert found is not None
        self.assertTrue(found.must_change_password)
        make_first_admin(self.start(), "root", None, out)
        self.assertEqual(1, out.getvalue().count("\n"))

    def test_configured_password_is_used(self) -> None:
        out = StringIO()
        make_first_admin(self.accounts, "root", PASSWORD, out)
        self.assertEqual("", out.getvalue())
        found = self.check("root")
        assert found is not None
        self.assertFalse(found.must_change_password)

    def test_password_is_not_printed_where_it_would_be_lost(self) -> None:
        with Path(os.devnull).open("w") as out:
            error = self.assertRaises(
                StartError, make_first_admin, self.accounts, "root", None, out
            )
        self.assertIn("SERVICE_PASSWORD", str(error))
        self.assertEqual([], list(self.start().list_accounts()))

    def test_invalid_first_name_or_password_stops_the_start(self) -> None:
        for name, word in (("Root", PASSWORD), ("root", "short")):
            error = self.assertRaises(
                StartError, make_first_admin, self.accounts, name, word, StringIO()
            )
            self.assertNotIn("short", str(error))


class AccountRuleTests(SynchronousTestCase):
    """What needs nothing else."""

    @given(st.text(alphabet="abzAZ019_-\n é", max_size=34))
    def test_valid_names_are_exactly_those_of_the_rule(self, name: str) -> None:
        good = (
            2 <= len(name) <= 32
            and set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-")
            and name[0] not in "_-"
        )
        try:
            check_username(name)
        except ServiceError:
            self.assertFalse(good)
        else:
            self.assertTrue(good)

    def test_one_time_passwords_are_evenly_distributed(self) -> None:
        letters = Counter("".join(make_one_time_password(os.urandom) for _ in range(1000)))
        self.assertEqual(31, len(letters))
        self.assertLess(max(letters.values()) / min(letters.values()), 1.5)
