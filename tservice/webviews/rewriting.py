"""Rewriting of headers and contents between a browser and a target (protocol-webtabs).

The target receives nothing of the service: no cookie, key, C{Authorization} header or address. Nor
can it affect the service's origin. Headers that apply to a whole origin are dropped, or confined to
the path of the token.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from urllib.parse import urljoin, urlsplit

Pairs = list[tuple[str, str]]

OWN_TARGET_PREFIX = "tsk_"
"""Prefix of the service's own tokens (protocol-tokens)."""

HOP_BY_HOP_HEADERS = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "http2-settings",
    }
)
"""Names of headers that apply to one connection only (RFC 9110, 7.6.1)."""

REWRITTEN = frozenset({"text/html", "text/css", "text/javascript", "application/javascript"})
"""Media types whose root-relative URLs are rewritten."""

_DROPPED_REQUEST_HEADERS = HOP_BY_HOP_HEADERS | {
    "host",
    "authorization",
    "content-length",
    "cookie",
    "expect",
    "forwarded",
    "origin",
    "referer",
    "via",
    "x-real-ip",
}
_DROPPED_REQUEST_PREFIXES = ("x-service-", "x-forwarded-", "sec-fetch-", "sec-websocket-", "cf-")

_DROPPED_RESPONSE_HEADERS = HOP_BY_HOP_HEADERS | {
    "accept-ch",
    "accept-ch-lifetime",
    "activate-storage-access",
    "alt-svc",
    "clear-site-data",
    "content-length",
    "content-security-policy",
    "content-security-policy-report-only",
    "critical-ch",
    "cross-origin-embedder-policy",
    "cross-origin-opener-policy",
    "cross-origin-resource-policy",
    "expect-ct",
    "link",
    "location",
    "nel",
    "observe-browsing-topics",
    "origin-agent-cluster",
    "permissions-policy",
    "public-key-pins",
    "refresh",
    "report-to",
    "reporting-endpoints",
    "secure-session-challenge",
    "secure-session-registration",
    "secure-session-skipped",
    "service-worker-allowed",
    "set-cookie",
    "set-cookie2",
    "set-login",
    "speculation-rules",
    "strict-transport-security",
    "use-as-dictionary",
    "www-authenticate",
    "x-frame-options",
}
"""Names of response headers that affect a whole origin, this connection, or the embedding frame."""
_DROPPED_RESPONSE_PREFIXES = ("access-control-", "attribution-reporting-", "x-service-", "sec-")

PIECE = 64 * 1024
"""Maximum number of bytes that are held and rewritten in one turn of the reactor.

At worst this takes some milliseconds, and the content grows tenfold.
"""

_ENDS = {"text/html": (b"<",), "text/css": (b"}", b";"), "text/javascript": (b"\n", b";")}
"""Characters after which content may be cut without splitting a URL, by media type."""

_ATTRIBUTE = re.compile(
    rb"""(<[a-z][^<>]*?\s(?:src|href|action|formaction|poster|data)\s*=\s*["']?)/(?!/)""",
    re.IGNORECASE,
)
_IMPORT = re.compile(rb"""(\b(?:from|import)\s{0,8}\(?\s{0,8}["'])/(?!/)""")
_SHEET = re.compile(rb"""(\burl\(\s{0,8}["']?|@import\s{1,8}["'])/(?!/)""", re.IGNORECASE)
_COOKIE_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def list_connection_headers(values: Iterable[str]) -> frozenset[str]:
    """Return the headers listed in C{Connection}, which apply to one connection only too.

    @param values: values of the C{Connection} headers.
    """
    return frozenset(word.strip().lower() for value in values for word in value.split(","))


