"""The security headers of every answer (protocol-headers)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from tservice.http.pagekey import HEADER

CSP = {
    "default-src": "'self'",
    "script-src": "'self'",
    # xterm.js writes style elements and attributes.
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "media-src": "'self' blob:",
    "worker-src": "'self' blob:",
    "frame-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}
"""The content security policy, but for the WebSockets of the own host."""

GESTURE = {
    "script-src": "'self' 'wasm-unsafe-eval'",
    "worker-src": "'self' blob:",
}
"""What the gesture overlay's own runtime needs beside (protocol-gesture)."""

POWERS = {"camera": "()", "display-capture": "()", "geolocation": "()", "microphone": "(self)"}
"""What a page may ask its person for: dictation wants the microphone (protocol-voice)."""

HSTS = "max-age=31536000"


@lru_cache(maxsize=64)
def security_headers(
    host: str, gesture: bool = False, isolated: str | None = None
) -> Mapping[str, str]:
    """The headers that every answer carries.

    @param host: the checked Host header, or nothing; older browsers do not read C{ws:} of the
        same host into C{'self'}.
    @param gesture: C{SERVICE_GESTURE=1}.
    @param isolated: the origin of the listener of web tabs, which the page may frame and look for.
    """
    rules = {**CSP, **GESTURE} if gesture else dict(CSP)
    if host:
        rules["connect-src"] += f" ws://{host} wss://{host}"
    powers = {**POWERS, "camera": "(self)"} if gesture else POWERS
    if isolated is not None:
        rules["frame-src"] += f" {isolated}"
        rules["connect-src"] += f" {isolated}"
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in rules.items()),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "SAMEORIGIN",
        "Referrer-Policy": "same-origin",
        "Permissions-Policy": ", ".join(f"{name}={who}" for name, who in powers.items()),
        # A page that may not read it gets no picture, script or style of it either.
        "Cross-Origin-Resource-Policy": "same-origin",
    }


def cors_headers(origin: str, preflight: bool) -> Mapping[str, str]:
    """The headers that let a page of C{origin} read our answers.

    @param preflight: the browser asks what it may send.
    """
    headers = {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Credentials": "true",
        "Vary": "Origin",
    }
    if preflight:
        headers["Access-Control-Allow-Methods"] = "GET, HEAD, POST, PUT, PATCH, DELETE"
        headers["Access-Control-Allow-Headers"] = (
            f"Authorization, Content-Type, Last-Event-ID, X-Service-Agent-Origin, {HEADER}"
        )
        headers["Access-Control-Max-Age"] = "600"
    return headers
