"""Plans of tools: sequences of requests to the service, and their result.

A plan knows no connection. The caller sends each request that it yields, and passes the payload
back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, NamedTuple

from tservice.client.link.caller import Lost


class PlannedRequest(NamedTuple):
    """Request to the API.

    @ivar path: the part after C{/api/v1}.
    @ivar wait_ms: time that the service is asked to hold its answer.
    @ivar tries: number of times it is sent when its answer is lost; above one only for idempotent
        requests.
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
    """Run a plan and return its result.

    @param send: returns the payload of one request.
    @raise ApiError: the service refused a request.
    @raise Lost: an answer was lost in every try.
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
        except Lost:
            continue
    return await send(ask)
