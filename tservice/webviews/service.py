"""Management of web tabs: storing, probing and opening them (protocol-webtabs)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_failure_error,
    make_field_error,
    make_not_found_error,
)
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.net.egress import (
    GUARDED,
    PUBLIC_ONLY,
    EgressPolicy,
    EgressRefused,
    EgressTarget,
    parse_target,
)
from tservice.core.net.outbound import OutboundClient, OutboundError, OutboundRequest
from tservice.webviews.model import KIND, MOST, PREFIX, WebView
from tservice.webviews.store import WebViewStore
from tservice.webviews.webview_responses import ProbeAnswer

PROBES = 4
"""Maximum number of concurrent probes of one account."""

READ_METHODS = frozenset({"GET", "HEAD"})
"""HTTP methods that an account may use if it may not access internal addresses."""

_NOT_THIS_SERVICE = GUARDED.with_refused_networks(
    "127.0.0.0/8", "::1/128", rule="must not be this service itself"
)


class CapabilityIssuer(Protocol):
    """Issuer of tokens (L{tservice.access.capabilities.CapabilityRegistry})."""

    def create_token(
        self, kind: str, subject: str, username: str, auth_session: str | None = None
    ) -> str: ...

    def revoke_tokens(self, which: Callable[[Any], bool]) -> int: ...


@frozen(kw_only=True)
class WebTabGuard:
    """Rules that decide which targets an account may access by web tabs.

    @ivar own_ports: returns the ports of the service. They are refused on this machine.
    @ivar trusts: returns true if an account may run commands on this machine anyway. Only such
        accounts may reach loopback and private networks, where servers trust this machine.
    """

    own_ports: Callable[[], Collection[int]]
    trusts: Callable[[str], bool]

    def policy_for(self, port: int, username: str) -> EgressPolicy:
        """Return the egress policy of an account for connections to a port (protocol-egress)."""
        if not self.trusts(username):
            return PUBLIC_ONLY
        return _NOT_THIS_SERVICE if port in self.own_ports() else GUARDED

    def check_target(self, url: str, username: str) -> EgressTarget:
        """Parse C{url}, and check that the account may connect to it.

        @raise EgressRefused: the account may not connect to the target.
        """
        found = parse_target(url)
        return parse_target(url, self.policy_for(found.port, username))

    def allows_method(self, method: str, username: str) -> bool:
        """Return true if an account may send requests with this HTTP method."""
        return method in READ_METHODS or self.trusts(username)


@frozen(kw_only=True)
class WebViewDependencies:
    """Dependencies of the service.

    @ivar outbound: returns an HTTP client for probes under an egress policy.
    @ivar find_isolated_origin: returns the separate origin of web tabs for a C{Host} header, or
        C{None} if there is none.
    """

    clock: IReactorTime
    hub: EventHub
    store: WebViewStore
    capabilities: CapabilityIssuer
    guard: WebTabGuard
    outbound: Callable[[EgressPolicy], OutboundClient]
    new_id: Callable[[], str]
    find_isolated_origin: Callable[[str], str | None]


class WebViewService:
    """Service that manages web tabs.

    Every error is a L{ServiceError}. A web tab of another account gives a 404, even for admins.
    """

    def __init__(self, parts: WebViewDependencies) -> None:
        self._deps = parts
        self._probing: Counter[str] = Counter()

    def list_views(self, caller: Identity) -> list[WebView]:
        """Return the caller's web tabs, oldest first."""
        return self._deps.store.list_owned(caller.username)

    def create_view(self, given: Mapping[str, Any], caller: Identity) -> WebView:
        """Create a web tab.

        @param given: fields of the request.
        @raise ServiceError: 400 if the URL is refused; 422 if the account has L{MOST} web tabs.
        """
        self._check_url(given["url"], caller)
        if len(self.list_views(caller)) >= MOST:
            raise make_failure_error(f"there are {MOST} web tabs already; delete one first")
        view = WebView(
            id=self._deps.new_id(),
            owner=caller.username,
            name=given["name"],
            url=given["url"],
            icon=given.get("icon"),
            created_at=get_unix_ms(self._deps.clock),
        )
        self._deps.store.save(view)
        self._publish_change(caller.username)
        return view

    def update_view(self, view_id: str, given: Mapping[str, Any], caller: Identity) -> WebView:
        """Update the web tab. If its URL changes, close the connections to the old one.

        @param given: fields to change.
        @raise ServiceError: 404 if there is no such tab. Other errors are those of L{create_view}.
        """
        before = self.get_view(view_id, caller)
        if "url" in given:
            self._check_url(given["url"], caller)
        view = evolve(before, **given)
        self._deps.store.save(view)
        if view.url != before.url:
            self._revoke_tokens(view_id)
        self._publish_change(caller.username)
        return view

    def delete_view(self, view_id: str, caller: Identity) -> None:
        """Delete a web tab and close its connections.

        @raise ServiceError: 404 if there is no such tab.
        """
        self._deps.store.delete(self.get_view(view_id, caller).id)
        self._revoke_tokens(view_id)
        self._publish_change(caller.username)

    def get_view(self, view_id: str, caller: Identity) -> WebView:
        """Return a web tab of the caller.

        @raise ServiceError: 404 if there is no such tab.
        """
        view = self._deps.store.find(view_id)
        if view is None or view.owner != caller.username:
            raise make_not_found_error(f"Web tab {view_id}")
        return view

    def find_url(self, view_id: str) -> str | None:
        """Return the URL of a web tab, or C{None} if the tab was removed."""
        view = self._deps.store.find(view_id)
        return None if view is None else view.url

    async def probe_url(self, url: str, caller: Identity) -> ProbeAnswer:
        """Check that a server responds at a URL.

        @raise ServiceError: 400 if the URL is refused; 429 if the caller has L{PROBES} probes under
            way.
        """
        target = self._check_url(url, caller)
        name = caller.username
        if self._probing[name] >= PROBES:
            raise ServiceError(
                ErrorCode.RATE_LIMITED,
                f"{PROBES} addresses are being checked already; try again later",
            )
        policy = self._deps.guard.policy_for(target.port, name)
        self._probing[name] += 1
        try:
            asked = OutboundRequest(url=url, asker=name)
            reply = await self._deps.outbound(policy).send(asked)
        except OutboundError as error:
            return ProbeAnswer(ok=False, error=error.fault.value)
        finally:
            self._probing[name] -= 1
            self._probing += Counter()  # removes names with a count of zero
        return ProbeAnswer(ok=True, status=reply.status)

    def open_view(
        self, view_id: str, host: str, caller: Identity
    ) -> tuple[WebView, str, str | None]:
        """Create a token for a web tab.

        @param host: C{Host} header with which the caller reached the service.
        @return: the web tab, its path with the token, and its URL on the separate origin; the last
            is C{None} without such an origin.
        @raise ServiceError: 404 if there is no such tab; 400 if the URL is refused.
        """
        view = evolve(self.get_view(view_id, caller), last_opened_at=get_unix_ms(self._deps.clock))
        self._deps.store.save_deferred(view)
        word = self._deps.capabilities.create_token(
            KIND, view.id, caller.username, caller.auth_session
        )
        path = f"{PREFIX}{word}{self._check_url(view.url, caller).resource}"
        isolated = self._deps.find_isolated_origin(host)
        return view, path, None if isolated is None else f"{isolated}{path}"

    # -- inside

    def _check_url(self, url: str, caller: Identity) -> EgressTarget:
        try:
            return self._deps.guard.check_target(url, caller.username)
        except EgressRefused as refused:
            raise make_field_error("url", str(refused)) from None

    def _revoke_tokens(self, view_id: str) -> None:
        self._deps.capabilities.revoke_tokens(
            lambda known: known.kind == KIND and known.subject == view_id
        )

    def _publish_change(self, owner: str) -> None:
        self._deps.hub.publish(Event(name=EventName.WEBVIEW_CHANGED, owner=owner))
