"""Wrapping of handlers' results and errors in envelopes (protocol-envelope, protocol-errors)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

from tservice.core.kernel.errors import HTTP_STATUS, ErrorCode, ServiceError
from tservice.http.operations import RawReply, ResponseStyle

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
NO_STORE = {"Cache-Control": "no-store"}
ASK_AGAIN = {"Cache-Control": "no-cache"}


@frozen(kw_only=True)
class HttpResponse:
    """Complete response, ready to be written.

    @ivar headers: headers in addition to the content's type and length.
    @ivar public: true for files of the browser UI that any caller may read without signing in.
    """

    status: int
    content: bytes = b""
    content_type: str = JSON
    headers: Mapping[str, str] = field(factory=dict)
    public: bool = False


class HttpRefusal(Exception):
    """Exception that ends a request with C{response}, which gets no envelope (protocol-errors)."""

    def __init__(self, response: HttpResponse) -> None:
        super().__init__(response.status)
        self.response = response


def make_bare_refusal(
    status: int, text: str, headers: Mapping[str, str] | None = None
) -> HttpRefusal:
    """Return a refusal whose response is plain text without an envelope.

    @param headers: additional headers, for example C{Retry-After} or C{WWW-Authenticate}.
    """
    return HttpRefusal(
        HttpResponse(
            status=status,
            content=text.encode(),
            content_type=TEXT,
            headers={**NO_STORE, **(headers or {})},
        )
    )


def make_success_response(payload: Any, style: ResponseStyle) -> HttpResponse:
    """Return the response for a handler's result, in an envelope unless C{style} has none.

    @param payload: JSON-able data, models (dumped by their camelCase names), a L{RawReply}, or
        C{None} for C{{}}.
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
    """Return C{payload} as JSON; C{None} becomes C{{}}, and C{NaN} becomes C{null}.

    Half a surrogate pair becomes C{?}; an agent's text that was cut may contain one.
    """
    if payload is None:
        return b"{}"
    try:
        return to_json(payload, by_alias=True, inf_nan_mode="null", indent=indent)
    except PydanticSerializationError:
        whole = _replace_lone_surrogates(payload)
        return to_json(whole, by_alias=True, inf_nan_mode="null", indent=indent)


def _replace_lone_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, BaseModel):
        value = value.model_dump(by_alias=True)
    if isinstance(value, Mapping):
        return {
            _replace_lone_surrogates(key): _replace_lone_surrogates(item)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_replace_lone_surrogates(item) for item in value]
    return value


def make_failure_response(error: ServiceError, status: int | None = None) -> HttpResponse:
    """Return the response for C{error}, in an error envelope.

    @param status: HTTP status to use instead of the code's own, such as 405.
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


def make_wrong_method_response(method: str, shown: str, allowed: str) -> HttpResponse:
    """Return the 405 for a wrong method on a known route (protocol-requests).

    @param shown: the path as requested, cleaned for display.
    @param allowed: the methods of the route, for the C{Allow} header.
    """
    error = ServiceError(ErrorCode.INVALID_INPUT, f"method: {method} is not allowed on {shown}")
    refused = make_failure_response(error, 405)
    return HttpResponse(
        status=405, content=refused.content, headers={**refused.headers, "Allow": allowed}
    )


def make_no_route_response(method: str, shown: str) -> HttpResponse:
    """Return the 404 for an unknown C{/api} route (protocol-requests).

    @param shown: the path as requested, cleaned for display.
    """
    return make_failure_response(
        ServiceError(ErrorCode.NOT_FOUND, f"Route {method} {shown} not found")
    )


NO_PAGE = HttpResponse(status=404, content=b"Not Found", content_type=TEXT)
"""Response for an unknown path outside C{/api} (protocol-requests)."""
