"""Route C{GET /api/admin/audit}, and the recording of operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field

from tservice.audit.model import LONGEST_WORD, AuditEntry
from tservice.audit.service import AuditFilter, AuditLog
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.scopes import READS_SERVICE_STATE
from tservice.core.values.payload import omit_if_none
from tservice.http.operation_decorator import operation
from tservice.http.operations import AccessRule, AuditMode, OperationCall, RawReply, Scope
from tservice.http.validation.models import QueryInt, QueryParameters, ResponseModel

PAGE = 100
LONGEST_PAGE = 500

_Word = Annotated[str, Field(max_length=LONGEST_WORD)]
_Number = Annotated[QueryInt, Field(ge=0)]


class AuditQuery(QueryParameters):
    """Filter of entries; all conditions must match.

    C{action} and C{path} are prefixes of an entry's action, or of the path within it.
    """

    limit: Annotated[QueryInt, Field(ge=1, le=LONGEST_PAGE)] = PAGE
    actor: _Word | None = None
    action: _Word | None = None
    path: _Word | None = None
    target: _Word | None = None
    since: _Number | None = None
    until: _Number | None = None
    before: _Number | None = None


class AuditEntryResponse(ResponseModel):
    """Entry of the audit log. Later entries have a greater C{seq}."""

    seq: int
    at: int
    actor: str
    method: str
    address: str
    action: str
    target: str
    detail: dict[str, Any]


class AuditPageResponse(ResponseModel):
    """Page of entries, newest first. C{next} is the C{before} of the next page, if there is one."""

    entries: list[AuditEntryResponse]
    next: int | None = omit_if_none()


class AuditRoutes:
    """Route of the audit log for admins, and callbacks that record operations and typing.

    @ivar log: the audit log, for other features.
    """

    def __init__(self, log: AuditLog) -> None:
        self.log = log

    @operation(
        "GET",
        "/api/admin/audit",
        tag="Audit",
        access=AccessRule.ADMIN,
        scope=Scope.ADMIN,
        scope_reason=READS_SERVICE_STATE,
    )
    async def read_page(self, call: OperationCall, query: AuditQuery) -> AuditPageResponse:
        """List entries of the audit log, newest first."""
        wanted = AuditFilter(**query.model_dump())
        found = self.log.find_entries(wanted)
        entries = [
            AuditEntryResponse(**{name: row[name] for name in AuditEntryResponse.model_fields})
            for row in found
        ]
        more = found[-1]["seq"] if len(found) == wanted.limit and found[-1]["seq"] > 1 else None
        return AuditPageResponse(entries=entries, next=more)

    def record_call(self, call: OperationCall, outcome: object) -> None:
        """Record a finished operation in its form of entry (L{AuditMode}).

        @param outcome: the operation's result, or the exception that it raised.
        """
        kind = call.operation.audit_mode
        if kind is AuditMode.NONE:
            return
        entry = make_audit_entry(call, outcome)
        if kind is AuditMode.SUMMED:
            self.log.record_summed(entry, entry.detail.get("length", 1))
        else:
            self.log.record_entry(entry)

    def record_typing(self, caller: Identity, address: str, session_id: str, length: int) -> None:
        """Record characters that were typed over a WebSocket.

        @param address: the caller's address.
        @param length: number of typed characters.
        """
        entry = AuditEntry(
            action="input",
            actor=caller.username,
            method=caller.method,
            address=address,
            target=session_id,
            detail={"source": "websocket"},
        )
        self.log.record_summed(entry, length)


def make_audit_entry(call: OperationCall, outcome: object) -> AuditEntry:
    """Return the audit entry of an operation.

    The entry holds the names of the body's fields, but never their values.
    """
    detail: dict[str, Any] = {}
    if call.body is not None:
        detail["fields"] = sorted(call.body.model_fields_set)
        text = getattr(call.body, "input", None)
        if isinstance(text, str):
            detail = {"source": "http", "length": len(text)}
    if call.caller.token is not None:
        detail["token"] = call.caller.token
    if isinstance(outcome, ServiceError):
        detail["error"] = outcome.code.value
    elif isinstance(outcome, BaseException):
        detail["error"] = type(outcome).__name__
    return AuditEntry(
        action=f"{call.operation.method} {call.operation.path}",
        actor=call.caller.username,
        method=call.caller.method,
        address=call.address,
        target=" ".join(call.path.values()) or find_created_name(outcome),
        detail=detail,
    )


def find_created_name(outcome: object) -> str:
    """Return the name or id of the object that an operation created, as given in its response."""
    content = outcome.content if isinstance(outcome, RawReply) else outcome
    if isinstance(content, BaseModel):
        content = content.model_dump(by_alias=True)
    if not isinstance(content, Mapping):
        return ""
    if isinstance(content.get("sessionId"), str):
        return str(content["sessionId"])
    for name in ("session", "record", "user", "job", "webview"):
        inner = content.get(name)
        if isinstance(inner, Mapping):
            return str(inner.get("id") or inner.get("username") or "")
    return str(content.get("id") or "")
