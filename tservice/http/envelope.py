"""Wrapping of handlers' results and errors in envelopes (protocol-envelope, protocol-errors)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

from tservice.core.errors import HTTP_STATUS, ErrorCode, ServiceError
from tservice.http.operations import RawReply, ResponseStyle

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
NO_STORE = {"Cache-Control": "no-store"}


@frozen(kw_only=True)
class HttpResponse:
    """Complete response, ready to be written.

    @ivar headers: headers in addition to the content's type and length.
    @ivar public: true for files of the browser UI that any caller may have.
    """

    status: int
    content: bytes = b""
    content_type: str = JSON
    headers: Mapping[str, str] = field(factory=dict)
    public: bool = False


class HttpRefusal(Exception):
    """Ends a request with C{response} unchanged, never in an envelope (protocol-errors)."""

    def __init__(self, response: HttpResponse) -> None:
        super().__init__(response.status)
        self.response = response


def bare_refusal(status: int, text: str, headers: Mapping[str, str] | None = None) -> HttpRefusal:
    """Return a refusal in bare text.

    @param headers: for example C{Retry-After} or C{WWW-Authenticate}.
    """
    return HttpRefusal(
        HttpResponse(
            status=status,
            content=text.encode(),
            content_type=TEXT,
            headers={**NO_STORE, **(headers or {})},
        )
    )


def success_response(payload: Any, style: ResponseStyle) -> HttpResponse:
    """Return the response for a handler's result, wrapped unless its operation is exempt.

    @param payload: JSON-able data, models (dumped by their camelCase names), C{None} for C{{}}, or
        a L{RawReply}.
    """
    reply = payload if isinstance(payload, RawReply) else RawReply(content=payload)
    if style is ResponseStyle.RAW:
        return _raw_response(reply)
    return HttpResponse(
        status=reply.status,
        content=b'{"success":true,"data":' + dump_json(reply.content) + b"}",
        headers={**NO_STORE, **reply.headers},
    )


def _raw_response(reply: RawReply) -> HttpResponse:
    content = reply.content
    if isinstance(content, str):
        content = content.encode()
    if not isinstance(content, bytes):
        content = dump_json(content)
    return HttpResponse(
        status=reply.status,
        content=content,
        content_type=reply.content_type,
        headers=reply.headers,
    )


def dump_json(payload: Any, indent: int | None = None) -> bytes:
    """Return the JSON of a payload; C{None} is the empty object, C{NaN} is C{null}.

    Half a surrogate pair, as in an agent's text that was cut at any position, becomes C{?}.
    """
    if payload is None:
        return b"{}"
    try:
        return to_json(payload, by_alias=True, inf_nan_mode="null", indent=indent)
    except PydanticSerializationError:
        whole = _without_halves(payload)
        return to_json(whole, by_alias=True, inf_nan_mode="null", indent=indent)


def _without_halves(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, BaseModel):
        value = value.model_dump(by_alias=True)
    if isinstance(value, Mapping):
        return {_without_halves(key): _without_halves(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_halves(item) for item in value]
    return value


def failure_response(error: ServiceError, status: int | None = None) -> HttpResponse:
    """Return the error envelope of C{error}.

    @param status: overrides the code's status (405).
    """
    body = {"success": False, "error": error.message, "errorCode": error.code.value}
    headers = dict(NO_STORE)
    if error.code is ErrorCode.RATE_LIMITED:
        headers["Retry-After"] = "1"
    return HttpResponse(
        status=HTTP_STATUS[error.code] if status is None else status,
        content=dump_json(body),
        headers=headers,
    )


def wrong_method(method: str, shown: str, allowed: str) -> HttpResponse:
    """Return the 405 for a wrong method on a known route (protocol-requests)."""
    error = ServiceError(ErrorCode.INVALID_INPUT, f"method: {method} is not allowed on {shown}")
    refused = failure_response(error, 405)
    return HttpResponse(
        status=405, content=refused.content, headers={**refused.headers, "Allow": allowed}
    )


def no_route(method: str, shown: str) -> HttpResponse:
    """Return the 404 for an unknown C{/api} route, with the path as requested
    (protocol-requests).
    """
    return failure_response(ServiceError(ErrorCode.NOT_FOUND, f"Route {method} {shown} not found"))


NO_PAGE = HttpResponse(status=404, content=b"Not Found", content_type=TEXT)
"""Response for an unknown path outside C{/api} (protocol-requests)."""
