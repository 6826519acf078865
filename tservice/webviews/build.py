"""Construction of the web tabs feature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from attrs import evolve, frozen

from tservice.access.build import AccessControl
from tservice.access.interfaces import IAccounts
from tservice.access.model import COOKIE
from tservice.core.callers.authentication import AuthenticationRequest, SignInRule
from tservice.core.callers.identity import Identity
from tservice.core.net.egress import EgressPolicy
from tservice.core.net.endpoints import parse_listen
from tservice.core.net.listening import PortListener
from tservice.core.net.outbound import OutboundClient
from tservice.http.connections.connection_limit import TABS_CONNECTIONS
from tservice.http.gate import AccessGate
from tservice.http.kernel import HttpKernel
from tservice.http.operation_decorator import collect_operations
from tservice.http.security.hosts import parse_host
from tservice.http.site import HttpSite
from tservice.http.websockets.upgrade import WebSockets
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.webviews.cookie_jar import CookieJars
from tservice.webviews.routes.capability_routes import CapabilityResolver, CapabilityRoutes
from tservice.webviews.routes.isolated_origin import EmptyPages, IsolatedGate
from tservice.webviews.routes.relay import RequestRelay
from tservice.webviews.routes.relay_limits import RelayLimits
from tservice.webviews.routes.upstream import TargetConnector
from tservice.webviews.routes.webview_routes import WebViewRoutes
from tservice.webviews.service import WebTabGuard, WebViewDependencies, WebViewService
from tservice.webviews.store import WebViewStore

OWN_COOKIES = frozenset({COOKIE})
"""Names of the service's own cookies."""


@frozen(kw_only=True)
class WebTabsFeature:
    """Interface of web tabs for other features.

    @ivar views: service that manages the web tabs.
    """

    views: WebViewService


def build_webviews(
    ground: Runtime, *, access: AccessControl, own_ports: Callable[[], Sequence[int]]
) -> FeatureRegistration[WebTabsFeature]:
    """Build the feature. Web tabs are served at the service's origin, and at a separate one if
    configured.

    @param own_ports: returns the ports that the service listens on.
    @raise StartError: a listen address in C{webview-listen} is invalid.
    """
    second: list[PortListener] = []

    def all_ports() -> list[int]:
        return [*own_ports(), *(port for each in second for port in each.get_port_numbers())]

    guard = WebTabGuard(own_ports=all_ports, trusts=partial(may_run_commands, access.accounts))
    store = WebViewStore(ground.database)
    views = WebViewService(
        WebViewDependencies(
            clock=ground.reactor,
            hub=ground.hub,
            store=store,
            capabilities=access.capabilities,
            guard=guard,
            outbound=partial(_make_outbound, ground),
            new_id=lambda: ground.random(8).hex(),
            find_isolated_origin=partial(_find_isolated_origin, second),
        )
    )
    relay = _build_relay(ground, guard)
    doorway = CapabilityResolver(
        capabilities=access.capabilities,
        url_of=views.find_url,
        recognise=partial(_identify_if_signed_in, ground.sign_in, access.gate),
        ancestors=lambda host: ["'self'"],
    )
    entrance = CapabilityRoutes(doorway, relay)
    access.gate.isolated = partial(_find_isolated_origin, second)
    if ground.config.webview_listen:
        second.append(_build_listener(ground, access, doorway, relay))

    def start() -> None:
        for listener in second:
            listener.startService()
            listener.open()

    async def close() -> None:
        for listener in second:
            await listener.stopService()

    return FeatureRegistration(
        name="web tabs",
        service=WebTabsFeature(views=views),
        operations=[*collect_operations(WebViewRoutes(views)), *collect_operations(entrance)],
        fallback_route=entrance.redirect_stray,
        on_account_removed=store.delete_unknown_owners,
        start=start,
        close=close,
    )


def may_run_commands(accounts: IAccounts, username: str) -> bool:
    """Return true if an account may run commands without approval."""
    identity = accounts.find_identity(username)
    return identity is not None and identity.can_bypass_permissions


async def _identify_if_signed_in(
    rule: SignInRule, gate: AccessGate, visit: AuthenticationRequest
) -> Identity | None:
    """Return the caller's identity. Without a password there is none, and credentials in a request
    are meant for the target.
    """
    return await gate.identify_optional(visit) if rule.is_required else None


def _make_outbound(ground: Runtime, policy: EgressPolicy) -> OutboundClient:
    return OutboundClient(ground.reactor, policy)


def _build_relay(ground: Runtime, guard: WebTabGuard) -> RequestRelay:
    return RequestRelay(
        upstream=TargetConnector(reactor=ground.reactor, guard=guard),
        guard=guard,
        cookies=OWN_COOKIES,
        jars=CookieJars(ground.reactor),
        relayed=RelayLimits(shared=ground.config.multiuser),
    )


def _build_listener(
    ground: Runtime, access: AccessControl, doorway: CapabilityResolver, relay: RequestRelay
) -> PortListener:
    """Return a listener for the separate origin, which serves web tabs only."""
    addresses = parse_listen(evolve(ground.config, listen=ground.config.webview_listen))
    entrance = CapabilityRoutes(
        evolve(doorway, ancestors=_list_page_origins, is_isolated=True), relay
    )
    gate = IsolatedGate(access.gate)
    sockets = WebSockets(ground.reactor)
    operations = collect_operations(entrance)
    kernel = HttpKernel(
        operations, gate, EmptyPages(), sockets, fallback_route=entrance.redirect_stray
    )
    site = HttpSite(
        kernel,
        ground.reactor,
        max_connections=TABS_CONNECTIONS,
        shared=ground.config.multiuser,
    )
    return PortListener(ground.reactor, addresses, site)


def _list_page_origins(host: str) -> list[str]:
    """Return the origins of the service's own page, which has the same host name on any of its
    ports.
    """
    found = parse_host(host)
    if found is None:
        return ["'none'"]
    name = f"[{found.name}]" if ":" in found.name else found.name
    return [f"http://{name}:*", f"https://{name}:*"]


def _find_isolated_origin(second: Sequence[PortListener], host: str) -> str | None:
    """Return the separate origin for web tabs, with the host name by which the caller reached the
    service.

    @return: C{None} if there is no separate listener.
    """
    found = parse_host(host)
    if not second or found is None:
        return None
    name = f"[{found.name}]" if ":" in found.name else found.name
    ports = [(address, port) for each in second for address, port in each.get_bound_ports()]
    for address, port in ports:
        scheme = "https" if address.kind == "ssl" else "http"
        return f"{scheme}://{name}:{port}"
    return None
