"""Construction of the tunnel feature."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tservice.access.cookie_sessions import CookieSessionRegistry
from tservice.access.interfaces import IAccounts
from tservice.access.model import SCANNED_KEY_PREFIX, CookieSession, format_session_cookie
from tservice.core.callers.authentication import IFailureCounter
from tservice.core.callers.identity import Identity
from tservice.core.kernel.scopes import Scope
from tservice.core.workers.program_lookup import make_program_finder
from tservice.http.metrics import make_gauge
from tservice.http.operation_decorator import collect_operations
from tservice.http.operations import Operation
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.settings.interfaces import Settings
from tservice.tunnel.qr_login import QrLogin, QrLoginDependencies, SignIn
from tservice.tunnel.routes import AuthSessionAnswer, SignInContext, TunnelRoutes
from tservice.tunnel.service import TunnelDependencies, TunnelService


def build_tunnel(
    ground: Runtime,
    *,
    local_url: Callable[[], str | None],
    phone_url: Callable[[], str | None],
) -> FeatureRegistration[TunnelService]:
    """Build the feature. The tunnel follows its setting; stopping the feature ends the tunnel's
    process.

    The routes are built together with those for signing in; see L{tservice.access.build}.

    @param local_url: returns the service's URL on this machine, or C{None} if it listens on no TCP
        port.
    @param phone_url: returns a URL of a listener that other machines can connect to, or C{None}.
    """
    tunnel = TunnelService(
        TunnelDependencies(
            clock=ground.reactor,
            children=ground.make_child_runner(),
            hub=ground.hub,
            command=ground.config.tunnel_command,
            find=make_program_finder(ground.worker_pools.files),
            environ=ground.environ,
            home=ground.home,
            local_url=local_url,
            phone_url=phone_url,
            sign_in=ground.sign_in,
            redactor=ground.redactor,
        )
    )

    def apply_settings(before: Settings, after: Settings) -> None:
        if before.tunnel_enabled != after.tunnel_enabled:
            tunnel.apply_setting(after.tunnel_enabled)

    unobserve = ground.settings.add_observer(apply_settings)

    def close() -> object:
        unobserve()
        return tunnel.stop_for_shutdown()

    return FeatureRegistration(
        name="tunnel",
        service=tunnel,
        measures=[
            make_gauge(
                "tunnel_up", "1 while the tunnel is up.", lambda: len(tunnel.list_public_hosts())
            )
        ],
        initial_state={"tunnel": partial(_describe_state, tunnel)},
        start=lambda: tunnel.apply_setting(ground.settings.get().tunnel_enabled),
        close=close,
    )


def _describe_state(tunnel: TunnelService, caller: Identity) -> dict[str, object]:
    """Return the state of the tunnel for an admin, and that of no tunnel for other callers."""
    if not (caller.admin and caller.has_scope(Scope.ADMIN)):
        return {"running": False, "url": None}
    return {"running": tunnel.is_running, "url": tunnel.url}


def build_qr_login(
    ground: Runtime,
    tunnel: TunnelService,
    cookies: CookieSessionRegistry,
    failures: IFailureCounter,
    accounts: IAccounts,
) -> QrLogin:
    """Build the sign-in with QR codes. With several accounts, a code signs in the admin who
    requested it.
    """
    config = ground.config
    login = QrLogin(
        QrLoginDependencies(
            clock=ground.reactor,
            random=ground.random,
            hub=ground.hub,
            failures=failures,
            sign_in=make_sign_in(cookies, accounts),
            standing=None if config.multiuser else config.username,
            sign_in_rule=ground.sign_in,
        )
    )
    tunnel.add_observer(login.handle_tunnel_change)
    return login


def make_sign_in(cookies: CookieSessionRegistry, accounts: IAccounts) -> SignIn:
    """Return a function that opens a session for the owner of a scanned code.

    The function returns C{None} if the owner is no longer an admin.
    """

    def sign_in(username: str, address: str, agent: str) -> tuple[str, str] | None:
        identity = accounts.find_identity(username)
        if identity is None or not identity.admin:
            return None
        opened = cookies.open_session(username, "qr", address, agent)
        return opened.token, (opened.key or "").removeprefix(SCANNED_KEY_PREFIX)

    return sign_in


def build_operations(
    tunnel: TunnelService,
    login: QrLogin,
    cookies: CookieSessionRegistry,
    sse_clients: Callable[[], int],
) -> list[Operation]:
    """Return the operations of the tunnel and of the sign-in with QR codes.

    @param sse_clients: returns the number of open event streams.
    """
    perimeter = SignInContext(
        auth_sessions=lambda: [to_session_response(session) for session in cookies.list_sessions()],
        sse_clients=sse_clients,
        phone_url=tunnel.find_phone_url,
        find_programs=tunnel.find_programs,
        set_cookie=format_session_cookie,
    )
    return collect_operations(TunnelRoutes(tunnel, login, perimeter))


def to_session_response(session: CookieSession) -> AuthSessionAnswer:
    """Convert a signed-in session to the response model, which only admins receive."""
    return AuthSessionAnswer(
        id=session.id,
        username=session.username,
        ip=session.address,
        ua=session.user_agent,
        created_at=session.created_at,
        method=session.method,
    )
