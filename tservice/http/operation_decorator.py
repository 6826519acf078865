"""Declare operations on the methods that handle them.

A class of routes declares each operation beside its handler::

    _JOBS = OperationFields(tag="Cron", access=AccessRule.USER, scope=Scope.CRON)

    class CronRoutes:
        @operation("PUT", "/api/cron/jobs/{id}/enabled", _JOBS, errors=(ErrorCode.NOT_FOUND,))
        async def enable_job(self, call: OperationCall, body: JobEnabledBody) -> JobEnvelope:
            '''Enable or disable a job.'''

The signature gives the models: the parameters C{body} and C{query}, and the type of the result.
The docstring's first paragraph is the summary in the OpenAPI document.  L{collect_operations} makes
the records of the operations table.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from types import FunctionType
from typing import Any, TypedDict, TypeVar, Unpack, cast, get_args

from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import Scope
from tservice.http.operations import (
    AccessRule,
    AuditMode,
    Handler,
    Operation,
    OperationCall,
    RawReply,
    ResponseStyle,
)
from tservice.http.validation.body_limits import SocketLimits

DECLARED = "declared_operations"
"""Attribute of a handler that holds the fields of its operations."""

_WITHOUT_MODEL = (ResponseStyle.RAW, ResponseStyle.STREAM, ResponseStyle.WEBSOCKET)
_PARAMETERS = {"query", "body"}

HandlerMethod = TypeVar("HandlerMethod", bound=Callable[..., Awaitable[object]])


class OperationFields(TypedDict, total=False):
    """Fields of an L{Operation} that its handler's signature does not give.

    A constant of this type holds what several operations share.  C{response_model} is for handlers
    that return a L{RawReply}.  C{allowed} receives the routes object.
    """

    tag: str
    access: AccessRule
    scope: Scope | None
    scope_reason: str
    errors: tuple[ErrorCode, ...]
    response_model: Any
    style: ResponseStyle
    optional_body: bool
    body_limit: int
    media_type: str
    status: int
    audit: AuditMode
    ends_access: bool
    streams: bool
    waits: bool
    proxies_calls: bool
    creates_session: bool
    for_agent_itself: bool
    large: Callable[[Any], bool]
    any_body: bool
    socket: SocketLimits
    closes_foreign: bool
    deprecated: str
    allowed: Callable[[Any], None]


_NOTHING_SHARED = OperationFields()


def operation(
    method: str,
    path: str,
    shared: OperationFields = _NOTHING_SHARED,
    /,
    **fields: Unpack[OperationFields],
) -> Callable[[HandlerMethod], HandlerMethod]:
    """Declare that the decorated method handles an operation.  A method may handle several.

    @param method: see L{Operation}, as for C{path}.
    @param shared: fields that C{fields} override.  Only C{errors} add up.
    """
    merged: dict[str, Any] = {**shared, **fields, "method": method, "path": path}
    merged["errors"] = (*shared.get("errors", ()), *fields.get("errors", ()))

    def declare(handler: HandlerMethod) -> HandlerMethod:
        attributes = vars(handler)
        attributes[DECLARED] = (merged, *attributes.get(DECLARED, ()))
        return handler

    return declare


def collect_operations(routes: object) -> list[Operation]:
    """Return the operations that the class of C{routes} declares, in the order of its methods.

    @raise TypeError: a handler's signature does not give the models of its operation, or has other
        parameters.
    """
    return [
        _bind_operation(routes, handler, fields)
        for handler in vars(type(routes)).values()
        for fields in getattr(handler, DECLARED, ())
    ]


def _bind_operation(routes: object, handler: FunctionType, fields: Mapping[str, Any]) -> Operation:
    hints = _resolve_annotations(handler)
    models = {name: hints[name] for name in hints if name not in ("call", "return")}
    if not models.keys() <= _PARAMETERS:
        raise TypeError(f"{handler.__qualname__}: only call, query and body can be parameters")
    given: dict[str, Any] = {**fields, **models}
    if fields.get("style") not in _WITHOUT_MODEL and "response_model" not in fields:
        given["response_model"] = _find_response_model(handler, hints)
    if "allowed" in fields:
        given["allowed"] = partial(fields["allowed"], routes)
    summary = " ".join((handler.__doc__ or "").split("\n\n")[0].split()).removesuffix(".")
    method = handler.__get__(routes)
    return Operation(handler=_pass_models(method, frozenset(models)), summary=summary, **given)


def _resolve_annotations(handler: FunctionType) -> Mapping[str, Any]:
    """Return the types in a signature.  A name is looked up, because evaluation takes longer."""
    known = vars(sys.modules[handler.__module__])
    names = handler.__annotations__
    found = {name: known[text] for name, text in names.items() if text in known}
    return found if len(found) == len(names) else inspect.get_annotations(handler, eval_str=True)


def _find_response_model(handler: FunctionType, hints: Mapping[str, Any]) -> Any:
    found = hints.get("return")
    if found in (None, object, Any, RawReply) or RawReply in get_args(found):
        raise TypeError(f"{handler.__qualname__}: name the response, or give response_model")
    return found


def _pass_models(method: Callable[..., Awaitable[object]], names: frozenset[str]) -> Handler:
    """Return a function that calls C{method} with the models of a call that it takes."""
    if names == _PARAMETERS:
        return lambda call: method(call, query=call.query, body=call.body)
    if "body" in names:
        return lambda call: method(call, body=call.body)
    if "query" in names:
        return lambda call: method(call, query=call.query)
    return cast(Callable[[OperationCall], Awaitable[object]], method)
