"""Management of web tabs: storing, probing, opening (protocol-webtabs)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.clock import now_ms
from tservice.core.errors import ErrorCode, ServiceError, invalid_field, not_found, operation_failed
from tservice.core.events import Event, EventHub, EventName
from tservice.core.identity import Identity
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
"""Concurrent probes of one account."""

READ_METHODS = frozenset({"GET", "HEAD"})
"""Methods for an account that may not access internal addresses."""

_NOT_THIS_SERVICE = GUARDED.refuse_more_networks(
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
    """Rules for the targets of web tabs.

    @ivar own_ports: returns the ports of the service, which are refused on this machine.
    @ivar trusts: returns true if an account may run commands on this machine anyway.  Only such
        accounts reach loopback and private networks, where servers trust this machine.
    """

    own_ports: Callable[[], Collection[int]]
    trusts: Callable[[str], bool]

    def policy_for(self, port: int, username: str) -> EgressPolicy:
        """Return the rules for addresses with that port, for an account (protocol-egress)."""
        if not self.trusts(username):
            return PUBLIC_ONLY
        return _NOT_THIS_SERVICE if port in self.own_ports() else GUARDED

    def check_target(self, url: str, username: str) -> EgressTarget:
        """Return the target of C{url}.

        @raise EgressRefused: the account may not connect there.
        """
        found = parse_target(url)
        return parse_target(url, self.policy_for(found.port, username))

    def allows_method(self, method: str, username: str) -> bool:
        """Return true if an account may send a request with this method."""
        return method in READ_METHODS or self.trusts(username)


@frozen(kw_only=True)
class WebViewDependencies:
    """Dependencies of the service.

    @ivar outbound: sends probes under a policy.
    @ivar isolated: returns the origin of the web tab listener for a Host; C{None} without one.
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
    """Service for web tabs. Every error is a L{ServiceError}; another user's tab is a 404, for
    admins too.
    """

    def __init__(self, parts: WebViewDependencies) -> None:
        self._deps = parts
        self._probing: Counter[str] = Counter()

    def list_views(self, caller: Identity) -> list[WebView]:
        """Return the caller's web tabs, oldest first."""
        return self._deps.store.list_owned(caller.username)

    def create_view(self, given: Mapping[str, Any], caller: Identity) -> WebView:
        """Create a web tab.

        @raise ServiceError: 400: the address is refused; 422: the limit L{MOST} is reached.
        """
        self._check_url(given["url"], caller)
        if len(self.list_views(caller)) >= MOST:
            raise operation_failed(f"there are {MOST} web tabs already; delete one first")
        view = WebView(
            id=self._deps.new_id(),
            owner=caller.username,
            name=given["name"],
            url=given["url"],
            icon=given.get("icon"),
            created_at=now_ms(self._deps.clock),
        )
        self._deps.store.save(view)
        self._publish_change(caller.username)
        return view

    def update_view(self, view_id: str, given: Mapping[str, Any], caller: Identity) -> WebView:
        """Update the web tab. If its URL changes, close the connections to the old one.

        @raise ServiceError: as in L{create_view}, and 404.
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

        @raise ServiceError: 404.
        """
        self._deps.store.delete(self.get_view(view_id, caller).id)
        self._revoke_tokens(view_id)
        self._publish_change(caller.username)

    def get_view(self, view_id: str, caller: Identity) -> WebView:
        """Return a web tab of the caller.

        @raise ServiceError: 404.
        """
        view = self._deps.store.find(view_id)
        if view is None or view.owner != caller.username:
            raise not_found(f"Web tab {view_id}")
        return view

    def find_url(self, view_id: str) -> str | None:
        """Return the URL of a tab; C{None}: it was removed."""
        view = self._deps.store.find(view_id)
        return None if view is None else view.url

    async def probe_url(self, url: str, caller: Identity) -> ProbeAnswer:
        """Check whether a server answers at an address.

        @raise ServiceError: 400: the address is refused; 429: the caller has L{PROBES} under way.
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

        @param host: host by which the caller reached the service.
        @return: the tab; its path; its address on the web tab listener.
        @raise ServiceError: 404; 400: the address is refused.
        """
        view = evolve(self.get_view(view_id, caller), last_opened_at=now_ms(self._deps.clock))
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
            raise invalid_field("url", str(refused)) from None

    def _revoke_tokens(self, view_id: str) -> None:
        self._deps.capabilities.revoke_tokens(
            lambda known: known.kind == KIND and known.subject == view_id
        )

    def _publish_change(self, owner: str) -> None:
        self._deps.hub.publish(Event(name=EventName.WEBVIEW_CHANGED, owner=owner))
