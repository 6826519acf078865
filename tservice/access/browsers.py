"""What tells a browser from a program, when a cookie is made."""

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
