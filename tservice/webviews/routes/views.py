"""Routes of C{/api/webviews} and C{/webview/<capability>/...}."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, StringConstraints

from tservice.core.errors import ErrorCode
from tservice.core.event_payloads import EmptyPayload
from tservice.core.text import LINE
from tservice.http.models import RequestBody
from tservice.http.operations import AccessRule, AuditMode, Operation, OperationCall, ResponseStyle
from tservice.webviews.model import ICON_LENGTH, NAME_LENGTH, URL_LENGTH
from tservice.webviews.routes.entrance import Entrance
from tservice.webviews.service import WebViews
from tservice.webviews.shown import (
    OneWebView,
    OpenedWebView,
    ProbeAnswer,
    WebViewsAnswer,
    webview_answer,
)

UPLOAD_BYTES = 1024**4
"""Largest body of one request, which is only forwarded."""


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=NAME_LENGTH, pattern=f"^{LINE}$"),
    AfterValidator(_said),
]
Url = Annotated[str, StringConstraints(min_length=1, max_length=URL_LENGTH)]
Icon = Annotated[str, StringConstraints(max_length=ICON_LENGTH, pattern=f"^{LINE}$")]


class WebViewBody(RequestBody):
    """A new web tab."""

    name: Name
    url: Url
    icon: Icon | None = None


class WebViewPatch(RequestBody):
    """Any of its fields."""

    name: Name | None = None
    url: Url | None = None
    icon: Icon | None = None


class ProbeBody(RequestBody):
    """Where to look."""

    url: Url


class WebViewRoutes:
    """Routes of web tabs; the rules are in L{WebViews}."""

    def __init__(self, views: WebViews) -> None:
        self._views = views

    def operations(self) -> list[Operation]:
        """Return the operations of the routes."""
        refused, one = (ErrorCode.INVALID_INPUT,), "/api/webviews/{id}"
        return [
            _mine("GET", "/api/webviews", self.read, "The caller's web tabs", WebViewsAnswer),
            _mine("POST", "/api/webviews", self.create, "Keep a web tab", OneWebView,
                  body=WebViewBody, errors=(ErrorCode.OPERATION_FAILED,)),
            _mine("POST", "/api/webviews/probe", self.probe, "Whether something answers there",
                  ProbeAnswer, body=ProbeBody,
                  errors=(ErrorCode.INVALID_INPUT, ErrorCode.RATE_LIMITED)),
            _mine("PATCH", one, self.update, "Change a web tab", OneWebView,
                  body=WebViewPatch, errors=(ErrorCode.NOT_FOUND,)),
            _mine("DELETE", one, self.delete, "Forget a web tab", EmptyPayload,
                  errors=(ErrorCode.NOT_FOUND,)),
            _mine("POST", f"{one}/open", self.open, "Where a web tab is to be seen",
                  OpenedWebView, errors=(*refused, ErrorCode.NOT_FOUND)),
        ]  # fmt: skip

    async def read(self, call: OperationCall) -> WebViewsAnswer:
        """List the caller's web tabs."""
        views = self._views.list(call.identity)
        return WebViewsAnswer(webviews=[webview_answer(view) for view in views])

    async def create(self, call: OperationCall) -> OneWebView:
        """Create a web tab."""
        given = call.body.model_dump()
        return OneWebView(webview=webview_answer(self._views.create(given, call.identity)))

    async def update(self, call: OperationCall) -> OneWebView:
        """Change the fields of a web tab."""
        given = {
            name: value
            for name, value in call.body.model_dump(exclude_unset=True).items()
            if value is not None or name == "icon"
        }
        view = self._views.update(call.id, given, call.identity)
        return OneWebView(webview=webview_answer(view))

    async def delete(self, call: OperationCall) -> EmptyPayload:
        """Delete a web tab."""
        self._views.delete(call.id, call.identity)
        return EmptyPayload()

    async def probe(self, call: OperationCall) -> ProbeAnswer:
        """Check whether a server answers at an address."""
        return await self._views.probe(call.body.url, call.identity)

    async def open(self, call: OperationCall) -> OpenedWebView:
        """Open a web tab with a new token."""
        request: Any = call.request
        visit = request.visit
        view, path, isolated = self._views.open(call.id, visit.host, call.identity)
        return OpenedWebView(
            webview=webview_answer(view),
            embed_url=f"{visit.base}{path}",
            isolated_url=isolated,
        )


def _mine(
    method: str, path: str, handler: Any, summary: str, answer: Any, **more: Any
) -> Operation:
    given = {"access": AccessRule.USER, "scope": None, "tag": "Web tabs", **more}
    return Operation(
        method=method, path=path, handler=handler, summary=summary, response_model=answer, **given
    )


def entrance_operation(entrance: Entrance) -> Operation:
    """Return the operation of requests with a token."""
    return Operation(
        method="ANY",
        path="/webview/{capability}/{rest:path}",
        access=AccessRule.CAPABILITY,
        scope=None,
        style=ResponseStyle.STREAM,
        audit=AuditMode.NONE,
        handler=entrance.enter,
        summary="The target of a web tab",
        tag="Web tabs",
        media_type="*/*",
        streams=True,
        any_body=True,
        body_limit=UPLOAD_BYTES,
        errors=(ErrorCode.INVALID_INPUT, ErrorCode.FORBIDDEN),
    )
