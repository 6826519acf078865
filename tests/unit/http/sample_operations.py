"""Sample operations."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field
from twisted.internet.defer import Deferred

from tservice.core.kernel.errors import ErrorCode, ServiceError, make_not_found_error
from tservice.http.operations import (
    JSON_BODY_LIMIT,
    AccessRule,
    Operation,
    OperationCall,
    RawReply,
    ResponseStyle,
)
from tservice.http.validation.models import QueryParameters, RequestBody, ResponseModel


class SizeBody(RequestBody):
    cols: int = Field(ge=1, le=500)
    kind: Literal["big", "small"] = "big"


class PageQuery(QueryParameters):
    limit: int = 10


class SampleSizeAnswer(ResponseModel):
    seen_cols: int


def sample_operation(method: str, path: str, handler: Any, **fields: Any) -> Operation:
    return Operation(
        **{
            "method": method,
            "path": path,
            "handler": handler,
            "access": AccessRule.USER,
            "summary": "s",
            "tag": "t",
            **fields,
        }
    )


class SampleHandlers:
    """Sample operations."""

    def __init__(self) -> None:
        self.parked: list[Deferred[object]] = []
        self.cancelled: list[Deferred[object]] = []
        self.calls: list[OperationCall] = []

    async def echo(self, call: OperationCall) -> object:
        self.calls.append(call)
        return {"path": dict(call.path)}

    async def size(self, call: OperationCall) -> object:
        assert isinstance(call.body, SizeBody)
        return SampleSizeAnswer(seen_cols=call.body.cols)

    async def listing(self, call: OperationCall) -> object:
        assert isinstance(call.query, PageQuery)
        return {"limit": call.query.limit}

    async def missing(self, call: OperationCall) -> object:
        raise make_not_found_error(f"Thing {call.id}")

    async def broken(self, call: OperationCall) -> object:
        raise ZeroDivisionError("secret detail")

    async def park(self, call: OperationCall) -> object:
        self.parked.append(Deferred(self.cancelled.append))
        return await self.parked[-1]

    async def raw(self, call: OperationCall) -> object:
        return RawReply(content="ok 1\n", content_type="text/plain", headers={"X-A": "b"})

    async def nothing(self, call: OperationCall) -> object:
        return None

    async def stream(self, call: OperationCall) -> object:
        call.request.write(b"one")
        raise ServiceError(ErrorCode.CONFLICT, "half-way")

    def table(self) -> list[Operation]:
        return [
            sample_operation("GET", "/api/things/{id}", self.echo),
            sample_operation("DELETE", "/api/things/{id}", self.nothing),
            sample_operation(
                "POST", "/api/size", self.size, body=SizeBody, body_limit=JSON_BODY_LIMIT
            ),
            sample_operation("GET", "/api/list", self.listing, query=PageQuery),
            sample_operation("GET", "/api/missing/{id}", self.missing),
            sample_operation("GET", "/api/broken", self.broken),
            sample_operation("GET", "/api/park", self.park, style=ResponseStyle.LONG_POLL),
            sample_operation("GET", "/raw", self.raw, style=ResponseStyle.RAW),
            sample_operation("POST", "/api/upload", self.echo, body_limit=3 * JSON_BODY_LIMIT),
            sample_operation("POST", "/api/tiny", self.size, body=SizeBody, body_limit=20),
            sample_operation("GET", "/api/stream", self.stream, style=ResponseStyle.STREAM),
            sample_operation("ANY", "/web/{name}/{rest:path}", self.echo),
        ]
