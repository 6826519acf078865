"""The secret that the hooks of this machine's agents show (protocol-hook-secret)."""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256
from hmac import digest
from pathlib import Path

from attrs import frozen

from tservice.access.cookies import Random
from tservice.core.errors import StartError
from tservice.core.keyfile import kept_text
from tservice.core.places.place import HookAccess
from tservice.core.users.osuser import OsUser
from tservice.core.users.sharedfolder import SharedFolder

FILE_NAME = "hook-secret"
HEADER = "X-Service-Hook-Secret"

_CONTAINER_SECRET = re.compile(r"([a-zA-Z0-9][a-zA-Z0-9_.-]{0,200})\.[0-9a-f]{64}")
_OS_USER_SECRET = re.compile(r"([0-9]{1,10})-[0-9a-f]{64}")
_SECRET = re.compile(r"[0-9a-f]{64}")


def hook_secret(data_dir: Path, random: Random) -> str:
    """The secret of this data folder, made at the first start: 32 random bytes in hex.

    It stays the same for good: panes outlive the service, and read the file when a hook runs.

    @raise StartError: the file is not one of ours, open to others, or cannot be written.
    """
    found = kept_text(data_dir / FILE_NAME, lambda: random(32).hex())
    if not _SECRET.fullmatch(found):
        raise StartError(f"{FILE_NAME}: must hold 64 hex digits; remove it to get a new one")
    return found


def os_user_secret(secret: str, uid: int) -> str:
    """The secret of one OS user's hooks: it speaks for the sessions of that user alone.

    It is made of the instance's, which it does not tell, and names the user id before it.
    """
    made = digest(bytes.fromhex(secret), b"hooks of user %d" % uid, sha256)
    return f"{uid}-{made.hex()}"


def named_uid(shown: str) -> int | None:
    """The user id that a shown secret begins with; C{None} when it is none of that kind."""
    found = _OS_USER_SECRET.fullmatch(shown)
    return None if found is None else int(found[1])


def container_secret(secret: str, container: str) -> str:
    """The secret of one container's hooks: it speaks for the sessions in that one alone.

    It is made of the instance's, which it does not tell, and names the container before it.
    """
    made = digest(bytes.fromhex(secret), b"hooks of container " + container.encode(), sha256)
    return f"{container}.{made.hex()}"


def named_container(shown: str) -> str | None:
    """The container that a shown secret begins with; C{None} when it is none of that kind."""
    found = _CONTAINER_SECRET.fullmatch(shown)
    return None if found is None else found[1]


@frozen(kw_only=True)
class OsUserSecrets:
    """The files in which OS users' hooks find their secrets, each open to its user alone.

    @ivar secret: the instance's.
    @ivar hide: told of each secret, so that no log shows it.
    """

    secret: Callable[[], str]
    shared: SharedFolder
    hide: Callable[[str], object]

    def path_of(self, user: OsUser) -> Path:
        """Where C{user}'s is."""
        return self.shared.path / f"{user.uid}.{FILE_NAME}"

    def access(self, user: OsUser) -> HookAccess:
        """How C{user}'s hooks reach the service."""
        return HookAccess(secret_file=self.path_of(user), put=lambda: self.put(user))

    def put(self, user: OsUser) -> Path:
        """Have it there.

        @raise FileError: somebody else could get at it.
        @raise OSError: it cannot be written.
        """
        made = os_user_secret(self.secret(), user.uid)
        self.hide(made)
        self.shared.prepare()
        return self.shared.put(self.path_of(user).name, made + "\n", 0o400, user)
