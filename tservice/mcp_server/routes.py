"""C{/mcp}: MCP over HTTP with the tools of L{tservice.client.mcp} (protocol-mcp-http)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, cast

from twisted.internet.defer import CancelledError, Deferred, gatherResults
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from tservice.client.errors import ApiError
from tservice.client.mcp.notices import NOTICE_EVENTS, build_notice, excludes_notices
from tservice.client.mcp.plan import PlannedRequest
from tservice.client.mcp.protocol import (
    BAD_ARGUMENTS,
    BAD_JSON,
    VERSIONS,
    Message,
    RpcError,
    RpcServer,
    build_error_response,
    validate_batch,
    validate_message,
)
from tservice.client.mcp.protocol import RpcRequest as Asked
from tservice.client.mcp.tools import select_tools
from tservice.core.disk.disk_errors import DiskFull, find_disk_problem
from tservice.core.kernel.errors import (
    HTTP_STATUS,
    ErrorCode,
    ServiceError,
    make_field_error,
    make_not_found_error,
)
from tservice.core.kernel.event_payloads import EmptyPayload
from tservice.core.kernel.events import Event, EventHub
from tservice.core.kernel.scopes import Scope
from tservice.http.envelope import HttpRefusal, dump_json
from tservice.http.event_stream import HEARTBEAT_SECONDS, EventClient, receives_event
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import (
    JSON_BODY_LIMIT,
    AccessRule,
    AuditMode,
    OperationCall,
    RawReply,
    ResponseStyle,
)
from tservice.http.request import ServiceRequest
from tservice.http.validation.body import LONG_TEXT, parse_json_yielding
from tservice.mcp_server.connections import McpConnection, McpConnections

PATH = "/mcp"
SESSION, VERSION = "Mcp-Session-Id", "MCP-Protocol-Version"
BODY_LIMIT = JSON_BODY_LIMIT
"""Maximum size of a message in bytes. The longest text of a tool fits, even if escaped."""
_NO_ANSWER = RawReply(content=b"", content_type="", status=202)


class OperationCaller(Protocol):
    """Function object that calls service operations with the permissions of an incoming call."""

    def call_operation(
        self,
        outer: OperationCall,
        method: str,
        path: str,
        body: object,
        query: Mapping[str, object] | None,
    ) -> Awaitable[Any]:
        """Call one operation and return its payload.

        @param outer: incoming call, whose identity is used.
        """


_MCP = OperationFields(
    tag="MCP",
    access=AccessRule.USER,
    scope=Scope.SESSIONS_READ,
    scope_reason=(
        "Makes tool calls. Each is checked with the scopes and sessions of the token "
        "like a separate request. Notifications of approvals also need the scope "
        "approvals."
    ),
    proxies_calls=True,
    errors=(ErrorCode.INVALID_INPUT, ErrorCode.NOT_FOUND),
)


class McpRoutes:
    """Routes for incoming messages and outgoing notifications."""

    _log = Logger()

    def __init__(
        self,
        connections: McpConnections,
        calls: OperationCaller,
        hub: EventHub,
        clock: IReactorTime,
    ) -> None:
        self._connections, self._calls, self._clock = connections, calls, clock
        self._unsubscribe: Callable[[], None] = hub.subscribe(self._notify_clients)
        self._heartbeat = LoopingCall(self._send_heartbeats)
        self._heartbeat.clock = clock

    @operation(
        "POST", "/mcp", _MCP, style=ResponseStyle.RAW, body_limit=BODY_LIMIT, audit=AuditMode.NONE
    )
    async def handle_post(self, call: OperationCall) -> RawReply:
        """Send a message to the MCP server."""
        _check_version(call)
        request = cast(ServiceRequest, call.request)
        if (call.get_header("content-type") or "").partition(";")[0].strip() != "application/json":
            raise make_field_error("content-type", "must be application/json")
        raw = request.content.read()
        try:
            found = await parse_message_body(raw, self._clock)
            if len(raw) > LONG_TEXT:
                call.caller.reauthorize()
            if isinstance(found, list):
                return await self._answer_batch(call, found)
            asked = validate_message(found)
        except RpcError as fault:
            # Bad parameters belong to a valid request; other errors mean an invalid message.
            status = 200 if fault.code == BAD_ARGUMENTS else 400
            return RawReply(content=build_error_response(fault.key, fault), status=status)
        if asked is None:
            self._find_connection(call)
            return _NO_ANSWER
        if asked.method == "initialize":
            return await self._answer_initialize(call, asked)
        connection = self._find_connection(call)
        answer = await self._answer_request(call, connection, asked)
        return RawReply(content=answer, headers={SESSION: connection.key})

    async def _answer_initialize(self, call: OperationCall, asked: Asked) -> RawReply:
        """Process an C{initialize} request, and open a connection if it succeeds."""
        answer = await self._make_server(call).answer_request(asked)
        if "result" not in answer:
            return RawReply(content=answer)
        connection = self._connections.open(call.caller)
        connection.version = answer["result"]["protocolVersion"]
        return RawReply(content=answer, headers={SESSION: connection.key})

    async def _answer_batch(self, call: OperationCall, batch: Sequence[object]) -> RawReply:
        """Process all requests of a batch concurrently, and return the replies.

        @raise RpcError: the connection's revision has no batches, or the batch is empty.
        """
        if not batch:
            validate_batch(batch, None)  # it is refused in every revision
        connection = self._find_connection(call)
        entries = validate_batch(batch, connection.version)
        if not entries:
            return _NO_ANSWER
        answers = [
            Deferred.fromCoroutine(self._answer_request(call, connection, each)) for each in entries
        ]
        found = await gatherResults(answers, consumeErrors=True)
        return RawReply(content=found, headers={SESSION: connection.key})

    async def _answer_request(
        self, call: OperationCall, connection: McpConnection, asked: Asked | RpcError
    ) -> Message:
        """Process one request of a connection, and return the reply."""
        if isinstance(asked, RpcError):
            return build_error_response(asked.key, asked)
        answer = await self._make_server(call).answer_request(asked)
        if asked.method == "logging/setLevel" and "result" in answer:
            connection.is_quiet = excludes_notices(asked.params["level"])
        return answer

    def _make_server(self, call: OperationCall) -> RpcServer:
        return RpcServer(select_tools(call.caller.scopes), self._make_sender(call), notices=True)

    @operation("GET", "/mcp", _MCP, style=ResponseStyle.STREAM)
    async def stream_notifications(self, call: OperationCall) -> None:
        """Stream notifications of the MCP server."""
        _check_version(call)
        connection = self._find_connection(call)
        request = cast(ServiceRequest, call.request)
        headers = request.responseHeaders
        headers.setRawHeaders("Content-Type", ["text/event-stream"])
        headers.setRawHeaders("Cache-Control", ["no-store"])
        headers.setRawHeaders("X-Accel-Buffering", ["no"])
        request.write(b"")
        if request.method == b"HEAD":
            return
        client = EventClient(request, call.caller, None)
        request.registerProducer(client, True)
        if connection.sink is not None:
            connection.sink.end_stream()
        connection.sink = client
        self._start_heartbeat()
        try:
            await client.done
        finally:
            if connection.sink is client:
                connection.sink = None
            client.stopProducing()
            if not request.gone:
                request.unregisterProducer()

    @operation("DELETE", "/mcp", _MCP, audit=AuditMode.NONE)
    async def end_connection(self, call: OperationCall) -> EmptyPayload:
        """End a connection to the MCP server."""
        self._connections.end_connection(self._find_connection(call))
        return EmptyPayload()

    def close(self) -> None:
        """End all connections, and stop observing events."""
        self._unsubscribe()
        self._connections.end_all()
        if self._heartbeat.running:
            self._heartbeat.stop()

    def _find_connection(self, call: OperationCall) -> McpConnection:
        key = call.get_header(SESSION)
        if key is None:
            raise make_field_error(SESSION, "is required")
        found = self._connections.find(key, call.caller)
        if found is None:
            raise make_not_found_error("MCP session")
        return found

    def _make_sender(self, call: OperationCall) -> Callable[[PlannedRequest], Awaitable[Any]]:
        async def send(ask: PlannedRequest) -> Any:
            path = f"/api{ask.path}"
            try:
                return await self._calls.call_operation(call, ask.method, path, ask.body, ask.query)
            except ServiceError as error:
                raise _to_api_error(error) from None
            except (HttpRefusal, CancelledError):
                raise
            except Exception as error:
                reason = find_disk_problem(error)
                if reason is not None:
                    raise _to_api_error(DiskFull(reason)) from None
                self._log.failure("fault in {method} {path}", method=ask.method, path=path)
                fault = ServiceError(
                    ErrorCode.INTERNAL_ERROR, "Internal error; see the log of the service"
                )
                raise _to_api_error(fault) from None

        return send

    def _notify_clients(self, event: Event) -> None:
        if event.name.value not in NOTICE_EVENTS:
            return
        for connection in self._connections.find_listening():
            client = cast(EventClient, connection.sink)
            allowed = client.identity.has_scope(Scope.APPROVALS)
            if allowed and not connection.is_quiet and receives_event(event, client.identity, None):
                client.write_bytes(_encode_notice(event))

    def _start_heartbeat(self) -> None:
        if not self._heartbeat.running:
            beating = self._heartbeat.start(HEARTBEAT_SECONDS, now=False)
            beating.addErrback(lambda why: self._log.failure("the heartbeat stopped", why))

    def _send_heartbeats(self) -> None:
        listening = self._connections.find_listening()
        for connection in listening:
            cast(EventClient, connection.sink).write_bytes(b": alive\n\n")
        if not listening:
            self._heartbeat.stop()


def _to_api_error(error: ServiceError) -> ApiError:
    """Convert an error of the service to the error that an API client gets."""
    return ApiError(HTTP_STATUS[error.code], error.code.value, error.message)


async def parse_message_body(raw: bytes, clock: IReactorTime) -> object:
    """Parse the JSON of a body under the same limits as any JSON body (L{parse_json_yielding}).

    @raise RpcError: the body is invalid or exceeds a limit.
    """
    try:
        found: object = await parse_json_yielding(raw, clock)
        return found
    except ServiceError as error:
        raise RpcError(BAD_JSON, str(error)) from None


def _check_version(call: OperationCall) -> None:
    version = call.get_header(VERSION)
    if version is not None and version not in VERSIONS:
        raise make_field_error(VERSION, f"must be one of {', '.join(VERSIONS)}")


def _encode_notice(event: Event) -> bytes:
    message = build_notice(event.name.value, json.loads(dump_json(event.payload)))
    return b"event: message\ndata: %s\n\n" % json.dumps(message).encode()
