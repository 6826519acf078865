"""Response models of web tabs (protocol-webtabs)."""

from __future__ import annotations

from tservice.core.payload import Payload, omit_if_none
from tservice.webviews.model import WebView


class WebViewAnswer(Payload):
    """A web tab; times in Unix milliseconds."""

    id: str
    name: str
    url: str
    icon: str | None = omit_if_none()
    owner: str
    created_at: int
    last_opened_at: int | None


class WebViewEnvelope(Payload):
    """A web tab that was made or changed."""

    webview: WebViewAnswer


class WebViewsAnswer(Payload):
    """The caller's web tabs, oldest first."""

    webviews: list[WebViewAnswer]


class ProbeAnswer(Payload):
    """Whether something answers at an address."""

    ok: bool
    status: int | None = omit_if_none()
    error: str | None = omit_if_none()


class OpenedWebView(Payload):
    """Where a web tab is to be seen.

    C{isolated_url}: the same on a listener of its own, if there is one; whether the browser
    reaches it is the browser's to find out.
    """

    webview: WebViewAnswer
    embed_url: str
    isolated_url: str | None = omit_if_none()


def to_response(view: WebView) -> WebViewAnswer:
    """Return the response for a web tab."""
    return WebViewAnswer.model_validate(view, from_attributes=True)
