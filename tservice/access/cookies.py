"""Cookie sessions: opened by a sign-in, extended by every request, ended by time or on demand.

All of them are held in memory (there are at most L{MAX_SESSIONS}); the store follows.
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
    SCANNED,
    TTL_SECONDS,
    CookieSession,
    Opened,
    digest,
)
from tservice.core.authentication import Visit
from tservice.core.clock import now_ms, seconds_until
from tservice.core.disk import NotKept, holding
from tservice.core.timers import cancel

SLACK_SECONDS = 300
"""How much longer a session lives on the disk than it must.

A request so costs a write only when it has moved the end by this much.
"""

LOOK_SECONDS = 60.0
"""The longest time between two looks for expired sessions, whose open streams end with them."""

Random = Callable[[int], bytes]


class CookieSessions:
    """Every session that is signed in."""

    def __init__(
        self,
        store: ICookieStore,
        clock: IReactorTime,
        random: Random,
        revoked: Callable[[frozenset[str]], None] = lambda ids: None,
        opened: Callable[[CookieSession], None] = lambda session: None,
        seal_of: Callable[[str], bytes | None] = lambda username: b"",
    ) -> None:
        """
        @param random: gives so many unguessable bytes.
        @param revoked: told the ids of sessions that are over, by time too, so that their open
            streams can end as well.
        @param opened: told each new session.
        @param seal_of: the seal of the password that a user has now.
        """
        self._opened, self._seal_of = opened, seal_of
        self._store, self._clock, self._random, self._revoked = store, clock, random, revoked
        self._sessions = {session.token_hash: session for session in store.load()}
        self._kept_until = {s.id: s.expires_at for s in self._sessions.values()}
        self._hashes = {s.id: s.token_hash for s in self._sessions.values()}
        self._tokens: dict[str, str] = {}
        self._timer: IDelayedCall | None = None
        self._watch()

    def open(
        self, username: str, method: str, address: str, user_agent: str, keyed: bool = True
    ) -> Opened:
        """Sign somebody in.

        @param keyed: whether the cookie needs the key; only a program's does not.
        """
        self._forget_expired()
        self._make_room()
        token, now = self._random(32).hex(), now_ms(self._clock)
        key = (SCANNED if method == "qr" else "") + self._random(32).hex() if keyed else None
        session = CookieSession(
            id=self._random(8).hex(),
            token_hash=digest(token),
            key_hash=None if key is None else digest(key),
            seal=self._seal_of(username) or b"",
            username=username,
            method=method,
            address=address,
            user_agent=user_agent[:MAX_AGENT],
            created_at=now,
            expires_at=now + TTL_SECONDS * 1000,
        )
        self._keep(session)
        self._sessions[session.token_hash] = session
        self._hashes[session.id] = session.token_hash
        self._watch()
        self._opened(session)
        return Opened(id=session.id, token=token, key=key)

    def reuse(self, username: str, address: str, user_agent: str, keyed: bool = False) -> Opened:
        """The session of a caller that signs in with every request, opened at its first.

        A program that keeps no cookies so holds one session, not one for each request
        (protocol-cookies).

        @param keyed: as for L{open}; nobody is told the key.
        """
        self._forget_expired()
        agent = user_agent[:MAX_AGENT]
        wanted = (username, address, agent, keyed)
        for session in reversed(self._live()):
            own = (session.username, session.address, session.user_agent)
            if session.id in self._tokens and (*own, session.key_hash is not None) == wanted:
                self.extend(session)
                return Opened(id=session.id, token=self._tokens[session.id], key=None)
        opened = self.open(username, "basic", address, agent, keyed)
        # Hashes cannot be given out again: these cookies stay in this process's memory.
        self._tokens[opened.id] = opened.token
        return evolve(opened, key=None)

    def find(self, token: str) -> CookieSession | None:
        """The live session of a cookie."""
        session = self._sessions.get(digest(token))
        if session is not None and session.expires_at <= now_ms(self._clock):
            self._forget_expired()
            return None
        return session

    def shown(self, visit: Visit) -> list[tuple[str, CookieSession]]:
        """The live sessions whose cookies a request shows, rightly or not, with their cookies."""
        found = [(token, self.find(token)) for token in visit.cookies(COOKIE)]
        return [(token, session) for token, session in found if session is not None]

    def owner_of_key(self, key: str) -> str | None:
        """Whose live session a page's key is of, whatever cookie is shown beside it."""
        hashed, now = digest(key), now_ms(self._clock)
        for session in self._sessions.values():
            if session.key_hash is not None and compare_digest(session.key_hash, hashed):
                return session.username if session.expires_at > now else None
        return None

    def seconds_left(self, session: CookieSession) -> int:
        """Until a session ends, unless there is another request."""
        return (session.expires_at - now_ms(self._clock)) // 1000

    def lives(self, session_id: str) -> bool:
        """Whether a session is signed in still; its time is not extended."""
        found = self._hashes.get(session_id)
        return found is not None and self._sessions[found].expires_at > now_ms(self._clock)

    def sessions(self) -> Sequence[CookieSession]:
        """Every live session, the oldest first."""
        self._forget_expired()
        return self._live()

    def revoke(self, which: Callable[[CookieSession], bool] = lambda session: True) -> int:
        """End sessions at once.

        @return: how many.
        @raise ServiceError: 422: they are ended, but the disk does not take it yet.
        """
        self._forget_expired()
        ended = [session for session in self._live() if which(session)]
        with holding("signed out"):
            self._end(ended)
        return len(ended)

    def _live(self) -> list[CookieSession]:
        return sorted(self._sessions.values(), key=lambda s: (s.created_at, s.id))

    def close(self) -> None:
        """Let go of the timer."""
        cancel(self._timer)
        self._timer = None

    def _watch(self) -> None:
        """Look when the first session may expire."""
        if self._timer is None and self._sessions:
            soonest = min(session.expires_at for session in self._sessions.values())
            wait = seconds_until(self._clock, soonest, LOOK_SECONDS)
            self._timer = self._clock.callLater(wait, self._look)

    def _look(self) -> None:
        self._timer = None
        self._forget_expired()
        self._watch()

    def _make_room(self) -> None:
        """End the oldest session of whoever has most: nobody can push the others out."""
        while len(self._sessions) >= MAX_SESSIONS:
            live = self._live()
            [(most, _)] = Counter(session.username for session in live).most_common(1)
            with suppress(NotKept):  # owed to the disk, and over all the same
                self._end([next(session for session in live if session.username == most)])

    def extend(self, session: CookieSession) -> CookieSession:
        """A live session, with as much time as it can have."""
        end = now_ms(self._clock) + TTL_SECONDS * 1000
        later = evolve(session, expires_at=min(end, _last_moment(session)))
        if later.expires_at > self._kept_until[session.id]:
            self._keep(later)
        self._sessions[session.token_hash] = later
        return later

    def _keep(self, session: CookieSession) -> None:
        # What the cookie promises is on the disk before the answer leaves.
        end = session.expires_at + SLACK_SECONDS * 1000
        kept = evolve(session, expires_at=min(end, _last_moment(session)))
        self._store.save(kept)
        self._kept_until[session.id] = kept.expires_at

    def _forget_expired(self) -> None:
        now = now_ms(self._clock)
        with suppress(NotKept):  # expired is expired, also after a restart
            self._end([s for s in self._sessions.values() if s.expires_at <= now])

    def _end(self, sessions: Iterable[CookieSession]) -> None:
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


def _last_moment(session: CookieSession) -> int:
    """When a session ends at the latest, in Unix milliseconds."""
    return session.created_at + LIFETIME_SECONDS * 1000
