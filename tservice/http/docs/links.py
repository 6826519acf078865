"""Links between operations in the OpenAPI document, for clients and for tests that follow them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from attrs import frozen

from tservice.http.operations import Operation, ResponseStyle


@frozen
class OperationLink:
    """Link from a value in a response to the operations that take this value in their path.

    @ivar value: a JSON pointer to the value, in the payload of the envelope.
    @ivar path: the prefix of the operations' paths; its last parameter gets the value.
    """

    value: str
    path: str


_SESSION = "/api/sessions/{id}"
OPERATION_LINKS: Mapping[str, OperationLink] = MappingProxyType(
    {
        "POST /api/sessions": OperationLink("session/id", _SESSION),
        "POST /api/quick-start": OperationLink("sessionId", _SESSION),
        "GET /api/sessions": OperationLink("0/id", _SESSION),
        "POST /api/cases": OperationLink("case/name", "/api/cases/{name}"),
        "POST /api/cases/link": OperationLink("case/name", "/api/cases/{name}"),
        "POST /api/clis": OperationLink("id", "/api/clis/{id}"),
        "POST /api/cron/jobs": OperationLink("job/id", "/api/cron/jobs/{id}"),
        "POST /api/model-endpoints": OperationLink("endpoint/id", "/api/model-endpoints/{id}"),
        "POST /api/admin/users": OperationLink("user/username", "/api/admin/users/{name}"),
        "POST /api/tokens": OperationLink("record/id", "/api/tokens/{id}"),
        "POST /api/screenshots": OperationLink("filename", "/api/screenshots/{name}"),
        "GET /api/approvals": OperationLink("approvals/0/id", "/api/approvals/{item}"),
        "POST /api/approval-rules": OperationLink("rule/id", "/api/approval-rules/{rule}"),
    }
)
"""Links by the name of the operation that creates or lists an object."""


def find_links(
    operation: Operation, table: Iterable[Operation], names: Mapping[str, str]
) -> dict[str, Any]:
    """Return the OpenAPI links of an operation's success response.

    @param table: all operations.
    @param names: the C{operationId} of each operation, by the name of the operation.
    """
    way = OPERATION_LINKS.get(operation.name)
    if way is None:
        return {}
    parameter = way.path.rpartition("{")[2].rstrip("}")
    return {
        names[each.name]: {
            "operationId": names[each.name],
            "parameters": {parameter: f"$response.body#/data/{way.value}"},
        }
        for each in table
        if _is_below(each.path, way.path) and each.style is not ResponseStyle.WEBSOCKET
    }


def _is_below(path: str, begin: str) -> bool:
    return path == begin or path.startswith(f"{begin}/")
