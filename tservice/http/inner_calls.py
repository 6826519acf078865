"""Calls of other operations by an operation's handler, on behalf of its caller.

Each call is authorized, validated, executed and logged like a separate request: a caller gains no
rights by it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlencode

from attrs import evolve
from pydantic import BaseModel
from twisted.logger import Logger

from tservice.core.kernel.errors import make_not_found_error
from tservice.core.kernel.late_binding import LateBinding
from tservice.http.envelope import dump_json
from tservice.http.kernel import IGate
from tservice.http.operations import Operation, OperationCall, RawReply, ResponseStyle
from tservice.http.parked_calls import ParkedCalls
from tservice.http.routing import RouteTable, decode_path_arguments
from tservice.http.transfer.large_responses import LargeResponses
from tservice.http.validation.body import read_query, validate_data

STYLES = (ResponseStyle.ENVELOPE, ResponseStyle.LONG_POLL)
"""Response styles of operations that return a payload, and can be called here."""


class InnerCalls:
    """Executes operations for the handlers of other operations.

    @ivar table: the mounted operations.
    """

    _log = Logger()

    def __init__(
        self,
        gate: IGate,
        parked: ParkedCalls,
        large: LargeResponses,
        on_call: Callable[[OperationCall, object], None],
    ) -> None:
        """@param parked: runs calls that wait, and ends them when the caller's access is revoked.
        @param large: schedules calls whose responses may be large.
        @param on_call: called with each call and its outcome.
        """
        self._gate, self._parked, self._large, self._heard = gate, parked, large, on_call
        self.table: LateBinding[RouteTable] = LateBinding("the operations table")

    async def call_operation(
        self,
        outer: OperationCall,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, object] | None = None,
    ) -> Any:
        """Execute one operation and return its payload as JSON data.

        @param outer: the call whose handler executes the operation.
        @param path: the percent-encoded path, beginning with C{/api}.
        @raise ServiceError: the error with which the operation would answer a request.
        @raise HttpRefusal: the caller's access was revoked.
        """
        call = self._make_call(outer, method, path, body, query)
        try:
            result = await self._run_handler(call)
        except BaseException as error:
            self._notify_listener(call, error)
            raise
        self._notify_listener(call, result)
        call.caller.reauthorize()
        return json.loads(dump_json(result.content if isinstance(result, RawReply) else result))

    def _make_call(
        self,
        outer: OperationCall,
        method: str,
        path: str,
        body: object,
        query: Mapping[str, object] | None,
    ) -> OperationCall:
        operation, values = self._find_operation(method, path)
        visit = evolve(outer.request.visit, method=method, path=path)  # type: ignore[attr-defined]
        self._gate.authorize_call(visit, outer.caller, operation, values)
        if operation.allowed is not None:
            operation.allowed()
        again = partial(self._gate.reauthorize_call, visit, outer.caller, operation, values)
        return OperationCall(
            operation=operation,
            caller=evolve(outer.caller, reauthorize=again),
            path=values,
            query=_validate_query(operation, query or {}),
            body=_validate_body(operation, body),
            address=outer.address,
            request=outer.request,
        )

    def _find_operation(self, method: str, path: str) -> tuple[Operation, Mapping[str, str]]:
        found = self.table().match_path(method, path)
        values = None if found is None else decode_path_arguments(*found)
        if found is None or values is None or found[0].style not in STYLES:
            raise make_not_found_error(f"Route {method} {path}")
        return found[0], values

    async def _run_handler(self, call: OperationCall) -> object:
        if call.operation.style is ResponseStyle.LONG_POLL:
            return await self._parked.run_call(call)
        if call.operation.large(call.query):
            return await self._large.run_call(call)
        return await call.operation.handler(call)

    def _notify_listener(self, call: OperationCall, outcome: object) -> None:
        try:
            self._heard(call, outcome)
        except Exception:
            self._log.failure("recording a call of {route} failed", route=call.operation.path)


def _validate_query(operation: Operation, given: Mapping[str, object]) -> BaseModel | None:
    if operation.query is None:
        return None
    text = urlencode({name: value for name, value in given.items() if value is not None})
    return read_query(parse_qs(text.encode(), keep_blank_values=True), operation.query)


def _validate_body(operation: Operation, given: object) -> BaseModel | None:
    if operation.body is None:
        return None
    return validate_data(
        given, operation.body, operation.optional_body, operation.body_limits.values
    )
