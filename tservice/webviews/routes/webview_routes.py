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
from tservice.webviews.routes.capability_routes import CapabilityRoutes
from tservice.webviews.service import WebViewService
from tservice.webviews.webview_responses import (
    OpenedWebView,
    ProbeAnswer,
    WebViewEnvelope,
    WebViewsAnswer,
    to_response,
)

UPLOAD_BYTES = 1024**4
"""Maximum size in bytes of the body of one relayed request."""


def _require_text(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=NAME_LENGTH, pattern=f"^{LINE}$"),
    AfterValidator(_require_text),
]
Url = Annotated[str, StringConstraints(min_length=1, max_length=URL_LENGTH)]
Icon = Annotated[str, StringConstraints(max_length=ICON_LENGTH, pattern=f"^{LINE}$")]


class WebViewBody(RequestBody):
    """New web tab."""

    name: Name
    url: Url
    icon: Icon | None = None


class WebViewPatch(RequestBody):
    """Changes to a web tab."""

    name: Name | None = None
    url: Url | None = None
    icon: Icon | None = None


class ProbeBody(RequestBody):
    """Address to probe."""

    url: Url


class WebViewRoutes:
    """Routes of web tabs; the rules are in L{WebViewService}."""

    def __init__(self, views: WebViewService) -> None:
        self._views = views

    def operations(self) -> list[Operation]:
        """Return the operations of these routes."""
        refused, one = (ErrorCode.INVALID_INPUT,), "/api/webviews/{id}"
        return [
            _user_operation("GET", "/api/webviews", self.list_views, "List your web tabs",
                            WebViewsAnswer),
            _user_operation("POST", "/api/webviews", self.create_view, "Create a web tab",
                            WebViewEnvelope,
                  body=WebViewBody, errors=(ErrorCode.OPERATION_FAILED,)),
            _user_operation("POST", "/api/webviews/probe", self.probe_url,
                "Check that a server responds at an address",
                  ProbeAnswer, body=ProbeBody,
                  errors=(ErrorCode.INVALID_INPUT, ErrorCode.RATE_LIMITED)),
            _user_operation("PATCH", one, self.update_view, "Change a web tab", WebViewEnvelope,
                  body=WebViewPatch, errors=(ErrorCode.NOT_FOUND,)),
            _user_operation("DELETE", one, self.delete_view, "Remove a web tab", EmptyPayload,
                  errors=(ErrorCode.NOT_FOUND,)),
            _user_operation("POST", f"{one}/open", self.open_view,
                "Get the addresses at which a web tab can be viewed",
                  OpenedWebView, errors=(*refused, ErrorCode.NOT_FOUND)),
        ]  # fmt: skip

    async def list_views(self, call: OperationCall) -> WebViewsAnswer:
        """List the caller's web tabs."""
        views = self._views.list_views(call.identity)
        return WebViewsAnswer(webviews=[to_response(view) for view in views])

    async def create_view(self, call: OperationCall) -> WebViewEnvelope:
        """Create a web tab."""
        given = call.body.model_dump()
        return WebViewEnvelope(webview=to_response(self._views.create_view(given, call.identity)))

    async def update_view(self, call: OperationCall) -> WebViewEnvelope:
        """Change the fields of a web tab."""
        given = {
            name: value
            for name, value in call.body.model_dump(exclude_unset=True).items()
            if value is not None or name == "icon"
        }
        view = self._views.update_view(call.id, given, call.identity)
        return WebViewEnvelope(webview=to_response(view))

    async def delete_view(self, call: OperationCall) -> EmptyPayload:
        """Delete a web tab."""
        self._views.delete_view(call.id, call.identity)
        return EmptyPayload()

    async def probe_url(self, call: OperationCall) -> ProbeAnswer:
        """Check that a server responds at a URL."""
        return await self._views.probe_url(call.body.url, call.identity)

    async def open_view(self, call: OperationCall) -> OpenedWebView:
        """Create a token for a web tab, and return the URLs with it."""
        request: Any = call.request
        visit = request.visit
        view, path, isolated = self._views.open_view(call.id, visit.host, call.identity)
        return OpenedWebView(
            webview=to_response(view),
            embed_url=f"{visit.base}{path}",
            isolated_url=isolated,
        )


def _user_operation(
    method: str, path: str, handler: Any, summary: str, answer: Any, **more: Any
) -> Operation:
    given = {"access": AccessRule.USER, "scope": None, "tag": "Web tabs", **more}
    return Operation(
        method=method, path=path, handler=handler, summary=summary, response_model=answer, **given
    )


def capability_operation(entrance: CapabilityRoutes) -> Operation:
    """Return the operation for requests whose URL contains a token."""
    return Operation(
        method="ANY",
        path="/webview/{capability}/{rest:path}",
        access=AccessRule.CAPABILITY,
        scope=None,
        style=ResponseStyle.STREAM,
        audit=AuditMode.NONE,
        handler=entrance.handle_request,
        summary="Relay a request to the target of a web tab",
        tag="Web tabs",
        media_type="*/*",
        streams=True,
        any_body=True,
        body_limit=UPLOAD_BYTES,
        errors=(ErrorCode.INVALID_INPUT, ErrorCode.FORBIDDEN),
    )