def rewrite_request_headers(
    given: Pairs,
    *,
    origin: str,
    prefix: str,
    cookies: Collection[str],
    plain: bool,
    kept: str = "",
    apart: bool = False,
) -> Pairs:
    """Return the headers of the request to the target.

    @param given: headers from the browser.
    @param origin: origin of the target, which its own pages use.
    @param prefix: path prefix of the token in the service.
    @param cookies: names of the service's own cookies, which are removed.
    @param plain: true if the response may be rewritten, so that no compression is requested.
    @param kept: stored cookies of the target to add.
    @param apart: true if the request came to the separate origin. It has no sign-in, so an
        C{Authorization} header set by a script is meant for the target.
    """
    ended = list_connection_headers(value for name, value in given if name.lower() == "connection")
    passed = [
        (name, value)
        for name, value in given
        if name.lower() not in _DROPPED_REQUEST_HEADERS | ended
        and not name.lower().startswith(_DROPPED_REQUEST_PREFIXES)
    ]
    own = {piece.partition("=")[0].strip() for piece in kept.split(";")}
    sent = "; ".join(value for name, value in given if name.lower() == "cookie")
    if found := "; ".join(
        piece for piece in (kept, remove_cookies(sent, {*cookies, *own})) if piece
    ):
        passed.append(("Cookie", found))
    for name, value in given:
        lower = name.lower()
        if lower == "authorization" and apart and is_set_by_script(value):
            passed.append(("Authorization", value))
        elif lower == "origin":
            passed.append(("Origin", origin))
        elif lower == "referer" and (page := _referring_path(value, prefix)) is not None:
            passed.append(("Referer", f"{origin}{page}"))
    if plain:
        passed = [pair for pair in passed if pair[0].lower() != "accept-encoding"]
        passed.append(("Accept-Encoding", "identity"))
    return passed


def is_set_by_script(authorization: str) -> bool:
    """Return true if a script of the page set this C{Authorization} header.

    The alternatives are a browser's own sign-in and a client of the service.
    """
    scheme, _, word = authorization.strip().partition(" ")
    browsers = scheme.lower() in ("basic", "digest", "negotiate", "ntlm")
    return not browsers and not word.strip().startswith(OWN_TARGET_PREFIX)


def remove_cookies(cookie: str, names: Collection[str]) -> str:
    """Return the value of a C{Cookie} header without the cookies in C{names}."""
    pieces = [piece.strip() for piece in cookie.split(";")]
    return "; ".join(
        piece for piece in pieces if piece and piece.partition("=")[0].strip() not in names
    )


def rewrite_response_headers(
    given: Pairs, *, origin: str, asked: str, prefix: str, cookies: Collection[str]
) -> Pairs:
    """Return the headers of the response to the browser, without isolation headers and length.

    @param given: headers from the target.
    @param asked: URL requested from the target.
    """
    ended = list_connection_headers(value for name, value in given if name.lower() == "connection")
    passed = [
        (name, value)
        for name, value in given
        if name.lower() not in _DROPPED_RESPONSE_HEADERS | ended
        and not name.lower().startswith(_DROPPED_RESPONSE_PREFIXES)
    ]
    for name, value in given:
        lower = name.lower()
        if lower == "location":
            passed.append(("Location", rewrite_location(value, origin, asked, prefix)))
        elif lower == "set-cookie" and (kept := confine_cookie(value, prefix, cookies)):
            passed.append(("Set-Cookie", kept))
    return passed


def rewrite_location(location: str, origin: str, asked: str, prefix: str) -> str:
    """Return the URL of a redirect. A URL on the target's origin is moved below the prefix.

    @param asked: URL requested from the target, for relative redirects.
    """
    try:
        to = urljoin(asked, location)
        parts = urlsplit(to)
        same = urlsplit(origin)
        if (parts.scheme, parts.netloc.lower()) != (same.scheme, same.netloc):
            return to
    except ValueError:
        return prefix + "/"
    rest = f"?{parts.query}" if parts.query else ""
    tail = f"#{parts.fragment}" if parts.fragment else ""
    return f"{prefix}{parts.path or '/'}{rest}{tail}"


def confine_cookie(cookie: str, prefix: str, names: Collection[str]) -> str | None:
    """Return a C{Set-Cookie} header limited to the path of the token; C{None} if it must not be
    sent.

    @param names: names of the service's own cookies, which a target must not set.
    """
    pair, *attributes = cookie.split(";")
    name, equals, _ = pair.partition("=")
    name = name.strip()
    if not equals or not _COOKIE_NAME.fullmatch(name) or name in names:
        return None
    if name.lower().startswith(("__host-", "__secure-", "__http-")):
        # These prefixes promise properties that do not hold here.
        return None
    path, kept = "/", []
    for attribute in attributes:
        key, _, value = (part.strip() for part in attribute.partition("="))
        if key.lower() == "path" and value.startswith("/"):
            path = value
        elif key.lower() in ("expires", "max-age", "httponly", "secure"):
            kept.append(attribute.strip())
    return "; ".join([pair.strip(), *kept, "SameSite=Lax", f"Path={prefix}{path}"])


