"""Accounts of multi-user mode: the record, and rules that depend on nothing else
(protocol-users).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum

from attrs import frozen

from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import make_field_error
from tservice.core.locations.workspace_bounds import AccountRights

USERNAME = re.compile(r"[a-z0-9][a-z0-9_-]{1,31}")
SHORTEST_PASSWORD = 8
LONGEST_PASSWORD = 1024
MAX_ACCOUNTS = 1000

_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
"""Letters and digits that are not easily confused with each other."""

_ONE_TIME_LENGTH = 20
_ID_BYTES = 8


class AccountRole(StrEnum):
    """Role of an account."""

    ADMIN = "admin"
    USER = "user"


@frozen(kw_only=True)
class UserAccount:
    """User account.

    @ivar id: id that is never used for another account; also the name of the account's folder.
    @ivar password_hash: argon2id hash, as a PHC string.
    @ivar can_bypass_permissions: true if the user may start shells, and agents that do not ask for
        permission.
    @ivar must_change_password: true if the user must change the password before any other action.
    @ivar created_at: time of creation in Unix milliseconds.
    @ivar os_user: the OS user that the account's panes run as.  C{None} for the service's user.
    """

    username: str
    id: str
    role: AccountRole
    password_hash: str
    created_at: int
    can_bypass_permissions: bool = False
    enabled: bool = True
    must_change_password: bool = False
    os_user: str | None = None

    @property
    def is_active_admin(self) -> bool:
        """True if the account is an admin and is enabled."""
        return self.enabled and self.role is AccountRole.ADMIN

    def keeps_within_rights_of(self, before: UserAccount) -> bool:
        """Return whether this account has no right that it lacked before a change.

        @param before: the account before the change.
        """
        return (
            (self.password_hash, self.os_user) == (before.password_hash, before.os_user)
            and self.role in (before.role, AccountRole.USER)
            and self.can_bypass_permissions <= before.can_bypass_permissions
            and self.enabled <= before.enabled
            and self.must_change_password >= before.must_change_password
        )

    def get_rights(self) -> AccountRights:
        """Return the account's rights, independent of the caller."""
        known = self.make_identity()
        return AccountRights(
            is_enabled=self.enabled,
            is_admin=known.admin,
            os_user=known.os_user,
            may_bypass_permissions=known.can_bypass_permissions,
        )

    def make_identity(self) -> Identity:
        """Return the identity of a caller who signs in with this account."""
        return Identity(
            username=self.username,
            admin=self.role is AccountRole.ADMIN,
            can_bypass_permissions=self.role is AccountRole.ADMIN or self.can_bypass_permissions,
            must_change_password=self.must_change_password,
            os_user=self.os_user,
        )


def check_username(name: str) -> str:
    """Return C{name} if it is a valid user name.

    @raise ServiceError: 400: the name is invalid.
    """
    if USERNAME.fullmatch(name) is None:
        raise make_field_error("username", f"must match ^{USERNAME.pattern}$")
    return name


def check_new_password(word: str, field: str = "password") -> str:
    """Return C{word} if it is a valid new password.

    @param field: the name of the request's field, for the error text.
    @raise ServiceError: 400: the password is invalid.
    """
    if not SHORTEST_PASSWORD <= len(word) <= LONGEST_PASSWORD:
        raise make_field_error(
            field, f"must have {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters"
        )
    return word


def make_account_id(random: Callable[[int], bytes]) -> str:
    """Return a random id for a new account, which does not repeat even if a database is restored.

    @param random: returns that many unguessable bytes.
    """
    return random(_ID_BYTES).hex()


def make_one_time_password(random: Callable[[int], bytes]) -> str:
    """Return a random password of about 98 bits, which is shown once.

    @param random: returns that many unguessable bytes.
    """
    letters: list[str] = []
    bound = 256 - 256 % len(_ALPHABET)
    while len(letters) < _ONE_TIME_LENGTH:
        letters += [_ALPHABET[byte % len(_ALPHABET)] for byte in random(32) if byte < bound]
    return "".join(letters[:_ONE_TIME_LENGTH])
