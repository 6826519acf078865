"""Tests for L{tservice.http.static_files}."""

from __future__ import annotations

import gzip
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.http.site_driver import ApiHarness, ParsedAnswer
from tservice.http import static_files
from tservice.http.static_files import OVERLAY, StaticPages, accepted_encodings

SCRIPT = b"let x = 1;\n" * 200


class StaticTests(SynchronousTestCase):
    """A built UI."""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp())
        (self.folder / "assets").mkdir(parents=True)
        for name, content in {
            "index.html": b"<html>ui</html>",
            "assets/main-Ab_9-xYz.js": SCRIPT,
            "assets/main-Ab_9-xYz.js.br": b"BR",
            "assets/style-12345678.css": b"a{}" * 500,
            "assets/style-12345678.css.gz": b"GZ",
            "assets/plain.js": SCRIPT,
            "icons/a b\u00fc.png": b"P" * 5000,
        }.items():
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        (self.folder.parent / "secret").write_text("no")
        (self.folder / "link").symlink_to((self.folder.parent / "secret").resolve())
        self.pages = StaticPages(self.folder)
        self.api = ApiHarness(pages=self.pages)

    def get(self, path: str, **headers: str) -> ParsedAnswer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.api.request("GET", path, headers=named)

    def test_index_page_is_served_uncached(self) -> None:
        for path in ("/", "/login", "/index.html"):
            answer = self.get(path)
            self.assertEqual((200, b"<html>ui</html>"), (answer.status, answer.content))
            self.assertEqual("no-cache", answer.headers["cache-control"])
            self.assertEqual("text/html; charset=utf-8", answer.headers["content-type"])

    def test_gesture_overlay_is_added_only_with_the_flag(self) -> None:
        page = b"<html><head><title>ui</title></head>" + b"x" * 2000
        for name, content in {
            "index.html": page,
            "index.html.br": b"BR",
            "gesture/overlay.js": SCRIPT,
            "gesture/hands/hands.wasm": b"W" * 5000,
            "gesture/hands/hands.js.br": b"BR",
            "gestures/other.js": SCRIPT,
        }.items():
            (self.folder / name).parent.mkdir(exist_ok=True, parents=True)
            (self.folder / name).write_bytes(content)
        self.api = ApiHarness(pages=StaticPages(self.folder))
        paths = ("/gesture/overlay.js", "/gesture/hands/hands.wasm", "/%67esture/overlay.js")
        for path in paths:
            self.assertEqual(404, self.get(path).status, path)
        self.assertEqual(200, self.get("/gestures/other.js").status)
        self.assertEqual(page, self.get("/").content)
        self.assertEqual(b"BR", self.get("/", Accept_Encoding="br").content)
        self.api = ApiHarness(pages=StaticPages(self.folder, gesture=True))
        for path in paths:
            self.assertEqual(200, self.get(path).status, path)
        self.assertNotIn("content-encoding", self.get(paths[1], Accept_Encoding="gzip").headers)
        for encodings in ("", "br", "gzip, br"):
            found = self.get("/", Accept_Encoding=encodings)
            content = found.content
            if found.headers.get("content-encoding") == "gzip":
                content = gzip.decompress(content)
            self.assertEqual(page.replace(b"</head>", OVERLAY), content)

    def test_hashed_files_are_cached_forever(self) -> None:
        answer = self.get("/assets/main-Ab_9-xYz.js")
        self.assertEqual(SCRIPT, answer.content)
        self.assertIn("immutable", answer.headers["cache-control"])
        self.assertEqual("no-cache", self.get("/assets/plain.js").headers["cache-control"])

    def test_compressed_siblings_are_served(self) -> None:
        for path, accept, want in (
            ("/assets/main-Ab_9-xYz.js", "gzip, br", (b"BR", "br")),
            ("/assets/style-12345678.css", "gzip, br", (b"GZ", "gzip")),
            ("/assets/style-12345678.css", "gzip;q=0, br", (b"a{}" * 500, None)),
            ("/assets/main-Ab_9-xYz.js", "identity", (SCRIPT, None)),
        ):
            answer = self.get(path, Accept_Encoding=accept)
            found = (answer.content, answer.headers.get("content-encoding"))
            self.assertEqual(want, found, (path, accept))
            self.assertEqual("Accept-Encoding", answer.headers["vary"])

    def test_uncompressed_files_are_compressed_on_request(self) -> None:
        answer = self.get("/assets/plain.js", Accept_Encoding="gzip")
        self.assertEqual(SCRIPT, gzip.decompress(answer.content))
        self.assertNotIn("content-encoding", self.get("/", Accept_Encoding="gzip").headers)
        image = self.get("/icons/a%20b%C3%BC.png", Accept_Encoding="gzip")
        self.assertEqual((200, b"P" * 5000), (image.status, image.content))

    def test_etag_gives_304(self) -> None:
        tag = self.get("/").headers["etag"]
        for header in (tag, f'"x", W/{tag}', "*"):
            answer = self.get("/", If_None_Match=header)
            self.assertEqual((304, b""), (answer.status, answer.content))
            self.assertEqual(tag, answer.headers["etag"])
        self.assertEqual(200, self.get("/", If_None_Match='"x"').status)
        packed = self.get("/assets/plain.js", Accept_Encoding="gzip").headers["etag"]
        self.assertNotEqual(packed, self.get("/assets/plain.js").headers["etag"])

    def test_head_request_has_the_length_and_no_body(self) -> None:
        answer = self.api.request("HEAD", "/assets/plain.js")
        self.assertEqual(("2200", b""), (answer.headers["content-length"], answer.content))

    def test_other_paths_are_not_found(self) -> None:
        for path in (
            "/../secret",
            "/%2e%2e/secret",
            "/..%2fsecret",
            "/assets/../index.html",
            "/assets%2fplain.js",
            "//index.html",
            "/link",
            "/assets",
            "/assets/",
            "/INDEX.HTML",
            "/index.html/",
            "/index.html%00",
        ):
            self.assertEqual(404, self.get(path).status, path)

    @given(st.text(max_size=20))
    def test_any_path_is_found_or_not_found(self, text: str) -> None:
        answer = self.api.request("GET", "/" + "".join(f"%{b:02x}" for b in text.encode()))
        assert answer.status in (200, 404)

    def test_cached_static_files_are_bounded(self) -> None:
        self.patch(static_files, "CACHE_BYTES", 100)
        for _ in range(2):
            self.assertEqual(SCRIPT, self.get("/assets/plain.js").content)
        self.get("/")
        self.assertEqual([("index.html", None)], list(self.pages._cache))

    def test_static_files_are_read_once(self) -> None:
        self.get("/assets/plain.js")
        (self.folder / "assets/plain.js").unlink()
        self.assertEqual(SCRIPT, self.get("/assets/plain.js").content)

    def test_login_page_is_the_index_page(self) -> None:
        page = self.pages.login_page()
        self.assertEqual(b"<html>ui</html>", page.content)
        self.assertEqual("no-store", page.headers["Cache-Control"])


class NotBuiltTests(SynchronousTestCase):
    """A checkout without C{tservice/static}."""

    def setUp(self) -> None:
        self.pages = StaticPages(Path(self.mktemp()))
        self.api = ApiHarness(pages=self.pages)

    def test_page_of_an_unbuilt_ui_says_so(self) -> None:
        for path in ("/", "/login"):
            answer = self.api.get(path)
            self.assertEqual(200, answer.status)
            self.assertIn(b"make web", answer.content)
        self.assertIn(b"make web", self.pages.login_page().content)
        self.assertEqual(404, self.api.get("/assets/x.js").status)


class EncodingTests(SynchronousTestCase):
    """L{accepted_encodings}."""

    def test_accept_encoding_weights_are_honoured(self) -> None:
        self.assertEqual(
            {"gzip", "br"}, accepted_encodings("gzip;q=0.1, BR, zstd;q=0, x;q=0.000") - {""}
        )
