"""Who may pass, put together."""

from __future__ import annotations

import os

from attrs import frozen

from tservice.access import hooksecret
from tservice.access.authenticators import (
    BasicAuthenticator,
    CookieAuthenticator,
    Everybody,
    HookAuthenticator,
)
from tservice.access.cookies import CookieSessions
from tservice.access.cookiestore import DatabaseCookieStore
from tservice.access.failures import Failures
from tservice.access.passwords import SingleAccount
from tservice.access.routes import AccessRoutes
from tservice.core.authentication import IAuthenticator
from tservice.core.errors import ServiceError, StartError
from tservice.http.gate import Gate, rules_of
from tservice.http.operations import Operation
from tservice.http.sse import EventStreams
from tservice.http.static import Pages
from tservice.http.websocket import WebSockets
from tservice.sessions.service import SessionService
from tservice.store.database import Database
from tservice.tap.base import Base


@frozen(kw_only=True)
class AccessParts:
    """Who may pass, and the routes of signing in and out."""

    gate: Gate
    operations: list[Operation]


def wire_access(
    base: Base,
    database: Database,
    sessions: SessionService,
    sockets: WebSockets,
    streams: EventStreams,
    pages: Pages,
) -> AccessParts:
    """Passwords, cookies, the hook secret, and the gate that asks for them.

    @raise StartError: the file of the hook secret is not one of ours, or open to others;
        or accounts are asked for.
    """
    config, clock = base.config, base.reactor
    if config.multiuser:
        raise StartError("multiuser: this version has no accounts yet")

    def revoked(ids: frozenset[str]) -> None:
        for open_ones in (sockets, streams):
            open_ones.drop(lambda identity: identity.auth_session in ids)

    secret = hooksecret.hook_secret(config.data_dir, os.urandom)
    base.redactor.register(secret)
    cookies = CookieSessions(DatabaseCookieStore(database), clock, os.urandom, revoked)
    failures = Failures(clock)
    accounts = None
    authenticators: list[IAuthenticator] = [Everybody(config.username)]
    if config.password is not None:
        accounts = SingleAccount(config.username, config.password)
        authenticators = [
            CookieAuthenticator(cookies, accounts),
            BasicAuthenticator(cookies, accounts),
        ]
    gate = Gate(
        rules_of(config, ()),
        authenticators,
        HookAuthenticator(secret),
        failures,
        lambda session_id: owner_of(sessions, session_id),
        pages.login_page,
    )
    routes = AccessRoutes(cookies, accounts, failures, config.username, config.multiuser)
    return AccessParts(gate=gate, operations=routes.operations())


def owner_of(sessions: SessionService, session_id: str) -> str | None:
    """Whose session it is; C{None} for an unknown one, too."""
    try:
        return sessions.owner_of(session_id)
    except ServiceError:
        return None
