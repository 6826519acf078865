"""Calls that are held open for minutes, and are ended when the caller's access is revoked."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen
from twisted.internet.defer import Deferred

from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ServiceError
from tservice.http.envelope import HttpRefusal
from tservice.http.operations import OperationCall


@frozen(eq=False)
class _ParkedCall:
    call: OperationCall
    work: Deferred[object]


class ParkedCalls:
    """Registry of all long polls, at most one for each connection."""

    def __init__(self) -> None:
        self._held: dict[_ParkedCall, None] = {}

    async def run_call(self, call: OperationCall) -> object:
        """Run the handler of C{call} and return its result.

        Cancel the handler if the caller's access is revoked.
        """
        held = _ParkedCall(call, Deferred.fromCoroutine(_run_handler(call)))
        self._held[held] = None
        try:
            return await held.work
        finally:
            del self._held[held]

    def drop_connections(self, whose: Callable[[Identity], bool]) -> None:
        """End the calls of callers whose access was revoked.

        Callers who lost no right, such as tokens of an account that got more rights, continue to
        wait.

        @param whose: returns whether a caller is affected.
        """
        for held in tuple(self._held):
            if whose(held.call.caller) and _has_lost_access(held.call):
                held.work.cancel()


async def _run_handler(call: OperationCall) -> object:
    return await call.operation.handler(call)


def _has_lost_access(call: OperationCall) -> bool:
    try:
        call.caller.reauthorize()
    except (HttpRefusal, ServiceError):
        return True
    return False
