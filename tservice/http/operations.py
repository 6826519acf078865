"""The operations table: one record per route, and what a handler is given.

A feature exports a list of operations.  The site mounts them, the gate enforces their access
rule, the OpenAPI document and the security tests walk the same list; a route that is not in
the table cannot exist.
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
from tservice.http.bounds import ANY_MESSAGE, LEAST_BODY_LIMIT, BodyBounds, SocketBounds, bounds_of
from tservice.http.bounds import JSON_BODY_LIMIT as JSON_BODY_LIMIT
from tservice.http.transfer.incoming import Incoming


class Access(Enum):
    """Who may call an operation."""

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
    """The unguessable word in the path."""


class Style(Enum):
    """How the answer leaves."""

    ENVELOPE = "envelope"
    RAW = "raw"
    """The handler returns a L{Reply}; no envelope around a success."""
    LONG_POLL = "long-poll"
    """An envelope that may take up to 600 s."""
    STREAM = "stream"
    """The handler writes to the request until the client is gone (SSE)."""
    WEBSOCKET = "websocket"
    """The handler returns an C{ISocketHandler} (tservice.http.websockets.connection)."""


class Audit(Enum):
    """What the audit log keeps of an operation."""

    EACH = "each"
    """One entry a request."""
    SUMMED = "summed"
    """What comes in many times a minute: one entry for what one caller did in a while."""
    NONE = "none"


@frozen(kw_only=True)
class Call:
    """One request, validated, as a handler sees it.

    @ivar path: the path's parameters.
    @ivar query: an instance of the operation's query model, or C{None}.
    @ivar body: an instance of the operation's body model, or C{None}.
    @ivar address: the caller's address, a trusted proxy's word already applied.
    @ivar incoming: the body of an operation that L{streams<Operation.streams>} it.
    @ivar again: judges the caller once more, for what a handler is about to do after it has
        waited; raises a refusal where the right to this call is over.
    """

    operation: Operation
    identity: Identity
    path: Mapping[str, str]
    query: Any
    body: Any
    address: str
    request: IRequest
    again: Callable[[], None] = lambda: None
    incoming: Incoming = field(factory=Incoming)

    @property
    def id(self) -> str:
        """The path's C{id}."""
        return self.path["id"]

    def header(self, name: str) -> str | None:
        """A request header's last value, or C{None}."""
        value: str | None = self.request.getHeader(name)
        return value


@frozen(kw_only=True)
class Reply:
    """A success that needs headers, or no envelope (L{Style.RAW}).

    @ivar content: bytes for L{Style.RAW}, JSON-able data otherwise.
    """

    content: Any
    content_type: str = "application/json"
    status: int = 200
    headers: Mapping[str, str] = field(factory=dict)


Handler = Callable[[Call], Awaitable[object]]


@frozen(kw_only=True)
class Operation:
    """One route.

    @ivar method: C{ANY} for every method.
    @ivar path: with C{{name}} parameters, for example C{/api/sessions/{id}/input}; one
        C{{name:path}} at its end takes all that is left, slashes and percent-escapes as they are.
    @ivar body: strict pydantic model of the JSON body; C{None} when there is none.
    @ivar allowed: asked before the request is validated; raises C{ServiceError} while what the
        operation does is switched off.
    @ivar body_limit: bytes of the body; C{None}: what C{body} can make use of.
    @ivar optional_body: true when an absent body means the model's defaults.
    @ivar answer: the type of the payload, for the OpenAPI document.
    @ivar errors: the codes it may answer beside those that its other fields imply.
    @ivar media_type: of a L{Style.RAW} success, for the OpenAPI document.
    @ivar status: of a L{Style.RAW} success, for the OpenAPI document.
    @ivar scope: what a token needs to call it; C{None}: no token may.  The reasons stand in
        L{tservice.http.reach}.
    @ivar audit: C{None}: L{Audit.EACH} for what may change something.
    @ivar ends_access: it may end its own caller's right.  Its answer is not judged again, so a
        handler that waits calls L{Call.again} before it has an effect.
    @ivar streams: the handler reads a C{multipart/form-data} body from L{Call.incoming} while it
        arrives; C{body_limit} bounds it.
    @ivar carries: its handler only makes calls of other operations for its caller, each of which is
        judged, so a token that is bound to sessions may call it.
    @ivar bears: it makes one session, which an agent's own token may do: it becomes its child.
    @ivar large: whether a query asks for what may take many megabytes to answer: so many are
        answered at a time (L{tservice.http.transfer.large}).
    @ivar any_body: it reads whatever comes so, in place of a form.
    @ivar socket: what may come in on a L{Style.WEBSOCKET}.
    @ivar closes_foreign: an upgrade whose Host or Origin is refused is accepted and closed with
        4003, so that its page can tell why (protocol-gate).
    @ivar deprecated: the family that it belongs to, where it goes on working for old clients only
        (protocol-versioning).
    """

    method: str
    path: str
    access: Access
    handler: Handler
    summary: str
    tag: str
    body: type[BaseModel] | None = None
    optional_body: bool = False
    query: type[BaseModel] | None = None
    answer: Any = None
    style: Style = Style.ENVELOPE
    errors: tuple[ErrorCode, ...] = ()
    body_limit: int | None = None
    media_type: str = "application/json"
    status: int = 200
    scope: Scope | None = None
    audit: Audit | None = None
    ends_access: bool = False
    streams: bool = False
    carries: bool = False
    bears: bool = False
    large: Callable[[Any], bool] = lambda query: False
    any_body: bool = False
    socket: SocketBounds = ANY_MESSAGE
    closes_foreign: bool = False
    deprecated: str | None = None
    allowed: Callable[[], None] | None = None

    @property
    def bodiless(self) -> bool:
        """Whether a body has nothing to say here.

        Nobody looks at that of a read; with a limit of its own the handler reads it itself.
        """
        own = self.body is not None or self.body_limit is not None
        return not own and self.method in ("POST", "PUT", "PATCH", "DELETE")

    @property
    def bounds(self) -> BodyBounds:
        """What a body may have; what anybody may call takes little."""
        found = bounds_of(self.body)
        if self.access is Access.PUBLIC:
            return evolve(found, size=LEAST_BODY_LIMIT)
        return found if self.body_limit is None else evolve(found, size=self.body_limit)

    @property
    def audited(self) -> Audit:
        """What the audit log keeps; hooks are the agents' own doing, not a person's."""
        if self.audit is not None:
            return self.audit
        if self.method in ("GET", "HEAD", "OPTIONS") or self.access is Access.HOOK:
            return Audit.NONE
        return Audit.EACH
