"""C{/mcp}: MCP over HTTP (protocol-mcp-http), with the tools of L{tservice.client.mcp}."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, cast

from twisted.internet.defer import CancelledError, Deferred, gatherResults
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from tservice.client.errors import ApiError
from tservice.client.mcp.connections import Connection, Connections
from tservice.client.mcp.notices import TOLD, is_quiet, notice
from tservice.client.mcp.plan import Ask
from tservice.client.mcp.protocol import (
    BAD_ARGUMENTS,
    BAD_JSON,
    VERSIONS,
    Message,
    RpcFault,
    RpcServer,
    entries_of,
    judge,
    refused,
)
from tservice.client.mcp.protocol import RpcCall as Asked
from tservice.client.mcp.tools import offered
from tservice.core.disk_errors import DiskFull, find_disk_problem
from tservice.core.errors import HTTP_STATUS, ErrorCode, ServiceError, invalid_field, not_found
from tservice.core.event_payloads import EmptyPayload
from tservice.core.events import Event, EventHub
from tservice.core.scopes import Scope
from tservice.http.body import LONG_TEXT, parse_json_yielding
from tservice.http.envelope import HttpRefusal, dump_json
from tservice.http.event_stream import HEARTBEAT_SECONDS, EventClient, receives_event
from tservice.http.operations import (
    JSON_BODY_LIMIT,
    AccessRule,
    AuditMode,
    Operation,
    OperationCall,
    RawReply,
    ResponseStyle,
)
from tservice.http.request import ServiceRequest

PATH = "/mcp"
SESSION, VERSION = "Mcp-Session-Id", "MCP-Protocol-Version"
BODY_LIMIT = JSON_BODY_LIMIT
"""Largest message in bytes: it has room for the longest text of a tool, escaped."""
_NO_ANSWER = RawReply(content=b"", content_type="", status=202)


class Calls(Protocol):
    """Caller of service operations on behalf of an incoming call."""

    def call_operation(
        self,
        outer: OperationCall,
        method: str,
        path: str,
        body: object,
        query: Mapping[str, object] | None,
    ) -> Awaitable[Any]:
        """Call one operation and return its payload."""


class McpRoutes:
    """Routes for incoming messages and outgoing notifications."""

    _log = Logger()

    def __init__(
        self, connections: Connections, calls: Calls, hub: EventHub, clock: IReactorTime
    ) -> None:
        self._connections, self._calls, self._clock = connections, calls, clock
        self._unsubscribe: Callable[[], None] = hub.subscribe(self._heard)
        self._beat = LoopingCall(self._keep_alive)
        self._beat.clock = clock

    async def post(self, call: OperationCall) -> RawReply:
        """Answer one message, or a batch of messages."""
        _check_version(call)
        request = cast(ServiceRequest, call.request)
        if (call.get_header("content-type") or "").partition(";")[0].strip() != "application/json":
            raise invalid_field("content-type", "must be application/json")
        raw = request.content.read()
        try:
            found = await read_message(raw, self._clock)
            if len(raw) > LONG_TEXT:
                call.reauthorize()
            if isinstance(found, list):
                return await self._answer_batch(call, found)
            asked = judge(found)
        except RpcFault as fault:
            # Bad parameters belong to a valid request; other errors mean an invalid message.
            status = 200 if fault.code == BAD_ARGUMENTS else 400
            return RawReply(content=refused(fault.key, fault), status=status)
        if asked is None:
            self._connection(call)
            return _NO_ANSWER
        if asked.method == "initialize":
            return await self._greet(call, asked)
        connection = self._connection(call)
        answer = await self._answer(call, connection, asked)
        return RawReply(content=answer, headers={SESSION: connection.key})

    async def _greet(self, call: OperationCall, asked: Asked) -> RawReply:
        """Answer C{initialize}, and open a connection unless it is refused."""
        answer = await self._server(call).answer(asked)
        if "result" not in answer:
            return RawReply(content=answer)
        connection = self._connections.open(call.identity)
        connection.version = answer["result"]["protocolVersion"]
        return RawReply(content=answer, headers={SESSION: connection.key})

    async def _answer_batch(self, call: OperationCall, batch: Sequence[object]) -> RawReply:
        """Answer all requests of a batch, which run concurrently.

        @raise RpcFault: the connection's revision has no batches, or the batch is empty.
        """
        if not batch:
            entries_of(batch, None)  # it is refused in every revision
        connection = self._connection(call)
        entries = entries_of(batch, connection.version)
        if not entries:
            return _NO_ANSWER
        answers = [Deferred.fromCoroutine(self._answer(call, connection, each)) for each in entries]
        found = await gatherResults(answers, consumeErrors=True)
        return RawReply(content=found, headers={SESSION: connection.key})

    async def _answer(
        self, call: OperationCall, connection: Connection, asked: Asked | RpcFault
    ) -> Message:
        """Answer one request of a connection."""
        if isinstance(asked, RpcFault):
            return refused(asked.key, asked)
        answer = await self._server(call).answer(asked)
        if asked.method == "logging/setLevel" and "result" in answer:
            connection.quiet = is_quiet(asked.params["level"])
        return answer

    def _server(self, call: OperationCall) -> RpcServer:
        return RpcServer(offered(call.identity.scopes), self._sender(call), notices=True)

    async def stream(self, call: OperationCall) -> None:
        """Stream notifications until the client disconnects or its connection ends."""
        _check_version(call)
        connection = self._connection(call)
        request = cast(ServiceRequest, call.request)
        headers = request.responseHeaders
        headers.setRawHeaders("Content-Type", ["text/event-stream"])
        headers.setRawHeaders("Cache-Control", ["no-store"])
        headers.setRawHeaders("X-Accel-Buffering", ["no"])
        request.write(b"")
        if request.method == b"HEAD":
            return
        client = EventClient(request, call.identity, None)
        request.registerProducer(client, True)
        if connection.told is not None:
            connection.told.end_stream()
        connection.told = client
        self._start()
        try:
            await client.done
        finally:
            if connection.told is client:
                connection.told = None
            client.stopProducing()
            if not request.gone:
                request.unregisterProducer()

    async def delete(self, call: OperationCall) -> EmptyPayload:
        """End a connection."""
        self._connections.end(self._connection(call))
        return EmptyPayload()

    def close(self) -> None:
        """End all connections and stop listening to events."""
        self._unsubscribe()
        self._connections.close()
        if self._beat.running:
            self._beat.stop()

    def _connection(self, call: OperationCall) -> Connection:
        key = call.get_header(SESSION)
        if key is None:
            raise invalid_field(SESSION, "is required")
        found = self._connections.find(key, call.identity)
        if found is None:
            raise not_found("MCP session")
        return found

    def _sender(self, call: OperationCall) -> Callable[[Ask], Awaitable[Any]]:
        async def send(ask: Ask) -> Any:
            path = f"/api{ask.path}"
            try:
                return await self._calls.call_operation(call, ask.method, path, ask.body, ask.query)
            except ServiceError as error:
                raise _as_answered(error) from None
            except (HttpRefusal, CancelledError):
                raise
            except Exception as error:
                reason = find_disk_problem(error)
                if reason is not None:
                    raise _as_answered(DiskFull(reason)) from None
                self._log.failure("fault in {method} {path}", method=ask.method, path=path)
                fault = ServiceError(
                    ErrorCode.INTERNAL_ERROR, "Internal error; see the log of the service"
                )
                raise _as_answered(fault) from None

        return send

    def _heard(self, event: Event) -> None:
        if event.name.value not in TOLD:
            return
        for connection in self._connections.listening():
            client = cast(EventClient, connection.told)
            allowed = client.identity.has_scope(Scope.APPROVALS)
            if allowed and not connection.quiet and receives_event(event, client.identity, None):
                client.write_bytes(_notice(event))

    def _start(self) -> None:
        if not self._beat.running:
            beating = self._beat.start(HEARTBEAT_SECONDS, now=False)
            beating.addErrback(lambda why: self._log.failure("the heartbeat stopped", why))

    def _keep_alive(self) -> None:
        listening = self._connections.listening()
        for connection in listening:
            cast(EventClient, connection.told).write_bytes(b": alive\n\n")
        if not listening:
            self._beat.stop()

    def operations(self) -> list[Operation]:
        """Return the operations of the routes."""
        common: dict[str, Any] = {
            "path": PATH,
            "access": AccessRule.USER,
            "scope": Scope.SESSIONS_READ,
            "tag": "MCP",
            "carries": True,
            "errors": (ErrorCode.INVALID_INPUT, ErrorCode.NOT_FOUND),
        }
        return [
            Operation(
                method="POST",
                handler=self.post,
                summary="One message to the MCP server",
                style=ResponseStyle.RAW,
                body_limit=BODY_LIMIT,
                audit=AuditMode.NONE,
                **common,
            ),
            Operation(
                method="GET",
                handler=self.stream,
                summary="Notifications of the MCP server",
                style=ResponseStyle.STREAM,
                **common,
            ),
            Operation(
                method="DELETE",
                handler=self.delete,
                summary="End a connection to the MCP server",
                response_model=EmptyPayload,
                audit=AuditMode.NONE,
                **common,
            ),
        ]


def _as_answered(error: ServiceError) -> ApiError:
    """Return the error that a client of the API would get."""
    return ApiError(HTTP_STATUS[error.code], error.code.value, error.message)


async def read_message(raw: bytes, clock: IReactorTime) -> object:
    """Return the JSON value of a body, under the rules of any JSON body (L{parse_json_yielding}).

    @raise RpcFault: the body breaks them.
    """
    try:
        found: object = await parse_json_yielding(raw, clock)
        return found
    except ServiceError as error:
        raise RpcFault(BAD_JSON, str(error)) from None


def _check_version(call: OperationCall) -> None:
    version = call.get_header(VERSION)
    if version is not None and version not in VERSIONS:
        raise invalid_field(VERSION, f"must be one of {', '.join(VERSIONS)}")


def _notice(event: Event) -> bytes:
    message = notice(event.name.value, json.loads(dump_json(event.payload)))
    return b"event: message\ndata: %s\n\n" % json.dumps(message).encode()
