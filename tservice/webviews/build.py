"""Construction of the web tabs feature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from attrs import evolve, frozen

from tservice.access.build import AccessControl
from tservice.access.interfaces import IAccounts
from tservice.access.model import COOKIE
from tservice.core.authentication import AuthenticationRequest
from tservice.core.net.egress import EgressPolicy
from tservice.core.net.endpoints import parse_listen
from tservice.core.net.listening import PortListener
from tservice.core.net.outbound import OutboundClient
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.http.connections.connection_limit import TABS_CONNECTIONS
from tservice.http.hosts import parse_host
from tservice.http.kernel import HttpKernel
from tservice.http.site import HttpSite
from tservice.http.websockets.upgrade import WebSockets
from tservice.webviews.jar import Jars
from tservice.webviews.routes.entrance import Doorway, Entrance
from tservice.webviews.routes.listener import NoFiles, OpenOrigin
from tservice.webviews.routes.relay import Relay
from tservice.webviews.routes.relayed import Relayed
from tservice.webviews.routes.upstream import Upstream
from tservice.webviews.routes.views import WebViewRoutes, entrance_operation
from tservice.webviews.service import Guard, WebViewParts, WebViews
from tservice.webviews.store import WebViewStore

OURS = frozenset({COOKIE})
"""Names of the service's own cookies."""


@frozen(kw_only=True)
class WebTabs:
    """Interface of web tabs for other features.

    @ivar views: the tabs.
    """

    views: WebViews


def build_webviews(
    ground: Ground, *, access: AccessControl, own_ports: Callable[[], Sequence[int]]
) -> Feature[WebTabs]:
    """Build the feature with web tabs at the service's origin and at a separate one.

    @param own_ports: returns the ports that the service listens on.
    @raise StartError: an endpoint of C{webview-listen} is invalid.
    """
    second: list[PortListener] = []

    def ports() -> list[int]:
        return [*own_ports(), *(port for each in second for port in each.get_port_numbers())]

    guard = Guard(own_ports=ports, trusts=partial(_runs_commands, access.accounts))
    store = WebViewStore(ground.database)
    views = WebViews(
        WebViewParts(
            clock=ground.reactor,
            hub=ground.hub,
            store=store,
            words=access.capabilities,
            guard=guard,
            outbound=partial(_outbound, ground),
            new_id=lambda: ground.random(8).hex(),
            isolated=partial(_isolated, second),
        )
    )
    relay = _relay(ground, guard)
    doorway = Doorway(
        words=access.capabilities,
        url_of=views.url_of,
        recognise=access.gate.identify_optional if access.accounts is not None else _nobody,
        ancestors=lambda host: ["'self'"],
    )
    entrance = Entrance(doorway, relay)
    access.gate.isolated = partial(_isolated, second)
    if ground.config.webview_listen:
        second.append(_second(ground, access, doorway, relay))

    def start() -> None:
        for listener in second:
            listener.startService()
            listener.open()

    async def close() -> None:
        for listener in second:
            await listener.stopService()

    return Feature(
        name="web tabs",
        service=WebTabs(views=views),
        operations=[*WebViewRoutes(views).operations(), entrance_operation(entrance)],
        strays=entrance.strayed,
        forget=store.forget_strangers,
        start=start,
        close=close,
    )


def _runs_commands(accounts: IAccounts | None, username: str) -> bool:
    """Return true if an account may run commands without approval; a single user may."""
    if accounts is None:
        return True
    identity = accounts.find_identity(username)
    return identity is not None and identity.can_bypass_permissions


async def _nobody(visit: AuthenticationRequest) -> None:
    """Return no identity, where there is no sign-in: credentials are meant for the target."""


def _outbound(ground: Ground, policy: EgressPolicy) -> OutboundClient:
    return OutboundClient(ground.reactor, policy)


def _relay(ground: Ground, guard: Guard) -> Relay:
    return Relay(
        upstream=Upstream(reactor=ground.reactor, guard=guard),
        guard=guard,
        cookies=OURS,
        jars=Jars(ground.reactor),
        relayed=Relayed(shared=ground.config.multiuser),
    )


def _second(ground: Ground, access: AccessControl, doorway: Doorway, relay: Relay) -> PortListener:
    """Return the listener that serves web tabs only."""
    addresses = parse_listen(evolve(ground.config, listen=ground.config.webview_listen))
    entrance = Entrance(evolve(doorway, ancestors=_pages_of, apart=True), relay)
    gate = OpenOrigin(access.gate)
    sockets = WebSockets(ground.reactor)
    operations = [entrance_operation(entrance)]
    kernel = HttpKernel(operations, gate, NoFiles(), sockets, fallback_route=entrance.strayed)
    site = HttpSite(
        kernel,
        ground.reactor,
        max_connections=TABS_CONNECTIONS,
        shared=ground.config.multiuser,
    )
    return PortListener(ground.reactor, addresses, site)


def _pages_of(host: str) -> list[str]:
    """Return the origins of the service's page: the same host name on any port."""
    found = parse_host(host)
    if found is None:
        return ["'none'"]
    name = f"[{found.name}]" if ":" in found.name else found.name
    return [f"http://{name}:*", f"https://{name}:*"]


def _isolated(second: Sequence[PortListener], host: str) -> str | None:
    """Return the origin of the web tab listener, with the host name that the caller used."""
    found = parse_host(host)
    if not second or found is None:
        return None
    name = f"[{found.name}]" if ":" in found.name else found.name
    ports = [(address, port) for each in second for address, port in each.get_bound_ports()]
    for address, port in ports:
        scheme = "https" if address.kind == "ssl" else "http"
        return f"{scheme}://{name}:{port}"
    return None
