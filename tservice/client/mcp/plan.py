"""What a tool asks of the service: requests, one after the other, and what they come to.

A plan knows no connection; whoever runs it sends what it yields, and gives it the payloads.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, NamedTuple

from tservice.client.link.caller import Lost


class Ask(NamedTuple):
    """One request to the API.

    @ivar path: from C{/api/v1} on.
    @ivar wait_ms: how long the service is asked to hold its answer.
    @ivar tries: how often it is sent when its answer is lost; more than one only where the
        service does it once.
    """

    method: str
    path: str
    body: dict[str, Any] | None = None
    query: dict[str, Any] | None = None
    wait_ms: int = 0
    tries: int = 1


Plan = Generator[Ask, Any, dict[str, Any]]


Sender = Callable[[Ask], Awaitable[Any]]


async def carry_out(plan: Plan, send: Sender) -> dict[str, Any]:
    """Run a plan to its end.

    @param send: the payload of one request.
    @raise ApiError: the service refused one.
    @raise Lost: an answer was lost as often as it may be.
    """
    try:
        ask = next(plan)
        while True:
            ask = plan.send(await _sent(ask, send))
    except StopIteration as end:
        found: dict[str, Any] = end.value
        return found
    finally:
        plan.close()


async def _sent(ask: Ask, send: Sender) -> Any:
    for _ in range(ask.tries - 1):
        try:
            return await send(ask)
        except Lost:
            continue
    return await send(ask)
