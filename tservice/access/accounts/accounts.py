"""Accounts of multi-user mode, and the operations that change them (protocol-users)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from hmac import compare_digest
from typing import Any

from attrs import evolve, field, frozen
from twisted.internet.interfaces import IReactorTime
from zope.interface import implementer

from tservice.access.accounts.account import (
    MAX_ACCOUNTS,
    USERNAME,
    AccountRole,
    UserAccount,
    check_new_password,
    check_username,
    make_account_id,
    make_one_time_password,
)
from tservice.access.accounts.account_store import AccountStore
from tservice.access.interfaces import IAccounts
from tservice.access.passwords.hashing import FairPasswordHasher
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.disk.disk_errors import raise_unsaved_change_on_disk_error
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_failure_error,
    make_field_error,
)
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.locations.workspace_bounds import AccountRights
from tservice.core.users.os_users import OsUsers


@frozen(kw_only=True)
class AccountsDependencies:
    """Services that the accounts depend on.

    @ivar revoke: ends all access in the name of an account (cookies, sockets, streams), and returns
        the number of ended sessions.
    @ivar forget: ends the tokens of an account.
    @ivar tokens_of: returns the number of live tokens of an account.
    @ivar os_users: checks the OS users that accounts name.
    @ivar owns: returns whether sessions exist whose owner has that name.
    """

    clock: IReactorTime
    random: Callable[[int], bytes]
    hasher: FairPasswordHasher
    hub: EventHub
    revoke: Callable[[str], int]
    forget: Callable[[str], None]
    tokens_of: Callable[[str], int]
    owns: Callable[[str], bool]
    os_users: OsUsers = field(factory=OsUsers)


@frozen(kw_only=True)
class AccountChange:
    """Changes to an account by an admin.

    C{None} keeps a value.  An empty C{os_user} removes the OS user.
    """

    role: AccountRole | None = None
    password: str | None = None
    can_bypass_permissions: bool | None = None
    enabled: bool | None = None
    os_user: str | None = None


@implementer(IAccounts)
class AccountService:
    """Registry of all accounts, held in memory.

    A change that grants a right is written to disk before it takes effect.  A change that removes a
    right takes effect at once.  If the disk does not accept it, the write is deferred, and the 422
    says that the change is in effect.
    """

    def __init__(self, store: AccountStore, deps: AccountsDependencies) -> None:
        self._store, self._deps = store, deps
        self._accounts = {account.username: account for account in store.load()}
        self._ids = store.load_ids()
        self._seen: dict[str, bytes] = {}

    # -- IAccounts

    async def check_password(self, username: str, password: str, place: str) -> Identity | None:
        """See L{IAccounts.check_password}.

        @raise TooManyChecks: too many checks from this address are waiting.
        """
        account = self._accounts.get(username)
        if account is not None and self._matches_verified_password(account, password):
            return account.make_identity() if account.enabled else None
        known = None if account is None else account.password_hash
        hasher = self._deps.hasher
        if not await hasher.verify_password(place, known, password):
            return None
        # It may have been changed while the hash ran.
        now = self._accounts.get(username)
        if now is None or not now.enabled or now.password_hash != known:
            return None
        self._seen[username] = hasher.fingerprint_password(now.password_hash, password)
        return now.make_identity()

    def find_identity(self, username: str) -> Identity | None:
        account = self._accounts.get(username)
        return account.make_identity() if account is not None and account.enabled else None

    def get_rights(self, username: str) -> AccountRights | None:
        """Return the rights of an account, also of a disabled one; C{None} if there is no such
        account.
        """
        found = self._accounts.get(username)
        return None if found is None else found.get_rights()

    def find_account_id(self, username: str) -> str | None:
        """Return the id of an account, or of the latest removed account of that name."""
        return self._ids.get(username)

    def get_seal(self, username: str) -> bytes | None:
        account = self._accounts.get(username)
        # Salted: the same password gets another seal when it is set again.
        return None if account is None else hashlib.sha256(account.password_hash.encode()).digest()

    def account_exists(self, username: str) -> bool:
        return username in self._accounts

    def get_failure_count_name(self, username: str) -> str | None:
        """Return the name under which failed sign-ins are counted.

        Unknown names are counted too, because a difference would reveal which names exist.
        """
        return username if USERNAME.fullmatch(username) else None

    # -- for admins

    def list_accounts(self) -> Sequence[UserAccount]:
        """Return every account, oldest first."""
        return tuple(self._accounts.values())

    def get_account(self, username: str) -> UserAccount:
        """Return an account.

        @raise ServiceError: 404 C{USER_NOT_FOUND}.
        """
        account = self._accounts.get(username)
        if account is None:
            raise ServiceError(ErrorCode.USER_NOT_FOUND, f"User {username} not found")
        return account

    async def create_account(
        self,
        username: str,
        role: AccountRole,
        password: str | None,
        *,
        can_bypass_permissions: bool,
        os_user: str | None = None,
        caller: Caller,
    ) -> tuple[UserAccount, str | None]:
        """Create an account.

        @param password: the password.  C{None} to generate a one-time password.
        @param os_user: the OS user that the account's panes run as.  Empty or C{None} for the
            service's user.
        @param caller: as for L{change_account}.
        @return: the account, and its one-time password if one was generated.
        @raise ServiceError: 400; 409: the name is taken, or owns sessions; 422: there are too many
            accounts, or panes cannot run as the OS user.
        @raise TooManyChecks: see L{FairPasswordHasher.hash_password}.
        """
        self._check_new_name(username)
        await self._check_os_user(os_user)
        once = make_one_time_password(self._deps.random) if password is None else None
        word = check_new_password(password) if password is not None else once
        hashed = await self._deps.hasher.hash_password("admin", word or "")
        caller.reauthorize()
        self._check_new_name(username)
        account = UserAccount(
            username=username,
            id=make_account_id(self._deps.random),
            role=role,
            password_hash=hashed,
            created_at=get_unix_ms(self._deps.clock),
            can_bypass_permissions=can_bypass_permissions,
            must_change_password=once is not None,
            os_user=os_user or None,
        )
        self._save_account(account)
        return account, once

    def create_first_admin(self, username: str, password: str | None) -> str | None:
        """Create the first admin at the first start; do nothing if accounts exist.

        @param password: the password.  C{None} to generate a one-time password.
        @return: the one-time password, if one was generated.
        @raise ServiceError: 400: the name or password is invalid.
        """
        if self._accounts:
            return None
        check_username(username)
        once = make_one_time_password(self._deps.random) if password is None else None
        word = check_new_password(password) if password is not None else once
        account = UserAccount(
            username=username,
            id=make_account_id(self._deps.random),
            role=AccountRole.ADMIN,
            password_hash=self._deps.hasher.hash_in_this_thread(word or ""),
            created_at=get_unix_ms(self._deps.clock),
            can_bypass_permissions=True,
            must_change_password=once is not None,
        )
        self._store.save(account)
        self._accounts[username] = account
        self._ids[username] = account.id
        return once

    async def change_account(
        self, username: str, wanted: AccountChange, caller: Caller
    ) -> UserAccount:
        """Change an account and end all access in its name.

        @param caller: authorized after the wait for a hash and before the change.  It raises if
            the caller has lost the right to the change.
        @raise ServiceError: 400; 404; 409 C{LAST_ADMIN}; 422: panes cannot run as the OS user, or
            the disk is full.
        @raise TooManyChecks: see L{FairPasswordHasher.hash_password}.
        """
        self.get_account(username)
        await self._check_os_user(wanted.os_user)
        hashed = None
        if wanted.password is not None:
            self.get_account(username)
            word = check_new_password(wanted.password)
            hashed = await self._deps.hasher.hash_password("admin", word)
        caller.reauthorize()
        before = self.get_account(username)
        after = evolve(before, **_changed_fields(wanted, hashed))
        self._refuse_losing_last_admin(before, after)
        return self._save_account(after)

    def remove_account(self, username: str) -> None:
        """Remove an account and its tokens, and end all access in its name; its sessions are kept.

        @raise ServiceError: 404; 409 C{LAST_ADMIN}; 422: the account is removed, but not yet on
            disk.
        """
        account = self.get_account(username)
        self._refuse_losing_last_admin(account, None)
        del self._accounts[username]
        try:
            with raise_unsaved_change_on_disk_error():
                self._store.delete(username)
        finally:
            self._end_access(username)

    async def reset_password(self, username: str, caller: Caller) -> str:
        """Set a one-time password for an account, and return the password.

        @param caller: as for L{change_account}.
        @raise ServiceError: 404: there is no such account.
        @raise TooManyChecks: see L{FairPasswordHasher.hash_password}.
        """
        self.get_account(username)
        once = make_one_time_password(self._deps.random)
        hashed = await self._deps.hasher.hash_password("admin", once)
        caller.reauthorize()
        account = self.get_account(username)
        self._save_account(evolve(account, password_hash=hashed, must_change_password=True))
        return once

    def end_account_access(self, username: str, tokens: bool = False) -> tuple[int, int]:
        """End all access in an account's name.

        @param tokens: true to end the account's tokens too.  Tokens belong to programs, so by
            default they remain valid.
        @return: the number of ended cookie sessions, and the number of remaining tokens.
        @raise ServiceError: 404; 422: access has ended, but this is not yet on disk.
        """
        self.get_account(username)
        try:
            revoked = self._deps.revoke(username)
        finally:
            if tokens:
                self._deps.forget(username)
        return revoked, self._deps.tokens_of(username)

    # -- for everybody

    async def set_own_password(
        self,
        username: str,
        current: str,
        new: str,
        place: str,
        caller: Caller,
    ) -> UserAccount:
        """Set the password that the user chose, and end all access in the account's name.

        @param current: the current password, already checked.  The new one must differ, since the
            current one may be a one-time password that an admin knows.
        @param caller: as for L{change_account}, because an admin may have ended the caller's
            access.
        @raise ServiceError: 400; 404: the account was removed during the request.
        @raise TooManyChecks: see L{FairPasswordHasher.hash_password}.
        """
        check_new_password(new, "newPassword")
        if new == current:
            raise make_field_error("newPassword", "must differ from the current one")
        hashed = await self._deps.hasher.hash_password(place, new)
        caller.reauthorize()
        account = self.get_account(username)
        return self._save_account(evolve(account, password_hash=hashed, must_change_password=False))

    # -- internals

    def _matches_verified_password(self, account: UserAccount, password: str) -> bool:
        seen = self._seen.get(account.username)
        if seen is None:
            return False
        found = self._deps.hasher.fingerprint_password(account.password_hash, password)
        return compare_digest(seen, found)

    def _check_new_name(self, username: str) -> None:
        if check_username(username) in self._accounts:
            raise ServiceError(ErrorCode.USER_EXISTS, f"User {username} exists already")
        if self._deps.owns(username):
            # Their sessions would pass to the new user of that name.
            raise make_conflict_error(
                f"Sessions of a former user {username} are left: end them first"
            )
        if len(self._accounts) >= MAX_ACCOUNTS:
            raise make_failure_error(f"there are {MAX_ACCOUNTS} users already")

    async def _check_os_user(self, name: str | None) -> None:
        if name:
            await self._deps.os_users.refresh_user(name)
            self._deps.os_users.get_usable_user(name)

    def _refuse_losing_last_admin(self, before: UserAccount, after: UserAccount | None) -> None:
        if not before.is_active_admin or (after is not None and after.is_active_admin):
            return
        if sum(1 for account in self._accounts.values() if account.is_active_admin) == 1:
            raise ServiceError(
                ErrorCode.LAST_ADMIN, f"User {before.username} is the last enabled admin"
            )

    def _save_account(self, account: UserAccount) -> UserAccount:
        before = self._accounts.get(account.username)
        if before is not None and account.keeps_within_rights_of(before):
            return self._store_reduced_rights(account)
        self._store.save(account)
        self._accounts[account.username] = account
        self._ids[account.username] = account.id
        self._publish_change(account.username)
        return account

    def _store_reduced_rights(self, account: UserAccount) -> UserAccount:
        """Apply a change that removes a right; if the disk does not accept it, defer the write."""
        self._accounts[account.username] = account
        try:
            with raise_unsaved_change_on_disk_error():
                self._store.save_or_defer(account)
        finally:
            self._publish_change(account.username)
        return account

    def _end_access(self, username: str) -> None:
        try:
            self._deps.forget(username)
        finally:
            self._publish_change(username)

    def _publish_change(self, username: str) -> None:
        self._seen.pop(username, None)
        try:
            self._deps.revoke(username)
        finally:
            self._deps.hub.publish(Event(name=EventName.ADMIN_USERS_CHANGED))


def _changed_fields(wanted: AccountChange, hashed: str | None) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "role": wanted.role,
        "can_bypass_permissions": wanted.can_bypass_permissions,
        "enabled": wanted.enabled,
        "password_hash": hashed,
        # A user with a password chosen by an admin is treated like a new user.
        "must_change_password": None if hashed is None else False,
    }
    changed = {name: value for name, value in fields.items() if value is not None}
    if wanted.os_user is not None:
        changed["os_user"] = wanted.os_user or None
    return changed
