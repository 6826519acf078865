"""Operations table: one record per route, and the data that a handler receives.

A feature exports a list of operations.  The site mounts them, the gate enforces their access rule,
and the OpenAPI document and the security tests use the same list.  A route that is not in the table
cannot exist.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from enum import Enum
from typing import Any

from attrs import evolve, field, frozen
from pydantic import BaseModel
from twisted.web.iweb import IRequest

from tservice.core.errors import ErrorCode
from tservice.core.identity import Identity as Identity
from tservice.core.scopes import Scope as Scope
from tservice.http.body_limits import (
    ANY_MESSAGE,
    LEAST_BODY_LIMIT,
    BodyLimits,
    SocketLimits,
    find_body_limits,
)
from tservice.http.body_limits import JSON_BODY_LIMIT as JSON_BODY_LIMIT
from tservice.http.transfer.request_body import IncomingBody


class AccessRule(Enum):
    """Callers who may use an operation."""

    PUBLIC = "public"
    """Anyone whose Host and Origin pass."""
    USER = "user"
    """Anyone authenticated."""
    OWNER = "owner-of-session"
    """The owner of the session named by C{id} in the path, or an admin; else 404."""
    ADMIN = "admin"
    """Admins; everyone is one in single-user mode."""
    HOOK = "hook"
    """Loopback with the hook secret, else as L{USER} (protocol-hook-secret)."""
    CAPABILITY = "capability"
    """Holders of the unguessable token in the path."""


class ResponseStyle(Enum):
    """Form of the response."""

    ENVELOPE = "envelope"
    RAW = "raw"
    """The handler returns a L{RawReply}; a success has no envelope."""
    LONG_POLL = "long-poll"
    """Envelope after a wait of up to 600 s."""
    STREAM = "stream"
    """The handler writes to the request until the client has left (SSE)."""
    WEBSOCKET = "websocket"
    """The handler returns an C{ISocketHandler} (tservice.http.websockets.connection)."""


class AuditMode(Enum):
    """Form in which the audit log records an operation."""

    EACH = "each"
    """Separate entry for each request."""
    SUMMED = "summed"
    """Combined entry for one caller's requests over a period; for operations that are called many
    times a minute.
    """
    NONE = "none"


@frozen(kw_only=True)
class OperationCall:
    """Validated request, as passed to a handler.

    @ivar path: the path's parameters.
    @ivar query: an instance of the operation's query model, or C{None}.
    @ivar body: an instance of the operation's body model, or C{None}.
    @ivar address: the caller's address, with a trusted proxy's header already applied.
    @ivar incoming: the body of an operation that L{streams<Operation.streams>} it.
    @ivar again: reauthorizes the caller, for an effect after the handler has waited; raises a
        refusal if the right to this call has ended.
    """

    operation: Operation
    identity: Identity
    path: Mapping[str, str]
    query: Any
    body: Any
    address: str
    request: IRequest
    reauthorize: Callable[[], None] = lambda: None
    incoming: IncomingBody = field(factory=IncomingBody)

    @property
    def id(self) -> str:
        """Parameter C{id} of the path."""
        return self.path["id"]

    def get_header(self, name: str) -> str | None:
        """Return a request header's last value, or C{None}."""
        value: str | None = self.request.getHeader(name)
        return value


@frozen(kw_only=True)
class RawReply:
    """Success response with headers, or without an envelope (L{ResponseStyle.RAW}).

    @ivar content: bytes for L{ResponseStyle.RAW}, JSON-able data otherwise.
    """

    content: Any
    content_type: str = "application/json"
    status: int = 200
    headers: Mapping[str, str] = field(factory=dict)


Handler = Callable[[OperationCall], Awaitable[object]]


