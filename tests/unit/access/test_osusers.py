"""Accounts that name an OS user, and the secrets of OS users' hooks."""

from __future__ import annotations

import os
from pathlib import Path

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.callers import GRANTED
from tests.unit.access.harness import PASSWORD, AccountCase
from tests.unit.os_user_harness import OsUserWorld
from tservice.access.accounts.account import AccountRole
from tservice.access.accounts.accounts import AccountChange
from tservice.access.authenticators import HOOK, HookAuthenticator
from tservice.access.hook_secret import OsUserSecrets, derive_os_user_secret, parse_secret_uid
from tservice.core.callers.authentication import (
    AuthenticationRequest,
    CredentialsAccepted,
    CredentialsRejected,
    FailureBucket,
)
from tservice.core.kernel.errors import ErrorCode
from tservice.core.locations.workspace_bounds import AccountRights
from tservice.core.users.shared_folder import SharedFolder

SECRET = "ab" * 32


class AccountOsUserTests(AccountCase):
    """Named, kept, taken away."""

    def make(self, os_user: str | None) -> object:
        work = self.accounts.create_account(
            "bob",
            AccountRole.USER,
            PASSWORD,
            can_bypass_permissions=False,
            os_user=os_user,
            caller=GRANTED,
        )
        return self.now(work)[0].os_user

    def test_account_is_created_with_an_os_user(self) -> None:
        self.os_users.add("b", 1001)
        self.assertEqual("b", self.make("b"))
        identity = self.check("bob")
        assert identity is not None
        self.assertEqual("b", identity.os_user)
        self.accounts = self.start()
        self.assertEqual("b", self.accounts.get_account("bob").os_user)
        self.assertEqual(
            AccountRights(is_admin=False, os_user="b"), self.accounts.get_rights("bob")
        )
        self.assertIsNone(self.accounts.get_rights("nobody"))

    def test_account_without_an_os_user_has_none(self) -> None:
        self.assertIsNone(self.make(""))

    def test_unsuitable_os_user_is_refused(self) -> None:
        """Neither made nor changed."""
        work = self.accounts.create_account(
            "bob",
            AccountRole.USER,
            PASSWORD,
            can_bypass_permissions=False,
            os_user="none",
            caller=GRANTED,
        )
        text = self.refused(ErrorCode.OPERATION_FAILED, work)
        self.assertEqual("osUser: there is no OS user 'none'", text)
        self.refused(
            ErrorCode.USER_NOT_FOUND, self.accounts.change_account("bob", AccountChange(), GRANTED)
        )
        change = self.accounts.change_account("ann", AccountChange(os_user="none"), GRANTED)
        self.refused(ErrorCode.OPERATION_FAILED, change)
        self.assertIsNone(self.accounts.get_account("ann").os_user)

    def test_os_user_is_changed_kept_or_removed(self) -> None:
        """C{None} leaves it, an empty one takes it away; it signs out like any change."""
        self.os_users.add("b", 1001)
        self.make(None)
        for wanted, now in (("b", "b"), (None, "b"), ("", None)):
            self.revoked.clear()
            self.now(self.accounts.change_account("bob", AccountChange(os_user=wanted), GRANTED))
            self.accounts = self.start()
            self.assertEqual(now, self.accounts.get_account("bob").os_user)
            self.assertEqual(["bob"], self.revoked)


class SecretTests(SynchronousTestCase):
    """One for each OS user, made of the instance's."""

    def judge(self, shown: str | None) -> object:
        visit = AuthenticationRequest(
            method="POST",
            path="/api/hook-event",
            host="h",
            address="127.0.0.1",
            secure=False,
            upgrade=False,
            header=lambda name: shown,
            cookies=lambda name: (),
        )
        asked = HookAuthenticator(SECRET).authenticate(visit)
        return self.successResultOf(Deferred.fromCoroutine(asked))

    def test_os_users_have_different_secrets(self) -> None:
        made = {derive_os_user_secret(SECRET, uid) for uid in (1, 2, 11)}
        self.assertEqual(3, len({text.partition("-")[2] for text in made}))
        self.assertNotEqual(derive_os_user_secret(SECRET, 1), derive_os_user_secret("cd" * 32, 1))
        for text in made:
            self.assertRegex(text, r"^[0-9]+-[0-9a-f]{64}$")
            self.assertNotIn(SECRET, text)

    def test_uid_is_read_from_the_secret(self) -> None:
        self.assertEqual(1001, parse_secret_uid(derive_os_user_secret(SECRET, 1001)))
        for text in ("", SECRET, f"-{SECRET}", f"1001-{SECRET}x", "1001-", f"\u0661-{SECRET}"):
            self.assertIsNone(parse_secret_uid(text), text)

    def test_secret_is_accepted_only_for_its_uid(self) -> None:
        self.assertEqual(CredentialsAccepted(identity=HOOK), self.judge(SECRET))
        right = derive_os_user_secret(SECRET, 1001)
        self.assertEqual(CredentialsAccepted(identity=evolve(HOOK, os_uid=1001)), self.judge(right))
        for wrong in (f"1002-{right.partition('-')[2]}", right[:-1], f"0{right}", "", None):
            found = self.judge(wrong)
            self.assertIsInstance(found, CredentialsRejected, wrong)
            assert isinstance(found, CredentialsRejected)
            self.assertIs(FailureBucket.HOOK, found.bucket)

    def test_secret_file_is_private_and_redacted(self) -> None:
        """Open to its user alone; no log shows what is in it."""
        base = Path(self.mktemp()).absolute()
        base.mkdir()
        user = evolve(OsUserWorld(base).add("me", os.getuid()), gid=os.getgid())
        hidden: list[str] = []
        secrets = OsUserSecrets(
            secret=lambda: SECRET, shared=SharedFolder(base, base / "s"), hide=hidden.append
        )
        path = secrets.write_secret(user)
        self.assertEqual(secrets.get_path(user), path)
        right = derive_os_user_secret(SECRET, user.uid)
        self.assertEqual((right + "\n", 0o400), (path.read_text(), path.stat().st_mode & 0o777))
        self.assertEqual([right], hidden)
