"""First password of a single-user service, set on its page (protocol-first-password).

Without a password, everyone who can connect to the service's loopback address is its admin.  The
first password ends that.  The person who sets it takes over the service.  Therefore only a browser
on this machine may do so, at an address that can only mean this machine.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from pathlib import Path

from argon2 import extract_parameters
from argon2.exceptions import InvalidHashError
from attrs import frozen

from tservice.access.accounts.account import check_new_password
from tservice.access.passwords.hashing import FairPasswordHasher
from tservice.access.passwords.passwords import SingleAccount
from tservice.core.callers.authentication import SignInRule
from tservice.core.callers.caller import Caller
from tservice.core.disk.disk_errors import find_disk_problem
from tservice.core.disk.files import FileError, read_text, write_private_file
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    StartError,
    make_conflict_error,
    make_failure_error,
)


def load_password_hash(path: Path) -> str:
    """Return the stored hash of the password.

    @raise StartError: the file is not the service's, is accessible to others, or holds no argon2
        hash.  Starting without a password would open the service.
    """
    try:
        found = read_text(path, private=True).strip()
        extract_parameters(found)
    except InvalidHashError:
        why = "must hold one argon2 hash; remove it to set a password again"
        raise StartError(f"{path}: {why}") from None
    except (FileError, OSError) as error:
        text = str(error) if isinstance(error, FileError) else f"{path}: {error.strerror}"
        raise StartError(text) from None
    return found


def store_password_hash(path: Path, password_hash: str) -> None:
    """Write the hash of the first password to its file.

    @raise ServiceError: 409: another kind of file is there; 422: it cannot be written.
    """
    try:
        write_private_file(path, password_hash + "\n")
    except FileError as error:
        raise make_conflict_error(f"{error}; remove it first") from error
    except OSError as error:
        why = find_disk_problem(error) or error.strerror
        raise make_failure_error(f"{path.name} could not be written: {why}") from error


def make_hash_seal(password_hash: str, salt: bytes) -> bytes:
    """Return a value that identifies a password by its stored hash, but does not reveal it."""
    return hmac.digest(salt, password_hash.encode(), "sha256")


@frozen(kw_only=True)
class PasswordSetup:
    """Setup of the first password of a service that started without one.

    @ivar path: the file for the hash of the password.
    @ivar salt: secret of this data folder.
    @ivar rule: the rule that the password changes.
    @ivar completed: called after the password is in force, with the user name and the password.
    """

    path: Path
    salt: bytes
    rule: SignInRule
    account: SingleAccount
    hasher: FairPasswordHasher
    completed: Callable[[str, str], object]

    def find_obstacle(self, is_local: bool) -> str | None:
        """Return the reason why a caller may not set the password; C{None} if the caller may.

        @param is_local: true if the request can only come from a browser on this machine.
        """
        if self.rule.is_required:
            return "the service has a password already"
        if self.rule.is_open_by_choice:
            return "allow-unauthenticated-network is on; set SERVICE_PASSWORD instead"
        if not is_local:
            return "only a browser on the service's machine may set it, at http://localhost"
        return None

    async def set_password(
        self, password: str, *, address: str, is_local: bool, caller: Caller
    ) -> None:
        """Store the hash of a password, and require it from now on.

        @param address: the caller's address, for the fair order of hashes.
        @param is_local: see L{find_obstacle}.
        @param caller: authorized again before the password is stored.

        @raise ServiceError: nothing is changed.  400: the password is too short or too long; 403:
            this caller may not set it; 409: another caller has set it; 422: it cannot be stored.
        @raise TooManyChecks: too many passwords wait to be hashed.
        """
        self._check_allowed(is_local)
        check_new_password(password)
        password_hash = await self.hasher.hash_password(address, password)
        self._check_allowed(is_local)
        caller.reauthorize()
        store_password_hash(self.path, password_hash)
        self.account.set_hash(password_hash, make_hash_seal(password_hash, self.salt))
        self.rule.is_required = True
        self.completed(self.account.username, password)

    def _check_allowed(self, is_local: bool) -> None:
        if self.rule.is_required:
            raise make_conflict_error("The service has a password already: sign in")
        obstacle = self.find_obstacle(is_local)
        if obstacle is not None:
            raise ServiceError(ErrorCode.FORBIDDEN, f"password: {obstacle}")
