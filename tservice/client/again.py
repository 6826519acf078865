"""Asking again where an answer was lost on its way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from tservice.client.errors import ApiError
from tservice.client.link.caller import Lost

PAUSES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0)
"""Seconds before each further try."""
GATEWAY = (502, 503, 504)
"""What a proxy says for a service that is not there."""

T = TypeVar("T")


async def again(work: Callable[[], Awaitable[T]], sleep: Callable[[float], Awaitable[None]]) -> T:
    """What C{work} comes to, tried until an answer arrives.

    @param work: done twice, it must be as if it was done once.
    @raise Lost: no answer came to any try.
    @raise ApiError: the service refuses.
    """
    for pause in PAUSES:
        try:
            return await work()
        except Lost:
            await sleep(pause)
        except ApiError as error:
            if error.code is not None or error.status not in GATEWAY:
                raise
            await sleep(pause)
    return await work()
