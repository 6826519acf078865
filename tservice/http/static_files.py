"""Built files of the browser UI (protocol-envelope)."""

from __future__ import annotations

import gzip
import hashlib
import re
from pathlib import Path
from urllib.parse import unquote

from attrs import frozen
from zope.interface import implementer

from tservice.core.callers.authentication import AuthenticationRequest
from tservice.http.envelope import ASK_AGAIN, NO_STORE, HttpResponse
from tservice.http.kernel import IPages

INDEX = "index.html"
UI_ROUTES = frozenset({"/", "/login"})
"""Paths that the UI's script handles; each of them serves the single HTML page."""

GESTURE = "gesture/"
"""Folder of the gesture overlay, served only if the overlay is enabled (protocol-gesture)."""

OVERLAY = (
    b'<link rel="stylesheet" href="./gesture/overlay.css">'
    b'<script type="module" src="./gesture/overlay.js"></script></head>'
)
"""Markup that is inserted into the page if the gesture overlay is enabled."""

CACHE_BYTES = 32 * 1024 * 1024
"""Limit in bytes on file content kept in memory; the UI needs a tenth of this."""

COMPRESS_FROM = 1024
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}

_HASHED = re.compile(r"assets/[^/]+-[A-Za-z0-9_-]{8,}\.[a-z0-9.]+")
_SIBLINGS = {"br": ".br", "gzip": ".gz"}
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}
_PACKED = frozenset({".ico", ".png", ".webp", ".woff2"})

NOT_BUILT = b"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>tservice</title>
<h1>The browser UI is not built</h1>
<p>This is a checkout. Run <code>make web</code> in it, then restart the service.</p>
<p>The API works without it: see <a href="api/docs">api/docs</a>.</p>
</html>
"""


@frozen(kw_only=True)
class StoredFile:
    """Content of a file in one encoding.

    @ivar encoding: the Content-Encoding.  C{None} for the plain content.
    """

    content: bytes
    tag: str
    encoding: str | None = None


def accepted_encodings(header: str) -> frozenset[str]:
    """Return the encodings of an Accept-Encoding header that the service supports."""
    found = set()
    for part in header.lower().split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        if not any(re.fullmatch(r"q=0(\.0*)?", parameter) for parameter in parameters):
            found.add(name)
    return frozenset(found)


def matches_etag(header: str, tag: str) -> bool:
    """Return whether an If-None-Match header names C{tag}."""
    named = {part.strip().removeprefix("W/") for part in header.split(",")}
    return tag in named or "*" in named


@implementer(IPages)
class StaticPages:
    """Files of one folder.

    Only files that existed at the start are served, so no path can escape the folder.
    """

    def __init__(self, folder: Path, *, gesture: bool = False) -> None:
        """@param folder: the folder of the built UI.  If it is missing, one page says so.
        @param gesture: true to serve the gesture overlay.
        """
        self._folder = folder
        self._gesture = gesture
        self._names = frozenset(
            str(path.relative_to(folder))
            for path in folder.rglob("*")
            if path.is_file()
            and not path.is_symlink()
            and (gesture or GESTURE.rstrip("/") not in path.relative_to(folder).parts[:1])
        )
        self._cache: dict[tuple[str, str | None], StoredFile] = {}
        self._cached = 0

    @property
    def is_built(self) -> bool:
        """True if the UI exists."""
        return INDEX in self._names

    def find_page(self, path: str, visit: AuthenticationRequest) -> HttpResponse | None:
        """Return the file at C{path}, compressed if the client accepts it, or a 304.

        @return: C{None} if there is no such file.  The response is C{public} for the files of the
            login page.
        """
        name = INDEX if path in UI_ROUTES else unquote(path[1:])
        if name == INDEX and not self.is_built:
            return self._make_missing_ui_response()
        if name not in self._names or "%2F" in path:
            return None
        stored = self._choose_encoding(
            name, accepted_encodings(visit.header("accept-encoding") or "")
        )
        hashed = _HASHED.fullmatch(name) is not None
        headers = {
            **(FOREVER if hashed else ASK_AGAIN),
            "ETag": stored.tag,
            "Vary": "Accept-Encoding",
        }
        # The login page is this page too, and needs these two files.
        overlay = name in ("gesture/overlay.js", "gesture/overlay.css")
        public = hashed or overlay or path == "/login"
        if matches_etag(visit.header("if-none-match") or "", stored.tag):
            return HttpResponse(status=304, content_type="", headers=headers, public=public)
        if stored.encoding is not None:
            headers["Content-Encoding"] = stored.encoding
        return HttpResponse(
            status=200,
            content=stored.content,
            content_type=_guess_content_type(name),
            headers=headers,
            public=public,
        )

    def login_page(self) -> HttpResponse:
        """Return the login page; the gate sets its status."""
        if not self.is_built:
            return self._make_missing_ui_response()
        content = self._choose_encoding(INDEX, frozenset()).content
        return HttpResponse(
            status=200, content=content, content_type=_TYPES[".html"], headers=NO_STORE
        )

    def _make_missing_ui_response(self) -> HttpResponse:
        return HttpResponse(
            status=200,
            content=NOT_BUILT,
            content_type=_TYPES[".html"],
            headers=NO_STORE,
            public=True,
        )

    def _choose_encoding(self, name: str, encodings: frozenset[str]) -> StoredFile:
        changed = name == INDEX and self._gesture
        for encoding, suffix in () if changed else _SIBLINGS.items():
            if encoding in encodings and name + suffix in self._names:
                return self._load_cached(name, encoding, name + suffix)
        plain = self._load_cached(name, None, name)
        small = Path(name).suffix in _PACKED or len(plain.content) < COMPRESS_FROM
        # The model for hand detection is large, and already compressed.
        worth = not (small or name.startswith(f"{GESTURE}hands/"))
        return self._load_cached(name, "gzip", None) if worth and "gzip" in encodings else plain

    def _load_cached(self, name: str, encoding: str | None, source: str | None) -> StoredFile:
        """Return a file's content in one encoding, from the cache or from the disk.

        @param source: the file that holds the compressed content.  C{None} to compress here.
        """
        known = self._cache.get((name, encoding))
        if known is not None:
            return known
        if source is not None:
            content = (self._folder / source).read_bytes()
            if source == INDEX and self._gesture:
                content = content.replace(b"</head>", OVERLAY)
        else:
            content = gzip.compress(self._load_cached(name, None, name).content, 6, mtime=0)
        tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
        stored = StoredFile(content=content, tag=tag, encoding=encoding)
        if self._cached + len(content) <= CACHE_BYTES:
            self._cached += len(content)
            self._cache[name, encoding] = stored
        return stored


def _guess_content_type(name: str) -> str:
    return _TYPES.get(Path(name).suffix, "application/octet-stream")
