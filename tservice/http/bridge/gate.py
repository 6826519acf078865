"""Gate of the listener for container hooks: it requires a container's secret and serves only hook
routes (protocol-hook-secret).
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen
from zope.interface import implementer

from tservice.core.callers.authentication import (
    AuthenticationRequest,
    CredentialsAccepted,
    FailureBucket,
    IAuthenticator,
    IFailureCounter,
)
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ServiceError
from tservice.http.envelope import HttpResponse, make_bare_refusal
from tservice.http.gate import make_lockout_refusal, make_unauthorized_refusal
from tservice.http.kernel import IGate, IPages, IUpgrades
from tservice.http.operations import AccessRule, Operation, OperationCall
from tservice.http.request import ServiceRequest


@implementer(IGate)
@frozen
class BridgeGate:
    """Gate that admits hooks of containers.

    @ivar hooks: authenticator that identifies the container by its secret.
    @ivar failures: counts wrong secrets, together with those of other hooks.
    @ivar paths: the only paths that are served.
    """

    hooks: IAuthenticator
    failures: IFailureCounter
    paths: frozenset[str]

    def check_host_and_origin(
        self, request: ServiceRequest, method: str, path: str | None
    ) -> AuthenticationRequest:
        """Refuse every path that is not a hook's, and describe the request.

        @raise HttpRefusal: bare 404.
        """
        if method != "POST" or path not in self.paths:
            raise make_bare_refusal(404, "Not Found")
        return AuthenticationRequest(
            method=method,
            path=path,
            host=request.getHeader("host") or "",
            address=str(getattr(request.getClientAddress(), "host", "")),
            secure=False,
            upgrade=False,
            header=request.getHeader,
            cookies=lambda name: (),
        )

    async def identify_caller(
        self, visit: AuthenticationRequest, operation: Operation | None
    ) -> CredentialsAccepted:
        """Identify the container by the secret in the request.

        @raise HttpRefusal: bare 401, or 429 over the failure limit.
        """
        verdict = await self.hooks.authenticate(visit)
        if isinstance(verdict, CredentialsAccepted):
            return verdict
        wait = self.failures.record_failure(FailureBucket.HOOK, visit.address, None)
        if wait:
            raise make_lockout_refusal(wait)
        raise make_unauthorized_refusal("Unauthorized: hook secret required", challenge=False)

    def authorize_call(
        self,
        visit: AuthenticationRequest,
        who: Identity,
        operation: Operation | None,
        path: Mapping[str, str],
    ) -> None:
        """Do nothing, since the handlers check the owner of the session."""

    def reauthorize_call(
        self,
        visit: AuthenticationRequest,
        who: Identity,
        operation: Operation,
        path: Mapping[str, str],
    ) -> None:
        """Do nothing, since a secret is valid as long as its container exists."""

    def get_headers(self, visit: AuthenticationRequest | None) -> Mapping[str, str]:
        """Return no headers, since no browser uses this listener."""
        return {"Cache-Control": "no-store"}


@implementer(IPages)
class NoPages:
    """Empty set of pages."""

    def find_page(self, path: str, visit: AuthenticationRequest) -> HttpResponse | None:
        """Return C{None}, since this listener serves no pages."""
        return None


@implementer(IUpgrades)
class NoUpgrades:
    """Upgrade handler for a listener without WebSockets."""

    async def serve_socket(self, call: OperationCall) -> None:
        """Do nothing; no operation of this listener is a WebSocket."""

    async def refuse_socket(self, request: ServiceRequest, error: ServiceError) -> None:
        """Do nothing; no operation of this listener is a WebSocket."""


def is_hook_operation(operation: Operation) -> bool:
    """Return whether agents' hooks call the operation."""
    return operation.access is AccessRule.HOOK
