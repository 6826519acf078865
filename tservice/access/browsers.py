"""What tells a browser from a program, when a cookie is made and when it is shown."""

from __future__ import annotations

from tservice.core.authentication import Visit

_THEIRS = (
    "accept-language",
    "origin",
    "referer",
    "sec-ch-ua",
    "sec-fetch-dest",
    "sec-fetch-mode",
    "sec-fetch-site",
    "upgrade-insecure-requests",
)
"""Each browser sends several of these; over plain HTTP none sends all."""


def from_browser(visit: Visit) -> bool:
    """Whether a browser may have sent this; in doubt it has.

    No page can have its browser leave out all of it, so none comes to a cookie that is a program's.
    """
    if visit.key is not None or any(visit.header(name) is not None for name in _THEIRS):
        return True
    agent, accept = visit.header("user-agent") or "", visit.header("accept") or ""
    return agent.startswith("Mozilla/") or "text/html" in accept.lower()


def from_page(visit: Visit) -> bool:
    """Whether a page's browser sent this with a cookie.

    Programs that have a cookie say C{Origin} as well, as libraries for WebSockets do by themselves.
    A page can choose C{Accept-Language}, and cannot leave it out.
    """
    theirs = ("accept-language", "sec-fetch-site")
    if visit.key is not None or any(visit.header(name) is not None for name in theirs):
        return True
    return (visit.header("user-agent") or "").startswith("Mozilla/")
