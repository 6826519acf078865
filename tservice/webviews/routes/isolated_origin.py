"""Separate origin for web tabs, where nothing of the service is served."""

from __future__ import annotations

from collections.abc import Mapping

from zope.interface import implementer

from tservice.core.authentication import AuthenticationRequest, CredentialsAccepted
from tservice.core.identity import Identity
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
    """Page source without any pages."""

    def find_page(self, path: str, visit: AuthenticationRequest) -> HttpResponse | None:
        """Return no page."""
        return None


@implementer(IGate)
class IsolatedGate:
    """Gate of the web tab listener. Host is checked as everywhere, Origin is not: a sandboxed page
    has none, and it is authorized by the token in the path, which no other page knows.
    """

    def __init__(self, gate: AccessGate) -> None:
        self._gate = gate

    def check_host_and_origin(
        self, request: ServiceRequest, method: str, path: str | None
    ) -> AuthenticationRequest:
        """Check Host.

        @raise Refusal: plain 403.
        """
        return self._gate.check_host(request, method, path)

    async def identify_caller(
        self, visit: AuthenticationRequest, operation: Operation | None
    ) -> CredentialsAccepted:
        """Return an anonymous identity: the token in the path decides."""
        return CredentialsAccepted(identity=ANONYMOUS)

    def authorize_call(
        self,
        visit: AuthenticationRequest,
        who: Identity,
        operation: Operation | None,
        path: Mapping[str, str],
    ) -> None:
        """Permit everything, as tokens protect all content here."""

    def reauthorize_call(
        self,
        visit: AuthenticationRequest,
        who: Identity,
        operation: Operation,
        path: Mapping[str, str],
    ) -> None:
        """Permit everything; see L{authorize_call}."""

    def get_headers(self, visit: AuthenticationRequest | None) -> Mapping[str, str]:
        """Return the headers of answers that do not come from a target."""
        return _PLAIN
