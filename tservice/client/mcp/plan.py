"""Plans of tools. A plan is a sequence of API requests, followed by a result.

A plan does not send requests itself. The caller sends each request that the plan yields, and passes
the payload back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, NamedTuple

from tservice.client.link.caller import ResponseLost


class PlannedRequest(NamedTuple):
    """API request of a plan.

    @ivar path: path after C{/api/v1}.
    @ivar wait_ms: milliseconds for which the service may delay its response.
    @ivar tries: number of times that the request is sent if its response is lost. Only an
        idempotent request may have more than one.
    """

    method: str
    path: str
    body: dict[str, Any] | None = None
    query: dict[str, Any] | None = None
    wait_ms: int = 0
    tries: int = 1


Plan = Generator[PlannedRequest, Any, dict[str, Any]]


Sender = Callable[[PlannedRequest], Awaitable[Any]]


async def run_plan(plan: Plan, send: Sender) -> dict[str, Any]:
    """Send the requests of a plan, and return the plan's result.

    @param send: sends one request and returns its payload.
    @raise ApiError: the service refused a request.
    @raise Lost: a response was lost at every attempt.
    """
    try:
        ask = next(plan)
        while True:
            ask = plan.send(await _send_with_retries(ask, send))
    except StopIteration as end:
        found: dict[str, Any] = end.value
        return found
    finally:
        plan.close()


async def _send_with_retries(ask: PlannedRequest, send: Sender) -> Any:
    for _ in range(ask.tries - 1):
        try:
            return await send(ask)
        except ResponseLost:
            continue
    return await send(ask)
