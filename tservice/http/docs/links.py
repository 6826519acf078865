"""Links of the OpenAPI document between operations, for clients and for tests that follow them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from attrs import frozen

from tservice.http.operations import Operation, Style
from tservice.http.reach import name_of


@frozen
class Way:
    """Link from a part of a response to the operations below a path.

    @ivar value: a JSON pointer into the payload of the envelope.
    @ivar path: the prefix of their paths; its last parameter gets the value.
    """

    value: str
    path: str


_SESSION = "/api/sessions/{id}"
WAYS: Mapping[str, Way] = MappingProxyType(
    {
        "POST /api/sessions": Way("session/id", _SESSION),
        "POST /api/quick-start": Way("sessionId", _SESSION),
        "GET /api/sessions": Way("0/id", _SESSION),
        "POST /api/cases": Way("case/name", "/api/cases/{name}"),
        "POST /api/cases/link": Way("case/name", "/api/cases/{name}"),
        "POST /api/clis": Way("id", "/api/clis/{id}"),
        "POST /api/cron/jobs": Way("job/id", "/api/cron/jobs/{id}"),
        "POST /api/model-endpoints": Way("endpoint/id", "/api/model-endpoints/{id}"),
        "POST /api/admin/users": Way("user/username", "/api/admin/users/{name}"),
        "POST /api/tokens": Way("record/id", "/api/tokens/{id}"),
        "POST /api/screenshots": Way("filename", "/api/screenshots/{name}"),
        "GET /api/approvals": Way("approvals/0/id", "/api/approvals/{item}"),
    }
)
"""Links by the operation that creates or lists an object."""


def links(
    operation: Operation, table: Iterable[Operation], names: Mapping[str, str]
) -> dict[str, Any]:
    """Return the links of an operation's success response.

    @param names: the C{operationId} of each operation, by L{name_of}.
    """
    way = WAYS.get(name_of(operation))
    if way is None:
        return {}
    parameter = way.path.rpartition("{")[2].rstrip("}")
    return {
        names[name_of(each)]: {
            "operationId": names[name_of(each)],
            "parameters": {parameter: f"$response.body#/data/{way.value}"},
        }
        for each in table
        if _below(each.path, way.path) and each.style is not Style.WEBSOCKET
    }


def _below(path: str, begin: str) -> bool:
    return path == begin or path.startswith(f"{begin}/")
