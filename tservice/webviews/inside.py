"""What a page of a web tab is given before its own scripts run (protocol-webtabs; pure)."""

from __future__ import annotations

import json
import re
from pathlib import Path

DOCUMENTS = ("document", "iframe", "frame")
"""What a browser asks for when it wants a page (C{Sec-Fetch-Dest})."""

_SCRIPT = Path(__file__).with_name("inside.js").read_text().strip().rstrip(";")
_TOP_BYTES = 64 * 1024
"""Within so much of a page its beginning is looked for."""
_TOP = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<!--.*?-->\s*)*"
    rb"(<!doctype[^>]*>)?(?:\s*<!--.*?-->)*\s*(<html\b[^>]*>)?\s*(<head\b[^>]*>)?",
    re.IGNORECASE | re.DOTALL,
)


def given(page: bytes, prefix: str, origin: str, wanted: str | None, cookies: str = "") -> bytes:
    """A page with the script in front of all others.

    @param prefix: of the capability, in the service's paths.
    @param origin: the target's.
    @param wanted: C{Sec-Fetch-Dest}; without it, only what begins as a page does is one.
    @param cookies: of the target, that its scripts may read.
    """
    if wanted is not None and wanted not in DOCUMENTS:
        return page
    top = _TOP.match(page, 0, _TOP_BYTES)
    if top is None or (wanted is None and not any(top.groups())):
        return page
    words = json.dumps([prefix, origin, cookies]).replace("<", "\\u003c")
    script = f"<script>\n({_SCRIPT}\n)(...{words})</script>"
    return page[: top.end()] + script.encode() + page[top.end() :]
