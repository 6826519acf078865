"""The tunnel and signing in over it, put together."""

from __future__ import annotations

import os
from collections.abc import Callable

from tservice.access.cookies import CookieSessions
from tservice.access.interfaces import IAccounts
from tservice.access.model import SCANNED, CookieSession, set_cookie
from tservice.core.authentication import IFailures
from tservice.core.identity import Identity
from tservice.core.net.listening import Listener
from tservice.core.scopes import Scope
from tservice.core.stack import Closing, ServiceStack
from tservice.http.operations import Operation
from tservice.settings.interfaces import ISettings, Settings
from tservice.tap.base import Base
from tservice.tunnel.login import Around, QrLogin, SignIn
from tservice.tunnel.routes import AuthSessionAnswer, Perimeter, TunnelRoutes
from tservice.tunnel.service import Surroundings, Tunnel


def wire_tunnel(
    base: Base, settings: ISettings, listener: Callable[[], Listener], stack: ServiceStack
) -> Tunnel:
    """The tunnel, which follows its setting; a stop ends its process."""
    config = base.config
    tunnel = Tunnel(
        Surroundings(
            clock=base.reactor,
            processes=base.reactor,
            hub=base.hub,
            command=config.tunnel_command,
            environ=base.environ,
            home=base.home,
            local_url=lambda: listener().local_url(""),
            allowed=has_login(base) or config.allow_unauthenticated_network,
            redactor=base.redactor,
        )
    )

    def changed(before: Settings, after: Settings) -> None:
        if before.tunnel_enabled != after.tunnel_enabled:
            tunnel.keep(after.tunnel_enabled)

    Closing("tunnel", tunnel.close).setServiceParent(stack)
    Closing("tunnel setting", settings.observe(changed)).setServiceParent(stack)
    return tunnel


def has_login(base: Base) -> bool:
    """Whether anybody has to sign in."""
    return base.config.multiuser or base.config.password is not None


def wire_qr_login(
    base: Base,
    tunnel: Tunnel,
    cookies: CookieSessions,
    failures: IFailures,
    accounts: IAccounts | None,
    stack: ServiceStack,
) -> QrLogin:
    """Signing in by code; in multi-user mode a code is that of the admin who asked for it."""
    config = base.config
    login = QrLogin(
        Around(
            clock=base.reactor,
            random=os.urandom,
            hub=base.hub,
            failures=failures,
            sign_in=sign_in_with(cookies, accounts),
            standing=None if config.multiuser else config.username,
            auth_enabled=has_login(base),
        )
    )
    tunnel.observe(login.tunnel_changed)
    Closing("sign-in codes", login.close).setServiceParent(stack)
    return login


def sign_in_with(cookies: CookieSessions, accounts: IAccounts | None) -> SignIn:
    """Opens the session of a scanned code, if its user is still an admin."""

    def sign_in(username: str, address: str, agent: str) -> tuple[str, str] | None:
        identity = None if accounts is None else accounts.identity(username)
        if identity is None or not identity.admin:
            return None
        opened = cookies.open(username, "qr", address, agent)
        return opened.token, (opened.key or "").removeprefix(SCANNED)

    return sign_in


def tunnel_operations(
    tunnel: Tunnel, login: QrLogin, cookies: CookieSessions, sse_clients: Callable[[], int]
) -> list[Operation]:
    """The routes of the tunnel."""
    perimeter = Perimeter(
        auth_sessions=lambda: [shown(session) for session in cookies.sessions()],
        sse_clients=sse_clients,
        set_cookie=set_cookie,
    )
    return TunnelRoutes(tunnel, login, perimeter).operations()


def shown(session: CookieSession) -> AuthSessionAnswer:
    """A signed-in session as admins see it."""
    return AuthSessionAnswer(
        id=session.id,
        username=session.username,
        ip=session.address,
        ua=session.user_agent,
        created_at=session.created_at,
        method=session.method,
    )


def tunnel_status(tunnel: Tunnel, identity: Identity) -> dict[str, object]:
    """What the state that a client begins with tells of the tunnel: admins all, others nothing."""
    if not (identity.admin and identity.has_scope(Scope.ADMIN)):
        return {"running": False, "url": None}
    return {"running": tunnel.running, "url": tunnel.url}