def rewrite_page(content: bytes, origin: str, prefix: str) -> bytes:
    """Return a page in which root-relative and same-origin URLs are moved below the prefix."""
    found = _ATTRIBUTE.sub(lambda m: m[1] + prefix.encode() + b"/", content)
    found = rewrite_script(found, prefix)
    marks = b"(?=[\"'/?#\\s>])"
    own = re.compile(b"([\"'=(])" + re.escape(origin.encode()) + marks, re.IGNORECASE)
    return own.sub(lambda m: m[1] + prefix.encode(), found)


def rewrite_content(kind: str, content: bytes, origin: str, prefix: str) -> bytes:
    """Return content in which URLs of the target are moved below the prefix.

    @param kind: media type, one of L{REWRITTEN}.
    """
    if kind == "text/html":
        return rewrite_page(content, origin, prefix)
    return (
        rewrite_style_sheet(content, prefix)
        if kind == "text/css"
        else rewrite_script(content, prefix)
    )


def get_rewritable_length(kind: str, content: bytes | bytearray) -> int:
    """Return the number of bytes of C{content} to pass to L{rewrite_content} next; at most
    L{PIECE}.

    If possible, the chunk does not end within a URL.

    @param kind: media type, one of L{REWRITTEN}.
    """
    if len(content) <= PIECE:
        return len(content)
    ends = _ENDS.get(kind, _ENDS["text/javascript"])
    end = max(content.rfind(sign, 1, PIECE) for sign in ends)
    return end if end > 0 else PIECE


def rewrite_script(content: bytes, prefix: str) -> bytes:
    """Return a script in which root-relative imports are moved below the prefix."""
    return _IMPORT.sub(lambda m: m[1] + prefix.encode() + b"/", content)


def rewrite_style_sheet(content: bytes, prefix: str) -> bytes:
    """Return a style sheet in which root-relative URLs are moved below the prefix."""
    return _SHEET.sub(lambda m: m[1] + prefix.encode() + b"/", content)


def build_preflight_headers(asked: str) -> dict[str, str]:
    """Return the headers of the response to a CORS preflight.

    @param asked: value of C{Access-Control-Request-Headers}.
    """
    names = [name.strip() for name in asked.split(",")]
    return {
        "Access-Control-Allow-Methods": "*",
        "Access-Control-Allow-Headers": ", ".join(filter(_COOKIE_NAME.fullmatch, names)),
        "Access-Control-Max-Age": "600",
    }


def _referring_path(referer: str, prefix: str) -> str | None:
    try:
        parts = urlsplit(referer)
    except ValueError:
        return None
    _, found, rest = parts.path.partition(prefix)
    if not found or not rest.startswith("/"):
        return None
    return rest + (f"?{parts.query}" if parts.query else "")


def build_isolation_headers(ancestors: Sequence[str]) -> dict[str, str]:
    """Return the headers that isolate every response from a target (protocol-webtabs).

    @param ancestors: origins that may embed the response in a frame.
    """
    return {
        "Content-Security-Policy": f"{SANDBOX}; frame-ancestors {' '.join(ancestors)}",
        "Cross-Origin-Resource-Policy": "cross-origin",
        # For a page without an origin its own scripts and fonts are cross-origin.
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Expose-Headers": "*",
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "Permissions-Policy": "camera=(), microphone=(), geolocation=(), display-capture=()",
    }


SANDBOX = (
    "sandbox allow-scripts allow-forms allow-modals allow-popups allow-downloads"
    " allow-pointer-lock allow-presentation"
)
"""Sandbox policy without C{allow-same-origin}, so that a page from a target has no origin.

Framed or not, the page can reach no cookie, storage, service worker or response of the service. Nor
can it navigate the top page.
"""
