"""Mounting of the operations table on a Klein app."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from klein import Klein
from werkzeug.exceptions import HTTPException
from werkzeug.routing import BaseConverter, Rule

from tservice.http.operations import Operation
from tservice.http.request import ServiceRequest
from tservice.http.security.paths import decode_path_parameter

ANY = "ANY"
"""Value of L{Operation.method} for every method."""

REST = ":path"
"""Suffix of the last path parameter: C{{name:path}} matches the rest of the path.

Slashes are included, and percent-escapes are kept.
"""

_PARAMETER = re.compile(r"\{(\w+)(:path)?\}")

Serve = Callable[[ServiceRequest, Operation, Mapping[str, str]], Awaitable[bytes | None]]
Miss = Callable[[ServiceRequest, HTTPException], Awaitable[bytes | None]]


class _RestConverter(BaseConverter):
    regex = ".*"
    part_isolating = False


class _MatchOnlyRule(Rule):
    """Rule that is only matched, never used to build a URL.

    werkzeug would compile code that builds URLs for each rule, which takes a quarter of a
    millisecond.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        return _refuse_url_building


def _refuse_url_building(rule: Rule, **values: object) -> tuple[str, str]:
    raise RuntimeError(f"no URL is built of {rule}")


class RouteTable:
    """Operations that are mounted on a Klein app.

    @ivar app: the Klein app; each instance has its own, so two sites can coexist.
    """

    def __init__(self, operations: Iterable[Operation], serve: Serve, miss: Miss) -> None:
        """@param serve: answers a request whose operation was found.
        @param miss: answers a request that matches no operation: unknown path or wrong method.
        @raise ValueError: two operations have the same method and path.
        """
        self.operations = tuple(operations)
        self.app = Klein()
        self.app.url_map.merge_slashes = False
        self.app.url_map.converters = {**self.app.url_map.converters, "rest": _RestConverter}
        self._serve, self._miss = serve, miss
        self._named: dict[str, Operation] = {}
        for operation in self.operations:
            self._mount_operation(operation)
        self.app.handle_errors(HTTPException)(self._handle_unmatched)  # type: ignore[arg-type]

    def _mount_operation(self, operation: Operation) -> None:
        name = f"{operation.method} {operation.path}"
        if name in self._named:
            raise ValueError(f"two operations for {name}")
        self._named[name] = operation

        def serve_request(
            _: object, request: ServiceRequest, **path: str
        ) -> Awaitable[bytes | None]:
            return self._serve(request, operation, path)

        # Same as Klein's route(), with another class for the rule.
        serve_request.segment_count = 0  # type: ignore[attr-defined]
        self.app.endpoints[name] = serve_request
        methods = None if operation.method == ANY else [operation.method]
        self.app.url_map.add(
            _MatchOnlyRule(werkzeug_rule(operation.path), methods=methods, endpoint=name)
        )

    def _handle_unmatched(self, request: ServiceRequest, failure: Any) -> Awaitable[bytes | None]:
        return self._miss(request, failure.value)

    def find_operation(self, method: str, path: str) -> Operation | None:
        """Return the operation for a method and path, without calling it."""
        found = self.match_path(method, path)
        return None if found is None else found[0]

    def match_path(self, method: str, path: str) -> tuple[Operation, Mapping[str, str]] | None:
        """Return the operation for a method and path, with the path's parameters still escaped."""
        try:
            endpoint, values = self.app.url_map.bind("localhost").match(path, method)
        except HTTPException:
            return None
        return self._named[endpoint], values


def werkzeug_rule(path: str) -> str:
    """Return an operation's path in werkzeug's syntax.

    >>> werkzeug_rule("/api/sessions/{id}/input")
    '/api/sessions/<id>/input'
    """
    return _PARAMETER.sub(lambda m: f"<rest:{m[1]}>" if m[2] else f"<{m[1]}>", path)


def decode_path_arguments(operation: Operation, path: Mapping[str, str]) -> dict[str, str] | None:
    """Return the path's parameters without percent-escapes.

    @return: C{None} if a decoded value is not a single path segment.
    """
    values: dict[str, str] = {}
    for name, text in path.items():
        value = text if f"{{{name}{REST}}}" in operation.path else decode_path_parameter(text)
        if value is None:
            return None
        values[name] = value
    return values
