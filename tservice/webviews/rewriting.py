"""What passes between a browser and a target, and in which form (protocol-webtabs; pure).

Nothing of the service goes to the target: no cookie, key, C{Authorization} or address.  Nothing of
the target's gets at the service's origin: what a browser would keep for the whole origin, or do
there, is dropped or confined to the capability's own path.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from urllib.parse import urljoin, urlsplit

Pairs = list[tuple[str, str]]

OWN_BEGINS = "tsk_"
"""What the service's own tokens begin with (protocol-tokens)."""

HOP = frozenset(
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
"""Headers of one connection (RFC 9110, 7.6.1)."""

REWRITTEN = frozenset({"text/html", "text/css", "text/javascript", "application/javascript"})
"""Types in which the addresses from the root are rewritten."""

_UP = HOP | {
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
_UP_BEGINS = ("x-service-", "x-forwarded-", "sec-fetch-", "sec-websocket-", "cf-")

_DOWN = HOP | {
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
"""What acts on a whole origin, on this connection, or on where the frame stands."""
_DOWN_BEGINS = ("access-control-", "attribution-reporting-", "x-service-", "sec-")

PIECE = 64 * 1024
"""Bytes that are held, and rewritten in one turn of the reactor: the worst of them take some
milliseconds and become ten times as many."""

_ENDS = {"text/html": (b"<",), "text/css": (b"}", b";"), "text/javascript": (b"\n", b";")}
"""Before which signs no address is cut in two; of scripts of either name the same."""

_ATTRIBUTE = re.compile(
    rb"""(<[a-z][^<>]*?\s(?:src|href|action|formaction|poster|data)\s*=\s*["']?)/(?!/)""",
    re.IGNORECASE,
)
_IMPORT = re.compile(rb"""(\b(?:from|import)\s{0,8}\(?\s{0,8}["'])/(?!/)""")
_SHEET = re.compile(rb"""(\burl\(\s{0,8}["']?|@import\s{1,8}["'])/(?!/)""", re.IGNORECASE)
_COOKIE_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def connection_words(values: Iterable[str]) -> frozenset[str]:
    """The headers that a C{Connection} names: they end here too."""
    return frozenset(word.strip().lower() for value in values for word in value.split(","))


def upward(
    given: Pairs,
    *,
    origin: str,
    prefix: str,
    cookies: Collection[str],
    plain: bool,
    kept: str = "",
    apart: bool = False,
) -> Pairs:
    """The headers that the target is sent.

    @param origin: the target's, in whose name its own pages ask.
    @param prefix: of the capability, in the service's paths.
    @param cookies: names of the service's own.
    @param plain: the answer may be a page to be rewritten, so no compression is asked for.
    @param kept: the target's cookies that are kept for the page.
    @param apart: nobody signs in to the service where this came to, so that an C{Authorization}
        which a script has set is the target's.
    """
    ended = connection_words(value for name, value in given if name.lower() == "connection")
    passed = [
        (name, value)
        for name, value in given
        if name.lower() not in _UP | ended and not name.lower().startswith(_UP_BEGINS)
    ]
    own = {piece.partition("=")[0].strip() for piece in kept.split(";")}
    sent = "; ".join(value for name, value in given if name.lower() == "cookie")
    if found := "; ".join(piece for piece in (kept, without(sent, {*cookies, *own})) if piece):
        passed.append(("Cookie", found))
    for name, value in given:
        lower = name.lower()
        if lower == "authorization" and apart and by_script(value):
            passed.append(("Authorization", value))
        elif lower == "origin":
            passed.append(("Origin", origin))
        elif lower == "referer" and (page := _page_of(value, prefix)) is not None:
            passed.append(("Referer", f"{origin}{page}"))
    if plain:
        passed = [pair for pair in passed if pair[0].lower() != "accept-encoding"]
        passed.append(("Accept-Encoding", "identity"))
    return passed


def by_script(authorization: str) -> bool:
    """Whether a script of the target's has set it, no browser by itself and no client of ours."""
    scheme, _, word = authorization.strip().partition(" ")
    browsers = scheme.lower() in ("basic", "digest", "negotiate", "ntlm")
    return not browsers and not word.strip().startswith(OWN_BEGINS)


def without(cookie: str, names: Collection[str]) -> str:
    """A C{Cookie} header less the cookies of these names."""
    pieces = [piece.strip() for piece in cookie.split(";")]
    return "; ".join(
        piece for piece in pieces if piece and piece.partition("=")[0].strip() not in names
    )


def downward(
    given: Pairs, *, origin: str, asked: str, prefix: str, cookies: Collection[str]
) -> Pairs:
    """The headers that the browser is sent, but for the fence and the length.

    @param asked: the URL that the target was asked for.
    """
    ended = connection_words(value for name, value in given if name.lower() == "connection")
    passed = [
        (name, value)
        for name, value in given
        if name.lower() not in _DOWN | ended and not name.lower().startswith(_DOWN_BEGINS)
    ]
    for name, value in given:
        lower = name.lower()
        if lower == "location":
            passed.append(("Location", moved(value, origin, asked, prefix)))
        elif lower == "set-cookie" and (kept := confined(value, prefix, cookies)):
            passed.append(("Set-Cookie", kept))
    return passed


def moved(location: str, origin: str, asked: str, prefix: str) -> str:
    """Where a redirect leads: on the target's own origin, to the same place under the prefix."""
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


def confined(cookie: str, prefix: str, names: Collection[str]) -> str | None:
    """A C{Set-Cookie} that holds for the capability's path alone; C{None}: it is not set."""
    pair, *attributes = cookie.split(";")
    name, equals, _ = pair.partition("=")
    name = name.strip()
    if not equals or not _COOKIE_NAME.fullmatch(name) or name in names:
        return None
    if name.lower().startswith(("__host-", "__secure-", "__http-")):
        # They promise a browser what does not hold here.
        return None
    path, kept = "/", []
    for attribute in attributes:
        key, _, value = (part.strip() for part in attribute.partition("="))
        if key.lower() == "path" and value.startswith("/"):
            path = value
        elif key.lower() in ("expires", "max-age", "httponly", "secure"):
            kept.append(attribute.strip())
    return "; ".join([pair.strip(), *kept, "SameSite=Lax", f"Path={prefix}{path}"])


def page(content: bytes, origin: str, prefix: str) -> bytes:
    """A page whose addresses from the root, and of the target's own origin, lead to the prefix."""
    found = _ATTRIBUTE.sub(lambda m: m[1] + prefix.encode() + b"/", content)
    found = script(found, prefix)
    marks = b"(?=[\"'/?#\\s>])"
    own = re.compile(b"([\"'=(])" + re.escape(origin.encode()) + marks, re.IGNORECASE)
    return own.sub(lambda m: m[1] + prefix.encode(), found)


def text(kind: str, content: bytes, origin: str, prefix: str) -> bytes:
    """What holds addresses, with those that lead to the target leading to the prefix.

    @param kind: one of L{REWRITTEN}.
    """
    if kind == "text/html":
        return page(content, origin, prefix)
    return sheet(content, prefix) if kind == "text/css" else script(content, prefix)


def piece(kind: str, content: bytes | bytearray) -> int:
    """How much of C{content} L{text} can take by itself: at most L{PIECE}.

    It ends where no address is, if there is such a place.

    @param kind: one of L{REWRITTEN}.
    """
    if len(content) <= PIECE:
        return len(content)
    ends = _ENDS.get(kind, _ENDS["text/javascript"])
    end = max(content.rfind(sign, 1, PIECE) for sign in ends)
    return end if end > 0 else PIECE


def script(content: bytes, prefix: str) -> bytes:
    """A script whose imports from the root lead to the prefix."""
    return _IMPORT.sub(lambda m: m[1] + prefix.encode() + b"/", content)


def sheet(content: bytes, prefix: str) -> bytes:
    """A style sheet whose addresses from the root lead to the prefix."""
    return _SHEET.sub(lambda m: m[1] + prefix.encode() + b"/", content)


def permitted(asked: str) -> dict[str, str]:
    """The answer to a page that asks whether it may send what only scripts can.

    @param asked: C{Access-Control-Request-Headers}.
    """
    names = [name.strip() for name in asked.split(",")]
    return {
        "Access-Control-Allow-Methods": "*",
        "Access-Control-Allow-Headers": ", ".join(filter(_COOKIE_NAME.fullmatch, names)),
        "Access-Control-Max-Age": "600",
    }


def _page_of(referer: str, prefix: str) -> str | None:
    try:
        parts = urlsplit(referer)
    except ValueError:
        return None
    _, found, rest = parts.path.partition(prefix)
    if not found or not rest.startswith("/"):
        return None
    return rest + (f"?{parts.query}" if parts.query else "")


def fence(ancestors: Sequence[str]) -> dict[str, str]:
    """The headers of whatever comes from a target (protocol-webtabs).

    @param ancestors: who may hold it in a frame.
    """
    return {
        "Content-Security-Policy": f"{SANDBOX}; frame-ancestors {' '.join(ancestors)}",
        "Cross-Origin-Resource-Policy": "cross-origin",
        # To a page without an origin its own scripts and fonts are foreign.
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
"""No C{allow-same-origin}: a page from a target has no origin, so no cookie, storage, service
worker or answer of the service is within its reach, framed or not; nor can it lead the top away."""
