"""An origin of their own for web tabs: nothing of the service answers there."""

from __future__ import annotations

from collections.abc import Mapping

from zope.interface import implementer

from tservice.core.authentication import Pass, Visit
from tservice.core.identity import Identity
from tservice.http.envelope import Response
from tservice.http.gate import STRANGER, Gate
from tservice.http.kernel import IGate, IPages
from tservice.http.operations import Operation
from tservice.http.request import Request

_PLAIN = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "cross-origin",
}


@implementer(IPages)
class NoFiles:
    """There is no page here."""

    def find(self, path: str, visit: Visit) -> Response | None:
        """Never one."""
        return None


@implementer(IGate)
class OpenOrigin:
    """Host is judged as everywhere.  Origin is not: a fenced page has none, and what lets it in is
    the word in the path, which no other page knows."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def screen(self, request: Request, method: str, path: str | None) -> Visit:
        """Judge Host.

        @raise Refusal: bare 403.
        """
        return self._gate.screen_host(request, method, path)

    async def identify(self, visit: Visit, operation: Operation | None) -> Pass:
        """Nobody is asked: the word in the path decides."""
        return Pass(identity=STRANGER)

    def authorize(
        self, visit: Visit, who: Identity, operation: Operation | None, path: Mapping[str, str]
    ) -> None:
        """There is nothing here but what words open."""

    def judge_again(
        self, visit: Visit, who: Identity, operation: Operation, path: Mapping[str, str]
    ) -> None:
        """As L{authorize}."""

    def headers(self, visit: Visit | None) -> Mapping[str, str]:
        """Headers of what does not come from a target."""
        return _PLAIN
