"""Who may pass on the listener for hooks from containers: whoever shows a container's secret, and
to the routes of hooks alone (protocol-hook-secret)."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen
from zope.interface import implementer

from tservice.core.authentication import Bucket, IAuthenticator, IFailures, Pass, Visit
from tservice.core.errors import ServiceError
from tservice.core.identity import Identity
from tservice.http.envelope import Response, bare
from tservice.http.gate import too_many, unauthorized
from tservice.http.kernel import IGate, IPages, IUpgrades
from tservice.http.operations import Access, Call, Operation
from tservice.http.request import Request


@implementer(IGate)
@frozen
class BridgeGate:
    """Lets hooks of containers through.

    @ivar hooks: tells whose secret is shown.
    @ivar failures: counts wrong ones, together with those of hooks elsewhere.
    @ivar paths: the only ones that are answered.
    """

    hooks: IAuthenticator
    failures: IFailures
    paths: frozenset[str]

    def screen(self, request: Request, method: str, path: str | None) -> Visit:
        """Nothing else is here, whatever it may be elsewhere.

        @raise Refusal: bare 404.
        """
        if method != "POST" or path not in self.paths:
            raise bare(404, "Not Found")
        return Visit(
            method=method,
            path=path,
            host=request.getHeader("host") or "",
            address=str(getattr(request.getClientAddress(), "host", "")),
            secure=False,
            upgrade=False,
            header=request.getHeader,
            cookies=lambda name: (),
        )

    async def identify(self, visit: Visit, operation: Operation | None) -> Pass:
        """Which container it is.

        @raise Refusal: bare 401, 429 over a failure cap.
        """
        verdict = await self.hooks.authenticate(visit)
        if isinstance(verdict, Pass):
            return verdict
        wait = self.failures.failed(Bucket.HOOK, visit.address, None)
        if wait:
            raise too_many(wait)
        raise unauthorized("Unauthorized: hook secret required", challenge=False)

    def authorize(
        self, visit: Visit, who: Identity, operation: Operation | None, path: Mapping[str, str]
    ) -> None:
        """The handlers judge whose session it is."""

    def judge_again(
        self, visit: Visit, who: Identity, operation: Operation, path: Mapping[str, str]
    ) -> None:
        """A secret is good for as long as its container is there."""

    def headers(self, visit: Visit | None) -> Mapping[str, str]:
        """No browser comes here."""
        return {"Cache-Control": "no-store"}


@implementer(IPages)
class NoPages:
    """There are none."""

    def find(self, path: str, visit: Visit) -> Response | None:
        """None."""
        return None


@implementer(IUpgrades)
class NoUpgrades:
    """No operation there is a WebSocket."""

    async def serve(self, call: Call) -> None:
        """Nothing to serve."""

    async def refuse(self, request: Request, error: ServiceError) -> None:
        """Nothing to refuse."""


def is_hook(operation: Operation) -> bool:
    """Whether it is one that agents' hooks call."""
    return operation.access is Access.HOOK
