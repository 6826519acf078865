"""Script that is inserted into a web tab's page and runs before the page's own scripts
(protocol-webtabs).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

DOCUMENTS = ("document", "iframe", "frame")
"""Values of C{Sec-Fetch-Dest} that request a page."""

_SCRIPT = Path(__file__).with_name("inside.js").read_text().strip().rstrip(";")
_TOP_BYTES = 64 * 1024
"""Number of bytes in which the beginning of a page is searched."""
_PAGE_BEGINNING = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<!--.*?-->\s*)*"
    rb"(<!doctype[^>]*>)?(?:\s*<!--.*?-->)*\s*(<html\b[^>]*>)?\s*(<head\b[^>]*>)?",
    re.IGNORECASE | re.DOTALL,
)


def insert_script(
    page: bytes, prefix: str, origin: str, wanted: str | None, cookies: str = ""
) -> bytes:
    """Return a page with the script inserted before all other scripts.

    @param prefix: path prefix of the token in the service.
    @param origin: origin of the target.
    @param wanted: value of C{Sec-Fetch-Dest}. Without that header, content that begins like a page
        counts as one.
    @param cookies: cookies of the target that scripts may read.
    """
    if wanted is not None and wanted not in DOCUMENTS:
        return page
    top = _PAGE_BEGINNING.match(page, 0, _TOP_BYTES)
    if top is None or (wanted is None and not any(top.groups())):
        return page
    words = json.dumps([prefix, origin, cookies]).replace("<", "\\u003c")
    script = f"<script>\n({_SCRIPT}\n)(...{words})</script>"
    return page[: top.end()] + script.encode() + page[top.end() :]
