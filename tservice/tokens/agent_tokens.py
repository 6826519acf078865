"""Tokens that the service gives to agents, valid only for their child sessions
(protocol-agent-tokens).

They are kept in memory only.  Each token is in a file of its session, whose path the pane gets in
C{SERVICE_AGENT_TOKEN_FILE}.  After a restart the service reattaches to the pane and writes a new
token to the file.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from attrs import evolve, field, frozen
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from tservice.core.callers.authentication import (
    AuthenticationRequest,
    CredentialsAccepted,
    IAuthenticator,
    Verdict,
)
from tservice.core.callers.identity import Identity
from tservice.core.disk.files import FileError, write_private_file
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.scopes import Scope
from tservice.core.kernel.timers import cancel_call
from tservice.sessions.interfaces import IAgentTokens
from tservice.tokens.model import hash_token, make_token, parse_bearer_header

VARIABLE = "SERVICE_AGENT_TOKEN_FILE"
FOLDER = "agent-tokens"
LIFETIME = 12 * 3600.0
"""Lifetime of an agent token in seconds, from the start of the session's process."""
SCOPES = frozenset(
    {Scope.SESSIONS_READ, Scope.SESSIONS_INPUT, Scope.SESSIONS_MANAGE, Scope.WAITS, Scope.GIT}
)
"""Scopes of agent tokens.

The approval inbox is not included, because people answer the questions of child sessions.
"""
OVER = frozenset({EventName.SESSION_EXIT, EventName.SESSION_DELETED})


@frozen(kw_only=True)
class _AgentToken:
    """Valid token of an agent.

    @ivar owner: the account that owns the session.
    """

    session: str
    owner: str
    token_hash: bytes
    end: IDelayedCall = field(eq=False)


@implementer(IAuthenticator, IAgentTokens)
class AgentTokens:
    """Issues one token to each session that starts, and authenticates these tokens."""

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        random: Callable[[int], bytes],
        folder: Path,
        enabled: Callable[[], bool],
        hub: EventHub,
        owner: Callable[[str], Identity | None],
        children: Callable[[str], frozenset[str]],
        ended: Callable[[str], None],
    ) -> None:
        """@param random: returns that many unguessable bytes.
        @param folder: the folder of the tokens' files.
        @param enabled: returns the setting C{agentTokens}.
        @param owner: returns an account's current identity; C{None} if it was removed or is
            disabled.
        @param children: returns the ids of the sessions that a session has created.
        @param ended: called with the id of a session whose token has ended.
        """
        self._clock, self._random, self._folder = clock, random, folder
        self._enabled, self._owner, self._children, self._ended = enabled, owner, children, ended
        self._given: dict[str, _AgentToken] = {}
        self._by_hash: dict[bytes, _AgentToken] = {}
        self._unsubscribe = hub.subscribe(self._handle_event)
        self._remove_stale_files()

    def issue_token(self, session: str, owner: str) -> Path | None:
        """Issue a token to a session whose process starts, or was found running after a restart.

        @return: the path of the token's file.  C{None} if the setting is off, or the disk does not
            accept the file.
        """
        self.revoke_token(session)
        if not self._enabled():
            return None
        path = self._folder / session
        word = make_token(self._random)
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            write_private_file(path, f"{word}\n")
        except (OSError, FileError) as error:
            # The agent works without a token, but cannot create child sessions.
            self._log.warn("no token for {session}: {error}", session=session, error=error)
            return None
        timer = self._clock.callLater(LIFETIME, self.revoke_token, session)
        given = _AgentToken(session=session, owner=owner, token_hash=hash_token(word), end=timer)
        self._given[session] = self._by_hash[given.token_hash] = given
        return path

    def revoke_token(self, session: str) -> None:
        """Revoke a session's token, end all access with it, and remove its file."""
        given = self._given.pop(session, None)
        if given is None:
            return
        del self._by_hash[given.token_hash]
        cancel_call(given.end)
        self._ended(session)
        self._remove_file(self._folder / session)

    async def authenticate(self, visit: AuthenticationRequest) -> Verdict:
        word = parse_bearer_header(visit.header("authorization") or "")
        given = None if word is None else self._by_hash.get(hash_token(word))
        identity = None if given is None else self._token_identity(given)
        return None if identity is None else CredentialsAccepted(identity=identity)

    def reauthorize_identity(self, identity: Identity) -> Identity | None:
        given = None if identity.parent is None else self._given.get(identity.parent)
        return (
            None
            if given is None or given.session != identity.parent
            else self._token_identity(given)
        )

    def close(self) -> None:
        """Unsubscribe from events.

        The panes keep running, and get new tokens when the service starts again.
        """
        self._unsubscribe()
        for given in self._given.values():
            cancel_call(given.end)

    def _token_identity(self, given: _AgentToken) -> Identity | None:
        owner = self._owner(given.owner)
        if owner is None or not self._enabled():
            return None
        return evolve(
            owner,
            method="token",
            auth_session=None,
            token=f"agent:{given.session}",
            scopes=SCOPES,
            sessions=self._children(given.session),
            parent=given.session,
            can_bypass_permissions=False,
        )

    def _handle_event(self, event: Event) -> None:
        if event.name in OVER and event.session_id is not None:
            self.revoke_token(event.session_id)
        if event.name is EventName.SETTINGS_CHANGED and not self._enabled():
            for session in tuple(self._given):
                self.revoke_token(session)

    def _remove_stale_files(self) -> None:
        """Remove token files that an earlier run of the service left; their tokens are invalid."""
        with suppress(FileNotFoundError):
            for path in self._folder.iterdir():
                self._remove_file(path)

    def _remove_file(self, path: Path) -> None:
        try:
            os.unlink(path)
        except OSError as error:
            if error.errno != errno.ENOENT:
                self._log.warn("{path} could not be removed: {error}", path=path, error=error)
