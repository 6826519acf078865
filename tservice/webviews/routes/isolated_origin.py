"""Separate origin for web tabs, at which nothing of the service itself is served."""

from __future__ import annotations

from collections.abc import Mapping

from zope.interface import implementer

from tservice.core.callers.authentication import AuthenticationRequest, CredentialsAccepted
from tservice.core.callers.identity import Identity
from tservice.http.envelope import HttpResponse
from tservice.http.gate import ANONYMOUS, AccessGate
from tservice.http.kernel import IGate, IPages
from tservice.http.operations import Operation
from tservice.http.request import ServiceRequest

_PLAIN = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "cross-origin",
}


@implementer(IPages)
class EmptyPages:
    """Source of web pages that contains none."""

    def find_page(self, path: str, visit: AuthenticationRequest) -> HttpResponse | None:
        """Return C{None} for every path."""
        return None


@implementer(IGate)
class IsolatedGate:
    """Access checks of the separate origin for web tabs.

    C{Host} is checked as usual. C{Origin} is not checked, because a sandboxed page has none. The
    token in the path authorizes the page, and no other page knows the token.
    """

    def __init__(self, gate: AccessGate) -> None:
        self._gate = gate

    def check_host_and_origin(
        self, request: ServiceRequest, method: str, path: str | None
    ) -> AuthenticationRequest:
        """Check the C{Host} header only.

        @raise HttpRefusal: 403 in plain text.
        """
        return self._gate.check_host(request, method, path)

    async def identify_caller(
        self, visit: AuthenticationRequest, operation: Operation | None
    ) -> CredentialsAccepted:
        """Return an anonymous identity, because the token in the path authorizes the request."""
        return CredentialsAccepted(identity=ANONYMOUS)

    def authorize_call(
        self,
        visit: AuthenticationRequest,
        who: Identity,
        operation: Operation | None,
        path: Mapping[str, str],
    ) -> None:
        """Permit every call, because tokens protect all content of this origin."""

    def reauthorize_call(
        self,
        visit: AuthenticationRequest,
        who: Identity,
        operation: Operation,
        path: Mapping[str, str],
    ) -> None:
        """Permit every call; see L{authorize_call}."""

    def get_headers(self, visit: AuthenticationRequest | None) -> Mapping[str, str]:
        """Return the headers of responses that do not come from a target."""
        return _PLAIN
