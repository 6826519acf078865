"""Response models of web tabs (protocol-webtabs)."""

from __future__ import annotations

from tservice.core.values.payload import Payload, omit_if_none
from tservice.webviews.model import WebView


class WebViewAnswer(Payload):
    """Web tab; times in Unix milliseconds."""

    id: str
    name: str
    url: str
    icon: str | None = omit_if_none()
    owner: str
    created_at: int
    last_opened_at: int | None


class WebViewEnvelope(Payload):
    """Response with a web tab."""

    webview: WebViewAnswer


class WebViewsAnswer(Payload):
    """Web tabs of the caller, oldest first."""

    webviews: list[WebViewAnswer]


class ProbeAnswer(Payload):
    """Result of a probe: true if a server responds at the address."""

    ok: bool
    status: int | None = omit_if_none()
    error: str | None = omit_if_none()


class OpenedWebView(Payload):
    """Addresses at which a web tab can be viewed.

    C{isolated_url}: the same on a separate listener, if there is one. The browser has to find out
    if it can reach that listener.
    """

    webview: WebViewAnswer
    embed_url: str
    isolated_url: str | None = omit_if_none()


def make_web_view_response(view: WebView) -> WebViewAnswer:
    """Convert a web tab to the response model."""
    return WebViewAnswer.model_validate(view, from_attributes=True)
