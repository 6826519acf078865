"""Which OS user a session's process runs as (protocol-os-users)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from attrs import field, frozen

from tservice.core.errors import failed
from tservice.core.files import FileError
from tservice.core.identity import Identity
from tservice.core.users.osuser import OsUser, OsUsers
from tservice.sessions.record.model import Session


class ISecrets(Protocol):
    """The files in which OS users' hooks find their secrets."""

    def path_of(self, user: OsUser) -> Path:
        """Where it is."""

    def put(self, user: OsUser) -> Path:
        """Have it there; raises C{OSError} or L{FileError}."""


def _nobody(owner: str | None) -> str | None:
    return None


@frozen(kw_only=True)
class SessionOsUsers:
    """The rules.

    A session is made for the OS user of its account and stays that user's for good: what it left
    behind (the workspace, the agent's conversation) is that user's too.  When the account is given
    another OS user, or none, what runs goes on, and nothing is started anew.

    @ivar users: the OS users.
    @ivar of_account: the OS user that an owner's account names now.
    @ivar secrets: C{None} where nothing runs as another user.
    """

    users: OsUsers = field(factory=OsUsers)
    of_account: Callable[[str | None], str | None] = _nobody
    secrets: ISecrets | None = None

    def of_caller(self, caller: Identity) -> OsUser | None:
        """As whom the sessions run that C{caller} makes.

        @raise ServiceError: 422 naming C{osUser}: panes cannot run as that user now.
        """
        return None if caller.os_user is None else self.users.judge(caller.os_user)

    def starting(self, session: Session) -> OsUser | None:
        """As whom C{session} is to be started.

        @raise ServiceError: 422 naming C{osUser}.
        """
        known = session.os_user
        named = self.of_account(session.owner)
        if named != (None if known is None else known.name):
            raise failed("osUser: the account has another one than when the session was made")
        return None if known is None else self.users.judge_again(known)

    def secret_file(self, user: OsUser) -> Path:
        """Where C{user}'s hooks find their secret.

        @raise ServiceError: 422: there are no such secrets.
        """
        return self._secrets().path_of(user)

    def put_secret(self, user: OsUser | None) -> None:
        """Have the secret of C{user}'s hooks in its file; the service's own has one already.

        @raise ServiceError: 422: it cannot be put there.
        """
        if user is None:
            return
        try:
            self._secrets().put(user)
        except (OSError, FileError) as error:
            raise failed(f"the hooks' secret cannot be put in place: {error}") from error

    def _secrets(self) -> ISecrets:
        if self.secrets is None:
            raise failed("osUser: panes can only run as the service's own user")
        return self.secrets
