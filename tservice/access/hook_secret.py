"""Secret that hooks of agents on this machine send (protocol-hook-secret)."""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256
from hmac import digest
from pathlib import Path

from attrs import frozen

from tservice.access.cookie_sessions import Random
from tservice.core.disk.secret_file import load_or_create_secret
from tservice.core.kernel.errors import StartError
from tservice.core.locations.location import HookAccess
from tservice.core.users.os_users import OsUser
from tservice.core.users.shared_folder import SharedFolder

FILE_NAME = "hook-secret"
HEADER = "X-Service-Hook-Secret"

_CONTAINER_SECRET = re.compile(r"([a-zA-Z0-9][a-zA-Z0-9_.-]{0,200})\.[0-9a-f]{64}")
_OS_USER_SECRET = re.compile(r"([0-9]{1,10})-[0-9a-f]{64}")
_SECRET = re.compile(r"[0-9a-f]{64}")


def load_hook_secret(data_dir: Path, random: Random) -> str:
    """Return the secret of this data folder, created at the first start: 32 random bytes in hex.

    The secret never changes: panes outlive the service, and read the file when a hook runs.

    @raise StartError: the file does not belong to the service's user, is accessible to others, or
        cannot be written.
    """
    found = load_or_create_secret(data_dir / FILE_NAME, lambda: random(32).hex())
    if not _SECRET.fullmatch(found):
        raise StartError(f"{FILE_NAME}: must hold 64 hex digits; remove it to get a new one")
    return found


def derive_os_user_secret(secret: str, uid: int) -> str:
    """Return the secret of one OS user's hooks, valid only for the sessions of that user.

    It is derived from the service's secret, which it does not reveal, and begins with the user id.
    """
    made = digest(bytes.fromhex(secret), b"hooks of user %d" % uid, sha256)
    return f"{uid}-{made.hex()}"


def parse_secret_uid(shown: str) -> int | None:
    """Return the user id with which a presented secret begins; C{None} for other secrets."""
    found = _OS_USER_SECRET.fullmatch(shown)
    return None if found is None else int(found[1])


def derive_container_secret(secret: str, container: str) -> str:
    """Return the secret of one container's hooks, valid only for the sessions in that container.

    It is derived from the service's secret, which it does not reveal, and begins with the
    container's name.
    """
    made = digest(bytes.fromhex(secret), b"hooks of container " + container.encode(), sha256)
    return f"{container}.{made.hex()}"


def parse_secret_container(shown: str) -> str | None:
    """Return the container with whose name a presented secret begins; C{None} for other secrets."""
    found = _CONTAINER_SECRET.fullmatch(shown)
    return None if found is None else found[1]


@frozen(kw_only=True)
class OsUserSecrets:
    """Files with the hook secrets of OS users, each readable by its user only.

    @ivar secret: the service's secret, from which those of users are derived.
    @ivar hide: called with each derived secret, so that logs do not show it.
    """

    secret: Callable[[], str]
    shared: SharedFolder
    hide: Callable[[str], object]

    def get_path(self, user: OsUser) -> Path:
        """Return the path of the file with C{user}'s secret."""
        return self.shared.path / f"{user.uid}.{FILE_NAME}"

    def get_hook_access(self, user: OsUser) -> HookAccess:
        """Return the data with which C{user}'s hooks reach the service."""
        return HookAccess(secret_file=self.get_path(user), put=lambda: self.write_secret(user))

    def write_secret(self, user: OsUser) -> Path:
        """Write C{user}'s secret to its file, and return the path.

        @raise FileError: another user could access the file.
        @raise OSError: the file cannot be written.
        """
        made = derive_os_user_secret(self.secret(), user.uid)
        self.hide(made)
        self.shared.create_folder()
        return self.shared.write_file(self.get_path(user).name, made + "\n", 0o400, user)
