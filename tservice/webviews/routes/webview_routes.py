"""Routes of C{/api/webviews} and C{/webview/<capability>/...}."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, StringConstraints

from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.event_payloads import EmptyPayload
from tservice.core.values.text import LINE
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall
from tservice.http.validation.models import RequestBody
from tservice.webviews.model import ICON_LENGTH, NAME_LENGTH, URL_LENGTH
from tservice.webviews.service import WebViewService
from tservice.webviews.webview_responses import (
    OpenedWebView,
    ProbeAnswer,
    WebViewEnvelope,
    WebViewsAnswer,
    make_web_view_response,
)


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


_WEB_TABS = OperationFields(
    tag="Web tabs",
    access=AccessRule.USER,
    scope_reason="A web tab is for people, and sends requests from the service's network.",
)


class WebViewRoutes:
    """Routes of web tabs; the rules are in L{WebViewService}."""

    def __init__(self, views: WebViewService) -> None:
        self._views = views

    @operation("GET", "/api/webviews", _WEB_TABS)
    async def list_views(self, call: OperationCall) -> WebViewsAnswer:
        """List your web tabs."""
        views = self._views.list_views(call.caller)
        return WebViewsAnswer(webviews=[make_web_view_response(view) for view in views])

    @operation("POST", "/api/webviews", _WEB_TABS, errors=(ErrorCode.OPERATION_FAILED,))
    async def create_view(self, call: OperationCall, body: WebViewBody) -> WebViewEnvelope:
        """Create a web tab."""
        given = body.model_dump()
        return WebViewEnvelope(
            webview=make_web_view_response(self._views.create_view(given, call.caller))
        )

    @operation("PATCH", "/api/webviews/{id}", _WEB_TABS, errors=(ErrorCode.NOT_FOUND,))
    async def update_view(self, call: OperationCall, body: WebViewPatch) -> WebViewEnvelope:
        """Change a web tab."""
        given = {
            name: value
            for name, value in body.model_dump(exclude_unset=True).items()
            if value is not None or name == "icon"
        }
        view = self._views.update_view(call.id, given, call.caller)
        return WebViewEnvelope(webview=make_web_view_response(view))

    @operation("DELETE", "/api/webviews/{id}", _WEB_TABS, errors=(ErrorCode.NOT_FOUND,))
    async def delete_view(self, call: OperationCall) -> EmptyPayload:
        """Remove a web tab."""
        self._views.delete_view(call.id, call.caller)
        return EmptyPayload()

    @operation(
        "POST",
        "/api/webviews/probe",
        _WEB_TABS,
        errors=(ErrorCode.INVALID_INPUT, ErrorCode.RATE_LIMITED),
    )
    async def probe_url(self, call: OperationCall, body: ProbeBody) -> ProbeAnswer:
        """Check that a server responds at an address."""
        return await self._views.probe_url(body.url, call.caller)

    @operation(
        "POST",
        "/api/webviews/{id}/open",
        _WEB_TABS,
        scope_reason="Its response contains a token that opens the tab for anyone who has it.",
        errors=(ErrorCode.INVALID_INPUT, ErrorCode.NOT_FOUND),
    )
    async def open_view(self, call: OperationCall) -> OpenedWebView:
        """Get the addresses at which a web tab can be viewed."""
        request: Any = call.request
        visit = request.visit
        view, path, isolated = self._views.open_view(call.id, visit.host, call.caller)
        return OpenedWebView(
            webview=make_web_view_response(view),
            embed_url=f"{visit.base}{path}",
            isolated_url=isolated,
        )
