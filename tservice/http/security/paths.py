"""Rules for request paths, which give each path one canonical spelling for routing."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_to_bytes

_PLAIN = re.compile(rb"[A-Za-z0-9/._~!$&'()*+,;=:@-]*\Z")
_UNESCAPED = "!$&'()*+,;=:@~"
_VERSIONED = "/api/v1"


def canonical_path(path: bytes, base: str = "") -> str | None:
    """Return the path in its canonical spelling, which the routes use.

    An escaped slash stays escaped, so it never becomes a separator.  C{/api/v1} becomes C{/api}
    (protocol-versioning) and the C{base} path of a reverse proxy is removed.

    @return: C{None} for a path that can match no route: not UTF-8, with a NUL, or with no or two
        leading slashes.
    """
    text = path.decode("ascii") if _PLAIN.match(path) else _normalize_escapes(path)
    if text is None or not text.startswith("/") or text.startswith("//"):
        return None
    if base and (text == base or text.startswith(base + "/")):
        text = text[len(base) :] or "/"
    if text == _VERSIONED or text.startswith(_VERSIONED + "/"):
        text = "/api" + text[len(_VERSIONED) :]
    return text


def _normalize_escapes(path: bytes) -> str | None:
    try:
        segments = [unquote_to_bytes(part).decode() for part in path.split(b"/")]
    except UnicodeDecodeError:
        return None
    if any("\0" in segment for segment in segments):
        return None
    return "/".join(quote(segment, safe=_UNESCAPED) for segment in segments)


def decode_path_parameter(text: str) -> str | None:
    """Return the decoded value of a path parameter; C{None} if it is C{.}, C{..} or has a slash."""
    value = unquote_to_bytes(text).decode() if "%" in text else text
    return None if "/" in value or value in (".", "..") else value


def is_api_path(path: str | None) -> bool:
    """Return whether the path belongs to the API, whose responses have envelopes."""
    return path is not None and (path == "/api" or path.startswith("/api/"))


def is_operation_path(path: str | None) -> bool:
    """Return whether the path is for programs that call operations, by the API or by MCP."""
    return is_api_path(path) or path == "/mcp"


def is_program_path(path: str | None) -> bool:
    """Return whether only programs request the path, never a person by the address bar
    (protocol-auth).
    """
    if path is None:
        return False
    return is_operation_path(path) or path.startswith(("/ws/", "/q/", "/webview/"))


def clean_path(path: bytes) -> str:
    """Return the path as requested, cleaned for an error text."""
    return path.decode("ascii", "backslashreplace")
