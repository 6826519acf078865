"""Accounts of multi-user mode: their record, and the rules that need nothing else
(protocol-users).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum

from attrs import frozen

from tservice.core.errors import invalid_field
from tservice.core.identity import Identity
from tservice.core.locations.workspace_bounds import AccountRights

USERNAME = re.compile(r"[a-z0-9][a-z0-9_-]{1,31}")
SHORTEST_PASSWORD = 8
LONGEST_PASSWORD = 1024
MAX_ACCOUNTS = 1000

_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
"""Letters and digits that are not mistaken for each other."""

_ONE_TIME_LENGTH = 20
_ID_BYTES = 8


class AccountRole(StrEnum):
    """Role of an account."""

    ADMIN = "admin"
    USER = "user"


@frozen(kw_only=True)
class UserAccount:
    """User account.

    @ivar id: no other account has had it, and none will: its folder is called so.
    @ivar password_hash: argon2id, as a PHC string.
    @ivar can_bypass_permissions: true if it may start shells, and agents that ask for no
        permission.
    @ivar must_change_password: true if it may only change its password.
    @ivar created_at: Unix milliseconds.
    @ivar os_user: the OS user that its panes run as; C{None}: the service's user.
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
        """True if it may do everything that only admins may."""
        return self.enabled and self.role is AccountRole.ADMIN

    def adds_no_rights(self, before: UserAccount) -> bool:
        """Return whether this account has no right that it did not have C{before}."""
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
        """Return the identity that the rest of the service uses."""
        return Identity(
            username=self.username,
            admin=self.role is AccountRole.ADMIN,
            can_bypass_permissions=self.role is AccountRole.ADMIN or self.can_bypass_permissions,
            must_change_password=self.must_change_password,
            os_user=self.os_user,
        )


def check_username(name: str) -> str:
    """Return C{name} if an account can have it.

    @raise ServiceError: 400.
    """
    if USERNAME.fullmatch(name) is None:
        raise invalid_field("username", f"must match ^{USERNAME.pattern}$")
    return name


def check_password(word: str, field: str = "password") -> str:
    """Return C{word} if it can be a password.

    @raise ServiceError: 400.
    """
    if not SHORTEST_PASSWORD <= len(word) <= LONGEST_PASSWORD:
        raise invalid_field(
            field, f"must have {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters"
        )
    return word


def new_id(random: Callable[[int], bytes]) -> str:
    """Return the id of a new account: random, so that none comes twice, whatever was restored."""
    return random(_ID_BYTES).hex()


def one_time_password(random: Callable[[int], bytes]) -> str:
    """Return a password that is shown once: about 98 bits, every letter equally likely."""
    letters: list[str] = []
    bound = 256 - 256 % len(_ALPHABET)
    while len(letters) < _ONE_TIME_LENGTH:
        letters += [_ALPHABET[byte % len(_ALPHABET)] for byte in random(32) if byte < bound]
    return "".join(letters[:_ONE_TIME_LENGTH])
