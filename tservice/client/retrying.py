"""Retries of requests whose response was lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from tservice.client.errors import ApiError
from tservice.client.link.caller import ResponseLost

PAUSES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0)
"""Seconds before each retry."""
GATEWAY = (502, 503, 504)
"""Statuses that a proxy returns if it cannot reach the service."""

T = TypeVar("T")


async def retry_lost(
    work: Callable[[], Awaitable[T]], sleep: Callable[[float], Awaitable[None]]
) -> T:
    """Run C{work} until a response arrives, and return its result.

    @param work: sends the request. It must be idempotent, as it may run several times.
    @param sleep: waits for a number of seconds.
    @raise Lost: no response arrived at any attempt.
    @raise ApiError: the service refused the request.
    """
    for pause in PAUSES:
        try:
            return await work()
        except ResponseLost:
            await sleep(pause)
        except ApiError as error:
            if error.code is not None or error.status not in GATEWAY:
                raise
            await sleep(pause)
    return await work()
