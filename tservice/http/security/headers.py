"""Security headers of every response (protocol-headers)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from tservice.http.security.page_key import HEADER

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
"""Content security policy; the WebSockets of the service's host are added for each response."""

GESTURE = {
    "script-src": "'self' 'wasm-unsafe-eval'",
    "worker-src": "'self' blob:",
}
"""Additional sources that the gesture overlay's runtime needs (protocol-gesture)."""

PERMISSIONS = {"camera": "()", "display-capture": "()", "geolocation": "()", "microphone": "(self)"}
"""Permissions policy of the pages: dictation needs the microphone (protocol-voice)."""

HSTS = "max-age=31536000"


@lru_cache(maxsize=64)
def security_headers(
    host: str, gesture: bool = False, isolated: str | None = None
) -> Mapping[str, str]:
    """Return the headers that every response carries.

    @param host: the checked Host header, or an empty text.  In older browsers C{'self'} does not
        include C{ws:} of the same host, so the policy names the host.
    @param gesture: true if the gesture overlay is enabled (C{SERVICE_GESTURE=1}).
    @param isolated: origin of the listener of web tabs, which the page may frame and probe.
    """
    rules = {**CSP, **GESTURE} if gesture else dict(CSP)
    if host:
        rules["connect-src"] += f" ws://{host} wss://{host}"
    powers = {**PERMISSIONS, "camera": "(self)"} if gesture else PERMISSIONS
    if isolated is not None:
        rules["frame-src"] += f" {isolated}"
        rules["connect-src"] += f" {isolated}"
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in rules.items()),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "SAMEORIGIN",
        "Referrer-Policy": "same-origin",
        "Permissions-Policy": ", ".join(f"{name}={who}" for name, who in powers.items()),
        # A page that may not read a response cannot load it as an image, script or style either.
        "Cross-Origin-Resource-Policy": "same-origin",
    }


def cors_headers(origin: str, preflight: bool) -> Mapping[str, str]:
    """Return the headers that let a page of C{origin} read responses.

    @param preflight: true if the request is a CORS preflight.
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
