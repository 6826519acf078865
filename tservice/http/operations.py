"""Operations table: one record per route, and the data that a handler receives.

Operations are declared on their handlers (L{tservice.http.operation_decorator}).  The site mounts
them, the gate enforces their access rule, and the OpenAPI document and the security tests use the
same list.  A route that is not in the table cannot exist.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from enum import Enum
from typing import Any

from attrs import evolve, field, frozen
from pydantic import BaseModel
from twisted.web.iweb import IRequest

from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity as Identity
from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import Scope as Scope
from tservice.http.transfer.request_body import IncomingBody
from tservice.http.validation.body_limits import (
    ANY_MESSAGE,
    LEAST_BODY_LIMIT,
    BodyLimits,
    SocketLimits,
    find_body_limits,
)
from tservice.http.validation.body_limits import JSON_BODY_LIMIT as JSON_BODY_LIMIT


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

    @ivar caller: the authenticated caller, which may be authorized again for this call.
    @ivar path: the values of the path's parameters by name.
    @ivar query: an instance of the operation's query model.  C{None} if it has no query model.
    @ivar body: an instance of the operation's body model.  C{None} if it has no body model.  A
        handler takes its models as parameters (L{tservice.http.operation_decorator}).
    @ivar address: the caller's address, with a trusted proxy's header already applied.
    @ivar incoming: the body, if the operation L{streams<Operation.streams>} it.
    """

    operation: Operation
    caller: Caller
    path: Mapping[str, str]
    query: BaseModel | None
    body: BaseModel | None
    address: str
    request: IRequest
    incoming: IncomingBody = field(factory=IncomingBody)

    @property
    def id(self) -> str:
        """Value of the path parameter C{id}."""
        return self.path["id"]

    def get_header(self, name: str) -> str | None:
        """Return a request header's last value; C{None} if it is missing."""
        value: str | None = self.request.getHeader(name)
        return value


@frozen(kw_only=True)
class RawReply:
    """Success response with headers, or without an envelope (L{ResponseStyle.RAW}).

    @ivar content: bytes for L{ResponseStyle.RAW}, JSON-able data for other styles.
    """

    content: Any
    content_type: str = "application/json"
    status: int = 200
    headers: Mapping[str, str] = field(factory=dict)


Handler = Callable[[OperationCall], Awaitable[object]]


@frozen(kw_only=True)
class Operation:
    """Route of the HTTP API, with its rules.

    @ivar method: HTTP method, or C{ANY} for every method.
    @ivar path: path with C{{name}} parameters, for example C{/api/sessions/{id}/input}.  A final
        C{{name:path}} matches the rest of the path, with slashes and percent-escapes unchanged.
    @ivar body: strict pydantic model of the JSON body.  C{None} if the operation takes no JSON
        body.
    @ivar allowed: called before the request is validated; raises C{ServiceError} while the feature
        is switched off.
    @ivar body_limit: maximum size of the body in bytes.  C{None} to compute it from C{body}.
    @ivar optional_body: true if an absent body means the model's defaults.
    @ivar response_model: the type of the payload, for the OpenAPI document.
    @ivar errors: additional error codes that the other fields do not imply.
    @ivar media_type: media type of a L{ResponseStyle.RAW} success, for the OpenAPI document.
    @ivar status: status of a L{ResponseStyle.RAW} success, for the OpenAPI document.
    @ivar scope: the scope that a token needs.  C{None} if no token may call the operation.  The
        reason is C{scope_reason}, a sentence for the documents.
    @ivar audit: form of the audit entries.  C{None} for L{AuditMode.EACH} if the operation may
        change something, else no entry.
    @ivar ends_access: true if the operation may end the caller's own access.  The response is then
        not authorized again.  A handler that waits calls C{caller.reauthorize} before it changes
        anything.
    @ivar streams: true if the handler reads a C{multipart/form-data} body from C{incoming} of
        L{OperationCall} while it arrives, up to C{body_limit}.
    @ivar waits: true if a handler of another style than L{ResponseStyle.LONG_POLL} may wait for
        minutes.
    @ivar proxies_calls: true if the handler only calls other operations for its caller.  Each call
        is authorized, so a session-bound token may use the operation.
    @ivar creates_session: true if the operation creates one session.  An agent's token may call it,
        and the session becomes its child.
    @ivar for_agent_itself: true if an agent's token may call it for the agent's own session, in
        addition to those of its children.
    @ivar large: returns whether a query leads to a response of many megabytes.  The number of
        concurrent ones is limited (L{tservice.http.transfer.large_responses}).
    @ivar any_body: true if the handler reads a body of any media type while it arrives.
    @ivar socket: limits on a client's messages for L{ResponseStyle.WEBSOCKET}.
    @ivar closes_foreign: true to accept an upgrade whose Host or Origin is refused, and close it
        with 4003, so that its page can see the reason (protocol-gate).
    @ivar deprecated: name of the family of operations that remain only for old clients
        (protocol-versioning).  C{None} for current operations.
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
    scope_reason: str = ""
    audit: AuditMode | None = None
    ends_access: bool = False
    streams: bool = False
    waits: bool = False
    proxies_calls: bool = False
    creates_session: bool = False
    for_agent_itself: bool = False
    large: Callable[[Any], bool] = lambda query: False
    any_body: bool = False
    socket: SocketLimits = ANY_MESSAGE
    closes_foreign: bool = False
    deprecated: str | None = None
    allowed: Callable[[], None] | None = None

    @property
    def name(self) -> str:
        """Method and path, which identify the operation in tables and documents."""
        return f"{self.method} {self.path}"

    @property
    def has_no_body(self) -> bool:
        """True if the operation takes no body.

        The body of a GET request is ignored.  If C{body_limit} is set, the handler reads the body
        itself.
        """
        own = self.body is not None or self.body_limit is not None
        return not own and self.method in ("POST", "PUT", "PATCH", "DELETE")

    @property
    def body_limits(self) -> BodyLimits:
        """Limits on the body; an operation without authentication accepts only a small body."""
        found = find_body_limits(self.body)
        if self.access is AccessRule.PUBLIC:
            return evolve(found, size=LEAST_BODY_LIMIT)
        return found if self.body_limit is None else evolve(found, size=self.body_limit)

    @property
    def audit_mode(self) -> AuditMode:
        """Form in which the audit log records calls.

        Hook calls are not recorded, because they are actions of agents, not of a person.
        """
        if self.audit is not None:
            return self.audit
        if self.method in ("GET", "HEAD", "OPTIONS") or self.access is AccessRule.HOOK:
            return AuditMode.NONE
        return AuditMode.EACH
