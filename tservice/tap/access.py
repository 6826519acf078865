"""Who may pass, put together."""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable

from attrs import field, frozen

from tservice.access import hooksecret
from tservice.access.account_routes import AccountRoutes
from tservice.access.accounts import Accounts, Surroundings
from tservice.access.accountstore import AccountStore
from tservice.access.authenticators import (
    BasicAuthenticator,
    CookieAuthenticator,
    Everybody,
    HookAuthenticator,
)
from tservice.access.capabilities import Capabilities
from tservice.access.cookies import CookieSessions
from tservice.access.cookiestore import DatabaseCookieStore
from tservice.access.failures import Failures
from tservice.access.firstadmin import make_first_admin
from tservice.access.hashing import Hasher, password_seal
from tservice.access.interfaces import IAccounts
from tservice.access.model import CookieSession
from tservice.access.passwords import SingleAccount
from tservice.access.routes import AccessRoutes
from tservice.audit.interfaces import IAuditLog
from tservice.audit.model import Entry
from tservice.audit.service import AuditLog
from tservice.core.authentication import IAuthenticator
from tservice.core.doors.reach import IReach
from tservice.core.doors.threads import Doors
from tservice.core.errors import ServiceError
from tservice.core.identity import Identity
from tservice.core.stack import Closing, ServiceStack
from tservice.http.gate import Gate, rules_of
from tservice.http.operations import Operation
from tservice.http.parked import ParkedCalls
from tservice.http.sse import EventStreams
from tservice.http.static import Pages
from tservice.http.websockets.upgrade import WebSockets
from tservice.push.store import PushStore
from tservice.sessions.service import SessionService
from tservice.store.database import Database
from tservice.tap.base import Base
from tservice.tap.tunnel import tunnel_operations, wire_qr_login
from tservice.tokens.routes import TokenRoutes
from tservice.tokens.service import TokenAuthenticator, TokenService
from tservice.tokens.store import TokenStore
from tservice.tunnel.service import Tunnel


@frozen(kw_only=True)
class Ground:
    """What the perimeter stands on."""

    base: Base
    database: Database
    doors: Doors
    reach: IReach
    audit: AuditLog
    sessions: SessionService
    sockets: WebSockets
    streams: EventStreams
    parked: ParkedCalls
    pages: Pages
    tunnel: Tunnel
    random: Callable[[int], bytes] = field(default=os.urandom)

    def drop(self, whose: Callable[[Identity], bool]) -> None:
        """End the sockets, streams and waits of those whose right to them is over."""
        for open_ones in (self.sockets, self.streams, self.parked):
            open_ones.drop(whose)


@frozen(kw_only=True)
class AccessParts:
    """Who may pass, and the routes of signing in and out.

    @ivar accounts: C{None} where nobody has to sign in.
    @ivar capabilities: for what is opened by a word in a path.
    """

    gate: Gate
    accounts: IAccounts | None
    capabilities: Capabilities
    operations: list[Operation]


def wire_access(ground: Ground, stack: ServiceStack) -> AccessParts:
    """Passwords, accounts, cookies, tokens, the hook secret, and the gate that asks for them.

    @raise StartError: a secret's file is not one of ours, or open to others; or there can be no
        first admin.
    """
    base = ground.base
    config = base.config
    secret = hooksecret.hook_secret(config.data_dir, ground.random)
    base.redactor.register(secret)
    capabilities = Capabilities(base.reactor, ground.random)

    def seal_of(username: str) -> bytes | None:
        return None if accounts is None else accounts.seal(username)

    cookies = _cookies(ground, capabilities, seal_of)
    Closing("cookie sessions", cookies.close).setServiceParent(stack)
    tokens = TokenService(
        TokenStore(ground.database),
        base.reactor,
        ground.random,
        lambda ids: ground.drop(lambda identity: identity.token in ids),
    )
    Closing("tokens", tokens.close).setServiceParent(stack)
    failures = Failures(base.reactor, ground.audit.failed)

    def forget(username: str) -> None:
        login.forget(username)
        capabilities.end(lambda known: known.username == username)

    accounts, routes = _accounts(ground, secret, cookies, tokens, failures, forget)
    if accounts is not None:
        # Those that were made under another password, changed while nobody was here.
        cookies.revoke(lambda session: session.seal != seal_of(session.username))
    login = wire_qr_login(base, ground.tunnel, cookies, failures, accounts, stack)
    gate = Gate(
        rules_of(config, (), ground.tunnel.hosts),
        _authenticators(config.username, cookies, tokens, accounts),
        HookAuthenticator(secret),
        failures,
        lambda session_id: owner_of(ground.sessions, session_id),
        ground.pages.login_page,
    )
    signing = AccessRoutes(
        cookies, accounts, failures, config.username, config.multiuser, login.renew_all
    )
    operations = [
        *signing.operations(),
        *routes,
        *TokenRoutes(tokens).operations(),
        *tunnel_operations(ground.tunnel, login, cookies, lambda: ground.streams.count),
    ]
    return AccessParts(
        gate=gate, accounts=accounts, capabilities=capabilities, operations=operations
    )