@frozen(kw_only=True)
class Operation:
    """Route with its rules.

    @ivar method: C{ANY} for every method.
    @ivar path: with C{{name}} parameters, for example C{/api/sessions/{id}/input}; a final
        C{{name:path}} matches the rest of the path, with slashes and percent-escapes unchanged.
    @ivar body: strict pydantic model of the JSON body; C{None} when there is none.
    @ivar allowed: called before the request is validated; raises C{ServiceError} while the feature
        is switched off.
    @ivar body_limit: bytes of the body; C{None}: derived from C{body}.
    @ivar optional_body: true when an absent body means the model's defaults.
    @ivar answer: the type of the payload, for the OpenAPI document.
    @ivar errors: additional error codes that the other fields do not imply.
    @ivar media_type: of a L{ResponseStyle.RAW} success, for the OpenAPI document.
    @ivar status: of a L{ResponseStyle.RAW} success, for the OpenAPI document.
    @ivar scope: the scope that a token needs; C{None}: no token may call it.  The reasons are in
        L{tservice.http.token_scopes}.
    @ivar audit: C{None}: L{AuditMode.EACH} for operations that may change something.
    @ivar ends_access: true if it may end the caller's right.  Its response is not authorized again,
        so a handler that waits calls L{OperationCall.reauthorize} before it has an effect.
    @ivar streams: true if the handler reads a C{multipart/form-data} body from
        L{OperationCall.incoming}
        while it arrives; C{body_limit} bounds it.
    @ivar carries: true if its handler only calls other operations for its caller.  Each call is
        authorized, so a session-bound token may use it.
    @ivar bears: true if it creates one session; an agent's token may do this, and the session
        becomes its child.
    @ivar large: returns whether a query needs a response of many megabytes; the number of
        concurrent ones is limited (L{tservice.http.transfer.large_responses}).
    @ivar any_body: true if it streams a body of any type, in place of a form.
    @ivar socket: limits on a client's messages for L{ResponseStyle.WEBSOCKET}.
    @ivar closes_foreign: true if an upgrade whose Host or Origin is refused is accepted and closed
        with 4003, so that its page can see the reason (protocol-gate).
    @ivar deprecated: the family of an operation that remains only for old clients
        (protocol-versioning).
    """

    method: str
    path: str
    access: AccessRule
    handler: Handler
    summary: str
    tag: str
    body: type[BaseModel] | None = None
    optional_body: bool = False
    query: type[BaseModel] | None = None
    response_model: Any = None
    style: ResponseStyle = ResponseStyle.ENVELOPE
    errors: tuple[ErrorCode, ...] = ()
    body_limit: int | None = None
    media_type: str = "application/json"
    status: int = 200
    scope: Scope | None = None
    audit: AuditMode | None = None
    ends_access: bool = False
    streams: bool = False
    proxies_calls: bool = False
    creates_session: bool = False
    large: Callable[[Any], bool] = lambda query: False
    any_body: bool = False
    socket: SocketLimits = ANY_MESSAGE
    closes_foreign: bool = False
    deprecated: str | None = None
    allowed: Callable[[], None] | None = None

    @property
    def has_no_body(self) -> bool:
        """True if the operation uses no body.

        The body of a read is ignored; with an explicit limit the handler reads it itself.
        """
        own = self.body is not None or self.body_limit is not None
        return not own and self.method in ("POST", "PUT", "PATCH", "DELETE")

    @property
    def body_limits(self) -> BodyLimits:
        """Limits on the body; an operation that anybody may call accepts little."""
        found = find_body_limits(self.body)
        if self.access is AccessRule.PUBLIC:
            return evolve(found, size=LEAST_BODY_LIMIT)
        return found if self.body_limit is None else evolve(found, size=self.body_limit)

    @property
    def audit_mode(self) -> AuditMode:
        """Form of its audit log entries; hooks are actions of agents, not of a person."""
        if self.audit is not None:
            return self.audit
        if self.method in ("GET", "HEAD", "OPTIONS") or self.access is AccessRule.HOOK:
            return AuditMode.NONE
        return AuditMode.EACH
