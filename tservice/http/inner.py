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
from twisted.logger import Logger

from tservice.core.errors import not_found
from tservice.core.late_binding import LateBinding
from tservice.http.body import read_data, read_query
from tservice.http.envelope import dump
from tservice.http.kernel import IGate
from tservice.http.operations import Call, Operation, Reply, Style
from tservice.http.parked import ParkedCalls
from tservice.http.routing import RouteTable, arguments
from tservice.http.transfer.large import LargeAnswers

STYLES = (Style.ENVELOPE, Style.LONG_POLL)
"""Styles of operations that return a payload."""


class InnerCalls:
    """Finds operations and executes them.

    @ivar table: the mounted operations.
    """

    _log = Logger()

    def __init__(
        self,
        gate: IGate,
        parked: ParkedCalls,
        large: LargeAnswers,
        heard: Callable[[Call, object], None],
    ) -> None:
        """@param parked: holds calls that wait, and ends them with the right to them.
        @param large: schedules calls whose responses may be large.
        @param heard: called with each call and its outcome.
        """
        self._gate, self._parked, self._large, self._heard = gate, parked, large, heard
        self.table: LateBinding[RouteTable] = LateBinding("the operations table")

    async def call(
        self,
        outer: Call,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, object] | None = None,
    ) -> Any:
        """Execute one operation and return its payload as JSON data.

        @param outer: the call whose handler makes this one.
        @param path: from C{/api} on, percent-encoded.
        @raise ServiceError: as the operation would respond to a request.
        @raise Refusal: the caller's right has ended.
        """
        call = self._call(outer, method, path, body, query)
        try:
            result = await self._handled(call)
        except BaseException as error:
            self._tell(call, error)
            raise
        self._tell(call, result)
        call.again()
        return json.loads(dump(result.content if isinstance(result, Reply) else result))

    def _call(
        self,
        outer: Call,
        method: str,
        path: str,
        body: object,
        query: Mapping[str, object] | None,
    ) -> Call:
        operation, values = self._find(method, path)
        visit = evolve(outer.request.visit, method=method, path=path)  # type: ignore[attr-defined]
        self._gate.authorize(visit, outer.identity, operation, values)
        if operation.allowed is not None:
            operation.allowed()
        again = partial(self._gate.judge_again, visit, outer.identity, operation, values)
        return Call(
            operation=operation,
            identity=outer.identity,
            path=values,
            query=_query(operation, query or {}),
            body=_body(operation, body),
            address=outer.address,
            request=outer.request,
            again=again,
        )

    def _find(self, method: str, path: str) -> tuple[Operation, Mapping[str, str]]:
        found = self.table().match(method, path)
        values = None if found is None else arguments(*found)
        if found is None or values is None or found[0].style not in STYLES:
            raise not_found(f"Route {method} {path}")
        return found[0], values

    async def _handled(self, call: Call) -> object:
        if call.operation.style is Style.LONG_POLL:
            return await self._parked.hold(call)
        if call.operation.large(call.query):
            return await self._large.make(call)
        return await call.operation.handler(call)

    def _tell(self, call: Call, outcome: object) -> None:
        try:
            self._heard(call, outcome)
        except Exception:
            self._log.failure("recording a call of {route} failed", route=call.operation.path)


def _query(operation: Operation, given: Mapping[str, object]) -> object:
    if operation.query is None:
        return None
    text = urlencode({name: value for name, value in given.items() if value is not None})
    return read_query(parse_qs(text.encode(), keep_blank_values=True), operation.query)


def _body(operation: Operation, given: object) -> object:
    if operation.body is None:
        return None
    return read_data(given, operation.body, operation.optional_body, operation.bounds.values)