def _cookies(
    ground: Ground, capabilities: Capabilities, seal_of: Callable[[str], bytes | None]
) -> CookieSessions:
    def revoked(ids: frozenset[str]) -> None:
        ground.drop(lambda identity: identity.auth_session in ids)
        capabilities.end(lambda known: known.auth_session in ids)

    return CookieSessions(
        DatabaseCookieStore(ground.database),
        ground.base.reactor,
        ground.random,
        revoked,
        lambda session: note_login(ground.audit, session),
        seal_of,
    )


def _accounts(
    ground: Ground,
    secret: str,
    cookies: CookieSessions,
    tokens: TokenService,
    failures: Failures,
    forget: Callable[[str], None],
) -> tuple[IAccounts | None, list[Operation]]:
    """Who there is, C{None} where no password is asked for, and the routes of accounts.

    @param secret: of this instance.
    @param forget: ends what could still open a session in an account's name.
    """
    base = ground.base
    config = base.config
    if not config.multiuser:
        if config.password is None:
            return None, []
        salt = hmac.digest(secret.encode(), b"password seal", "sha256")
        seal = password_seal(config.password, salt)
        return SingleAccount(config.username, config.password, seal), []

    def revoke(username: str) -> int:
        # What a full disk can refuse comes last.
        forget(username)
        ground.drop(lambda identity: identity.username == username)
        ended = cookies.revoke(lambda session: session.username == username)
        if accounts.identity(username) is None:
            PushStore(ground.database).delete_all_of(username)
        return ended

    around = Surroundings(
        clock=base.reactor,
        random=ground.random,
        hasher=Hasher(ground.doors.hashing, ground.random),
        hub=base.hub,
        revoke=revoke,
        forget=tokens.forget,
        os_users=base.os_users.users,
        owns=lambda name: any(one.owner == name for one in ground.sessions.list()),
    )
    accounts = Accounts(AccountStore(ground.database), around)
    base.os_users.of_account = accounts.os_user_of
    make_first_admin(accounts, config.username, config.password)
    return accounts, AccountRoutes(accounts, cookies, failures).operations()


def _authenticators(
    username: str, cookies: CookieSessions, tokens: TokenService, accounts: IAccounts | None
) -> list[IAuthenticator]:
    """In the order in which they are asked: what is shown on purpose before what is ambient."""
    if accounts is None:
        everybody = Identity(username=username, admin=True)

        def owner(name: str) -> Identity | None:
            return everybody if name == username else None

        return [TokenAuthenticator(tokens, owner), Everybody(username)]
    return [
        TokenAuthenticator(tokens, accounts.identity),
        CookieAuthenticator(cookies, accounts),
        BasicAuthenticator(cookies, accounts),
    ]


def note_login(audit: IAuditLog, session: CookieSession) -> None:
    """Keep that somebody signed in."""
    audit.record(
        Entry(
            action="login",
            actor=session.username,
            method=session.method,
            address=session.address,
            target=session.id,
        )
    )


def owner_of(sessions: SessionService, session_id: str) -> str | None:
    """Whose session it is; C{None} for an unknown one, too."""
    try:
        return sessions.owner_of(session_id)
    except ServiceError:
        return None
