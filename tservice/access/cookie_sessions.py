"""Cookie sessions, which a sign-in opens and every request extends, until they expire or are ended.

They are held in memory (at most L{MAX_SESSIONS}) and written to the store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from hmac import compare_digest

from attrs import evolve
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from tservice.access.interfaces import ICookieStore
from tservice.access.model import (
    COOKIE,
    LIFETIME_SECONDS,
    MAX_AGENT,
    MAX_SESSIONS,
    SCANNED_KEY_PREFIX,
    TTL_SECONDS,
    CookieSession,
    OpenedSession,
    hash_cookie,
)
from tservice.core.callers.authentication import AuthenticationRequest
from tservice.core.disk.disk_errors import DiskFull, raise_unsaved_change_on_disk_error
from tservice.core.kernel.clock import get_unix_ms, seconds_until
from tservice.core.kernel.timers import cancel_call

SLACK_SECONDS = 300
"""Maximum difference in seconds between a session's expiry and the value on disk.

A request therefore causes a write only when it has moved the expiry by this much.
"""

LOOK_SECONDS = 60.0
"""Maximum interval in seconds between checks for expired sessions, whose open streams are then
ended.
"""

Random = Callable[[int], bytes]


class CookieSessionRegistry:
    """Registry of all sign-in sessions."""

    def __init__(
        self,
        store: ICookieStore,
        clock: IReactorTime,
        random: Random,
        revoked: Callable[[frozenset[str]], None] = lambda ids: None,
        opened: Callable[[CookieSession], None] = lambda session: None,
        seal_of: Callable[[str], bytes | None] = lambda username: b"",
    ) -> None:
        """@param random: returns that many unguessable bytes.
        @param revoked: called with the ids of ended or expired sessions, so that their open streams
            can be ended.
        @param opened: called with each new session.
        @param seal_of: returns a value that identifies a user's current password.
        """
        self._opened, self._seal_of = opened, seal_of
        self._store, self._clock, self._random, self._revoked = store, clock, random, revoked
        self._sessions = {session.token_hash: session for session in store.load()}
        self._kept_until = {s.id: s.expires_at for s in self._sessions.values()}
        self._hashes = {s.id: s.token_hash for s in self._sessions.values()}
        self._tokens: dict[str, str] = {}
        self._timer: IDelayedCall | None = None
        self._schedule_expiry()

    def open_session(
        self, username: str, method: str, address: str, user_agent: str, keyed: bool = True
    ) -> OpenedSession:
        """Open a session for a user who signs in.

        @param method: the way of signing in: C{login}, C{basic} or C{qr}.
        @param keyed: true if the cookie is valid only with a page key, as for browsers.
        """
        self._remove_expired_sessions()
        self._end_oldest_session_if_full()
        token, now = self._random(32).hex(), get_unix_ms(self._clock)
        key = (
            (SCANNED_KEY_PREFIX if method == "qr" else "") + self._random(32).hex()
            if keyed
            else None
        )
        session = CookieSession(
            id=self._random(8).hex(),
            token_hash=hash_cookie(token),
            key_hash=None if key is None else hash_cookie(key),
            seal=self._seal_of(username) or b"",
            username=username,
            method=method,
            address=address,
            user_agent=user_agent[:MAX_AGENT],
            created_at=now,
            expires_at=now + TTL_SECONDS * 1000,
        )
        self._store_session(session)
        self._sessions[session.token_hash] = session
        self._hashes[session.id] = session.token_hash
        self._schedule_expiry()
        self._opened(session)
        return OpenedSession(id=session.id, token=token, key=key)

    def find_or_open(
        self, username: str, address: str, user_agent: str, keyed: bool = False
    ) -> OpenedSession:
        """Return the session of a caller that signs in with every request; open one at the first.

        A program that keeps no cookies thus has one session, not one for each request
        (protocol-cookies).

        @param keyed: as for L{open_session}; the key is not sent to the caller.
        """
        self._remove_expired_sessions()
        agent = user_agent[:MAX_AGENT]
        wanted = (username, address, agent, keyed)
        for session in reversed(self._list_live()):
            own = (session.username, session.address, session.user_agent)
            if session.id in self._tokens and (*own, session.key_hash is not None) == wanted:
                self.extend_session(session)
                return OpenedSession(id=session.id, token=self._tokens[session.id], key=None)
        opened = self.open_session(username, "basic", address, agent, keyed)
        # A hash cannot be turned into a cookie: these cookies stay in this process's memory.
        self._tokens[opened.id] = opened.token
        return evolve(opened, key=None)

    def find_session(self, token: str) -> CookieSession | None:
        """Return the live session of a cookie; C{None} if there is none."""
        session = self._sessions.get(hash_cookie(token))
        if session is not None and session.expires_at <= get_unix_ms(self._clock):
            self._remove_expired_sessions()
            return None
        return session

    def find_presented_sessions(
        self, visit: AuthenticationRequest
    ) -> list[tuple[str, CookieSession]]:
        """Return pairs of a cookie and its live session, for all cookies in a request.

        The session is included even if the cookie needs a page key that the request lacks.
        """
        found = [(token, self.find_session(token)) for token in visit.cookies(COOKIE)]
        return [(token, session) for token, session in found if session is not None]

    def find_key_owner(self, key: str) -> str | None:
        """Return the user to whose live session a page key belongs, whatever cookie is sent."""
        hashed, now = hash_cookie(key), get_unix_ms(self._clock)
        for session in self._sessions.values():
            if session.key_hash is not None and compare_digest(session.key_hash, hashed):
                return session.username if session.expires_at > now else None
        return None

    def get_remaining_seconds(self, session: CookieSession) -> int:
        """Return the seconds until a session expires if no further request arrives."""
        return (session.expires_at - get_unix_ms(self._clock)) // 1000

    def is_live(self, session_id: str) -> bool:
        """Return whether a session has neither ended nor expired, without extending it."""
        found = self._hashes.get(session_id)
        return found is not None and self._sessions[found].expires_at > get_unix_ms(self._clock)

    def list_sessions(self) -> Sequence[CookieSession]:
        """Return every live session, oldest first."""
        self._remove_expired_sessions()
        return self._list_live()

    def revoke_sessions(self, which: Callable[[CookieSession], bool] = lambda session: True) -> int:
        """End the sessions for which C{which} returns true.

        @return: the number of ended sessions.
        @raise ServiceError: 422: the sessions have ended, but this is not yet on disk.
        """
        self._remove_expired_sessions()
        ended = [session for session in self._list_live() if which(session)]
        with raise_unsaved_change_on_disk_error("signed out"):
            self._end_sessions(ended)
        return len(ended)

    def _list_live(self) -> list[CookieSession]:
        return sorted(self._sessions.values(), key=lambda s: (s.created_at, s.id))

    def close(self) -> None:
        """Cancel the expiry timer."""
        cancel_call(self._timer)
        self._timer = None

    def _schedule_expiry(self) -> None:
        """Schedule a check for the time when the next session may expire."""
        if self._timer is None and self._sessions:
            soonest = min(session.expires_at for session in self._sessions.values())
            wait = seconds_until(self._clock, soonest, LOOK_SECONDS)
            self._timer = self._clock.callLater(wait, self._end_expired)

    def _end_expired(self) -> None:
        self._timer = None
        self._remove_expired_sessions()
        self._schedule_expiry()

    def _end_oldest_session_if_full(self) -> None:
        """End the oldest session of the user with most sessions.

        So no user can displace the sessions of others.
        """
        while len(self._sessions) >= MAX_SESSIONS:
            live = self._list_live()
            [(most, _)] = Counter(session.username for session in live).most_common(1)
            with suppress(DiskFull):  # the write is deferred, but the session has ended
                self._end_sessions([next(session for session in live if session.username == most)])

    def extend_session(self, session: CookieSession) -> CookieSession:
        """Restart a session's lifetime as a request does, and return the updated session."""
        end = get_unix_ms(self._clock) + TTL_SECONDS * 1000
        later = evolve(session, expires_at=min(end, _get_latest_expiry(session)))
        if later.expires_at > self._kept_until[session.id]:
            self._store_session(later)
        self._sessions[session.token_hash] = later
        return later

    def _store_session(self, session: CookieSession) -> None:
        # The lifetime that the cookie promises is on disk before the response is sent.
        end = session.expires_at + SLACK_SECONDS * 1000
        kept = evolve(session, expires_at=min(end, _get_latest_expiry(session)))
        self._store.save(kept)
        self._kept_until[session.id] = kept.expires_at

    def _remove_expired_sessions(self) -> None:
        now = get_unix_ms(self._clock)
        with suppress(DiskFull):  # an expired session stays expired after a restart
            self._end_sessions([s for s in self._sessions.values() if s.expires_at <= now])

    def _end_sessions(self, sessions: Iterable[CookieSession]) -> None:
        ended = list(sessions)
        if not ended:
            return
        ids = [session.id for session in ended]
        for session in ended:
            del self._sessions[session.token_hash]
            del self._kept_until[session.id]
            del self._hashes[session.id]
            self._tokens.pop(session.id, None)
        self._revoked(frozenset(ids))
        self._store.delete(ids)


def _get_latest_expiry(session: CookieSession) -> int:
    """Return the time after which a session cannot be extended, in Unix milliseconds."""
    return session.created_at + LIFETIME_SECONDS * 1000
