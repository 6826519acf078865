"""Detection of browsers, both when a cookie is issued and when it is presented."""

from __future__ import annotations

from tservice.core.callers.authentication import AuthenticationRequest

_BROWSER_HEADERS = (
    "accept-language",
    "origin",
    "referer",
    "sec-ch-ua",
    "sec-fetch-dest",
    "sec-fetch-mode",
    "sec-fetch-site",
    "upgrade-insecure-requests",
)
"""Headers by which a browser is recognized.

Each browser sends several of them, but over plain HTTP none sends all.
"""


def is_from_browser(visit: AuthenticationRequest) -> bool:
    """Return whether a browser may have sent the request; true in cases of doubt.

    No page can make its browser omit all of these headers, so no page obtains a cookie that needs
    no page key.
    """
    if visit.key is not None or any(visit.header(name) is not None for name in _BROWSER_HEADERS):
        return True
    agent, accept = visit.header("user-agent") or "", visit.header("accept") or ""
    return agent.startswith("Mozilla/") or "text/html" in accept.lower()


def is_from_page(visit: AuthenticationRequest) -> bool:
    """Return whether a browser sent the request with a cookie for a page.

    Programs with a cookie may send C{Origin} too, as WebSocket libraries do by default.  A page can
    choose C{Accept-Language}, but cannot omit it.
    """
    theirs = ("accept-language", "sec-fetch-site")
    if visit.key is not None or any(visit.header(name) is not None for name in theirs):
        return True
    return (visit.header("user-agent") or "").startswith("Mozilla/")
