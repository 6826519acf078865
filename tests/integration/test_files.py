"""Files of a workspace over the real daemon: every route as a client meets it."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.integration.files import FORM, PNG, SessionFiles, files_of, form_body, read_answer
from tests.integration.harness import DaemonHarness
from tests.waiting import wait_until

LARGE = 3 * 1024 * 1024


def _in_place(log: Path, content: str) -> str:
    log.write_text(content)
    return content


def _over(log: Path, content: str) -> str:
    other = log.with_name("other")
    other.write_text(content)
    other.rename(log)
    return content


def _as_long(line: str, log: Path) -> str:
    size = log.stat().st_size
    return (line * size)[:size]


REWRITES: dict[str, Callable[[Path, str], str]] = {
    "longer": lambda log, line: _in_place(log, line + log.read_text()),
    "shorter": lambda log, line: _in_place(log, line[: log.stat().st_size - 1]),
    "as long": lambda log, line: _in_place(log, _as_long(line, log)),
    "renamed over, longer": lambda log, line: _over(log, line + log.read_text()),
    "renamed over, shorter": lambda log, line: _over(log, line[:3]),
    "renamed over, as long": lambda log, line: _over(log, _as_long(line, log)),
    "of several pieces": lambda log, line: _in_place(log, line * 9000),
    "cut short again": lambda log, line: _in_place(log, line),
}
"""How a file is written anew; each returns what is in it then."""


def heard(told: Iterator[Any], content: str, held: str) -> str:
    """What the listener has in its hands once it is C{content}, or can become it no more."""
    while held != content:
        message = next(told)
        if message["type"] == "truncated":
            held = ""
        else:
            held += message["data"]
            if not content.startswith(held) and content.endswith(message["data"]):
                return held
    return held


PIECES = (
    b"\r\n", b"\n", b"\r", b"\xef\xbb\xbf", b"a", b" \t", "\u00e4\u2028\u0085".encode(),
    "\U0001f642e\u0301".encode(), b"\x0b\x0c\x1b[0m", b"y" * 70_000, b"\0", b"caf\xe9",
    "two\n".encode("utf-16"), b"\xed\xa0\x80", b"\\u0000\"'<&",
)  # fmt: skip
"""What files are made of, of which some are no UTF-8."""


def is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


class DaemonFilesTests(SynchronousTestCase):
    """One daemon for all; a workspace for each."""

    daemon: ClassVar[DaemonHarness]

    @classmethod
    def setUpClass(cls) -> None:
        cls.daemon = DaemonHarness().start()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.daemon.close()

    def setUp(self) -> None:
        self.folder = self.daemon.folder / "ws"
        self.folder.mkdir()
        self.addCleanup(shutil.rmtree, self.folder)
        self.files: SessionFiles = files_of(self.daemon, self.folder)

    def put(self, path: str, content: str | bytes = "x") -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def refused(self, answer: Any, status: int, code: str, *words: str) -> None:
        found = answer.json()
        self.assertEqual((status, code), (answer.status, found["errorCode"]), found)
        for word in words:
            self.assertIn(word, found["error"])

    # -- looking

    def test_tree_lists_files_and_refuses_bad_queries(self) -> None:
        self.put("src/a.py")
        found = self.files.get("files").data()
        [src] = found["tree"]
        self.assertEqual(["src", "src/a.py"], [src["path"], src["children"][0]["path"]])
        self.assertEqual(str(self.folder), found["root"])
        self.refused(self.files.get("files", "none"), 404, "NOT_FOUND")
        self.refused(self.files.get("files", "src/a.py"), 400, "INVALID_INPUT", "path")
        self.refused(self.files.get("files", "", "&depth=x"), 400, "INVALID_INPUT", "depth")

    def test_file_content_is_read_and_saved(self) -> None:
        self.put("a.txt", "one\ntwo\n")
        found = self.files.get("file-content", "a.txt", "&from=2&lines=1").data()
        self.assertEqual(("two\n", 2, 2), (found["content"], found["from"], found["totalLines"]))
        body = {"path": "a.txt", "content": "new\n", "baseHash": found["hash"]}
        saved = self.files.send("PUT", "file-content", body).data()
        self.assertEqual(hashlib.sha256(b"new\n").hexdigest(), saved["hash"])
        self.refused(self.files.send("PUT", "file-content", body), 409, "CONFLICT", "changed")
        self.assertEqual("new\n", (self.folder / "a.txt").read_text())

    def test_bad_bodies_of_a_save_are_refused(self) -> None:
        good = {"path": "a.txt", "content": "x", "baseHash": None}
        for change, status, word in (
            ({"path": ""}, 400, "path"),
            ({"path": "a\0b"}, 400, "path"),
            ({"baseHash": "zz"}, 400, "baseHash"),
            ({"content": 5}, 400, "content"),
            ({"extra": 1}, 400, "extra"),
            ({"content": "x" * (512 * 1024 + 1)}, 413, "content"),
            ({"content": "\u0001" * (512 * 1024 + 1)}, 413, ""),
        ):
            answer = self.files.send("PUT", "file-content", {**good, **change})
            self.assertEqual(status, answer.status, change)
            self.assertIn(word, answer.json()["error"])
        del good["baseHash"]
        answer = self.files.send("PUT", "file-content", good)
        self.refused(answer, 400, "INVALID_INPUT", "baseHash: is required")
        self.assertEqual([], list(self.folder.iterdir()))

    def test_largest_text_is_saved_in_any_json_escaping(self) -> None:
        body = {"path": "a.txt", "content": "\u0001" * (512 * 1024), "baseHash": None}
        self.assertEqual(512 * 1024, self.files.send("PUT", "file-content", body).data()["size"])

    def test_secret_files_are_refused_on_every_route(self) -> None:
        self.put("server.pem", "key")
        self.put(".env", "A=1")
        (self.folder / "innocent").symlink_to("server.pem")
        download = f"/api/download?sessionId={self.files.session}&path="
        for path in ("server.pem", ".env", "innocent"):
            for route in ("file-content", "file-raw", "tail-file"):
                self.refused(self.files.get(route, path), 403, "FORBIDDEN", "secrets")
            self.refused(self.daemon.request("GET", download + path), 403, "FORBIDDEN")
        self.assertEqual(
            "A=1", self.files.get("file-content", ".env", "&reveal=1").data()["content"]
        )
        self.put("plain")
        self.files.get("file-content", "plain", "&reveal=1").data()  # is no secret
        self.refused(self.files.get("file-content", "server.pem", "&reveal=1"), 403, "FORBIDDEN")
        entries = self.daemon.request("GET", "/api/admin/audit?action=file.revealed").data()[
            "entries"
        ]
        self.assertEqual([(self.files.session, {"path": ".env"})],
                         [(each["target"], each["detail"]) for each in entries])  # fmt: skip

    def test_files_of_the_service_folder_are_forbidden(self) -> None:
        files = files_of(self.daemon, self.daemon.folder)
        for route in ("file-content", "file-raw", "tail-file"):
            self.refused(files.get(route, "data/tservice.db"), 403, "FORBIDDEN")
        self.refused(files.get("files", "data"), 403, "FORBIDDEN")
        inside = files_of(self.daemon, self.daemon.data)
        self.refused(inside.get("files"), 403, "FORBIDDEN")
        self.refused(inside.post_form("uploads", form_body(("file", "a", b"x"))), 403, "FORBIDDEN")

    @settings(max_examples=example_count(150), deadline=None, database=None)
    @given(st.lists(st.sampled_from(PIECES), max_size=7), st.integers(0, 2**16))
    def test_edited_file_keeps_its_bytes(self, pieces: list[bytes], at: int) -> None:
        """And one letter more is one letter more; what is no text says why."""
        content = b"".join(pieces)
        file = self.put("any.txt", content)
        found = self.files.get("file-content", "any.txt", "&lines=10000").data()
        if "content" not in found:
            self.assertEqual("binary", found["type"])
            self.assertTrue(found["reason"])
            self.assertTrue(b"\0" in content or not is_utf8(content), content)
            return
        self.assertEqual((True, None), (found["editable"], found.get("reason")))
        text = found["content"]
        at %= len(text) + 1
        for now in (text, f"{text[:at]}Z{text[at:]}", text):
            base = hashlib.sha256(file.read_bytes()).hexdigest()
            body = {"path": "any.txt", "content": now, "baseHash": base}
            self.files.send("PUT", "file-content", body).data()
            before = len(text[:at].encode())
            letter = b"Z" if now is not text else b""
            self.assertEqual(content[:before] + letter + content[before:], file.read_bytes())

    def test_unpaired_surrogate_is_refused(self) -> None:
        file = self.put("a.txt", "before")
        base = hashlib.sha256(b"before").hexdigest()
        body = {"path": "a.txt", "content": "a\ud800b", "baseHash": base}
        self.refused(self.files.send("PUT", "file-content", body), 400, "INVALID_INPUT", "content")
        self.assertEqual("before", file.read_text())

    def test_uneditable_file_gives_the_reason(self) -> None:
        for name, content, words in (
            ("large.txt", (b"a" * 99 + b"\n") * 6_000, "larger than 512 KiB"),
            ("utf-16.txt", "a\n".encode("utf-16"), "UTF-16"),
            ("utf-32.txt", "a\n".encode("utf-32"), "UTF-32"),
            ("latin-1.txt", b"caf\xe9\n", "byte 4 is 0xE9"),
            ("late.txt", b"x" * 70_000 + b"\xe9", "byte 70001 is 0xE9"),
            ("nul.txt", b"a\0", "NUL"),
            ("huge.txt", b"x" * (10 * 1024**2 + 1), "larger than 10 MiB"),
        ):
            self.put(name, content)
            found = self.files.get("file-content", name).data()
            self.assertIn(words, found["reason"], name)
            self.assertFalse(found.get("editable"), name)

    # -- down

    def test_raw_file_supports_ranges_and_etags(self) -> None:
        content = os.urandom(LARGE)
        self.put("a.bin", content)
        whole = self.files.get("file-raw", "a.bin")
        self.assertEqual((200, content), (whole.status, whole.body))
        self.assertEqual(str(LARGE), whole.headers["content-length"])
        part = self.files.get("file-raw", "a.bin", Range="bytes=1000000-2000000")
        self.assertEqual((206, content[1000000:2000001]), (part.status, part.body))
        self.assertEqual(f"bytes 1000000-2000000/{LARGE}", part.headers["content-range"])
        tag = whole.headers["etag"]
        self.assertEqual(304, self.files.get("file-raw", "a.bin", If_None_Match=tag).status)
        again = self.files.get("file-raw", "a.bin", Range="bytes=0-0", If_Range='"other"')
        self.assertEqual((200, LARGE), (again.status, len(again.body)))
        behind = self.files.get("file-raw", "a.bin", Range=f"bytes={LARGE}-")
        self.assertEqual(
            (416, f"bytes */{LARGE}"), (behind.status, behind.headers["content-range"])
        )
        self.put("a.bin", b"changed")
        self.assertEqual(200, self.files.get("file-raw", "a.bin", If_None_Match=tag).status)
        self.put("empty", b"")
        self.assertEqual(b"", self.files.get("file-raw", "empty").body)

    def test_raw_file_is_never_served_as_a_page(self) -> None:
        for name in ("a.html", "a.svg", "a.pdf", "a.js", "a.xml", "none"):
            self.put(name, "<script>alert(1)</script>")
            headers = self.files.get("file-raw", name).headers
            self.assertTrue(headers["content-security-policy"].startswith("sandbox; "), name)
            self.assertNotIn("script-src", headers["content-security-policy"])
            self.assertEqual("nosniff", headers["x-content-type-options"])
        headers = self.files.get("file-raw", "a.html", "&download=1").headers
        self.assertTrue(headers["content-disposition"].startswith("attachment;"))

    def test_file_name_cannot_inject_a_header(self) -> None:
        self.put('q"\\\r\nSet-Cookie: a=b ü.txt')
        headers = self.files.get("file-raw", 'q"\\\r\nSet-Cookie: a=b ü.txt').headers
        self.assertNotIn("set-cookie", headers)
        self.assertIn("filename*=UTF-8''q%22%5C%0D%0ASet-Cookie", headers["content-disposition"])

    def test_head_of_a_raw_file_has_no_body(self) -> None:
        self.put("a.bin", b"x" * 1000)
        answer = self.daemon.request("HEAD", self.files.path("file-raw", "a.bin"))
        self.assertEqual((200, b""), (answer.status, answer.body))
        self.assertEqual("1000", answer.headers["content-length"])

    def test_folder_download_leaves_out_secrets(self) -> None:
        self.put("src/a.bin", os.urandom(LARGE))
        self.put("src/.env")
        where = f"/api/download?sessionId={self.files.session}&path=src"
        answer = self.daemon.request("GET", where)
        self.assertEqual("application/gzip", answer.headers["content-type"])
        self.assertIn('filename="src.tar.gz"', answer.headers["content-disposition"])
        with tarfile.open(fileobj=io.BytesIO(answer.body)) as found:
            self.assertEqual(["src", "src/a.bin"], found.getnames())
        self.assertEqual(LARGE, len(self.daemon.request("GET", where + "/a.bin").body))
        nobody = "/api/download?sessionId=none&path=src"
        self.refused(self.daemon.request("GET", nobody), 404, "NOT_FOUND")

    def test_disconnected_reader_releases_its_transfer(self) -> None:
        with self.put("huge", b"").open("wb") as stream:
            stream.truncate(200 * 1024 * 1024)
        before = self.descriptors()
        for _ in range(3):
            with self.files.connection() as connection:
                connection.request("GET", self.files.path("file-raw", "huge"))
                connection.getresponse().read(100_000)
        wait_until("descriptors are closed", lambda: self.descriptors() <= before)
        wait_until("nothing is on its way", lambda: "tservice_file_transfers 0.0" in self.metrics())

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.daemon.pid}/fd"))

    def metrics(self) -> str:
        return self.daemon.request("GET", "/metrics").body.decode()

    # -- following

    def messages(self, connection: Any) -> Iterator[Any]:
        connection.request("GET", self.files.path("tail-file", "log", "&lines=1"))
        answer = connection.getresponse()
        self.assertEqual("text/event-stream; charset=utf-8", answer.getheader("content-type"))
        while line := answer.readline():
            if line.startswith(b"data: "):
                yield json.loads(line[6:])

    def test_followed_file_streams_appended_lines(self) -> None:
        log = self.put("log", "before\nlast\n")
        with self.files.connection() as connection:
            told = self.messages(connection)
            self.assertEqual("connected", next(told)["type"])
            self.assertEqual("last\n", next(told)["data"])
            with log.open("a") as stream:
                stream.write("grown\n")
            self.assertEqual("grown\n", next(told)["data"])
            log.rename(self.folder / "log.1")
            log.write_text("rotated\n")
            self.assertEqual("truncated", next(told)["type"])
            self.assertEqual("rotated\n", next(told)["data"])
            log.unlink()
            self.put("other")
            log.write_text("again\n")
            self.assertEqual("truncated", next(told)["type"])
            self.assertEqual("again\n", next(told)["data"])
            os.truncate(log, 0)
            self.assertEqual({"type": "truncated"}, next(told))
        wait_until("the stream ended", lambda: "tservice_file_tails 0.0" in self.metrics())

    def test_every_rewrite_of_a_followed_file_is_seen(self) -> None:
        """Of 200, of several kinds: the listener has what is in the file, after each."""
        log = self.put("log", "begun\n")
        source = Random(4)
        lost: list[tuple[int, str]] = []
        with self.files.connection() as connection:
            told = self.messages(connection)
            next(told)
            held = ""
            for number in range(200):
                kind = [*REWRITES][number % len(REWRITES)]
                content = REWRITES[kind](log, f"{number}: {source.random()}\n")
                held = heard(told, content, held)
                with log.open("a") as stream:
                    stream.write(f"after {number}\n")
                content += f"after {number}\n"
                held = heard(told, content, held)
                if held != content:
                    lost.append((number, kind))
        self.assertEqual([], lost)

    def test_following_a_file_ends_with_its_session(self) -> None:
        self.put("log", "last\n")
        with self.files.connection() as connection:
            told = self.messages(connection)
            self.assertEqual(["connected", "data"], [next(told)["type"] for _ in range(2)])
            self.daemon.request("DELETE", f"/api/sessions/{self.files.session}").data()
            self.assertEqual([{"type": "end"}], list(told))

    def test_sixth_follow_stream_is_refused(self) -> None:
        self.put("log", "x\n")
        with self.files.connection() as a, self.files.connection() as b, \
                self.files.connection() as c, self.files.connection() as d, \
                self.files.connection() as e:  # fmt: skip
            for each in (a, b, c, d, e):
                next(self.messages(each))
            self.refused(self.files.get("tail-file", "log"), 429, "RATE_LIMITED")
        wait_until("the streams ended", lambda: "tservice_file_tails 0.0" in self.metrics())

    # -- up

    def test_uploads_are_stored_with_their_bytes(self) -> None:
        body = form_body(("file", "a.txt", b"one"), ("file", "b.bin", os.urandom(LARGE)))
        kept = self.files.post_form("uploads", body).data()["files"]
        self.assertEqual([3, LARGE], [each["size"] for each in kept])
        for each in kept:
            self.assertEqual(
                self.folder / ".service-uploads" / each["filename"], Path(each["path"])
            )
            self.assertEqual(each["size"], Path(each["path"]).stat().st_size)
        self.assertEqual("*\n", (self.folder / ".service-uploads/.gitignore").read_text())

    def test_pasted_image_is_stored_and_other_content_refused(self) -> None:
        kept = self.files.post_form("paste-image", form_body(("image", "x", PNG))).data()
        self.assertEqual(PNG, Path(kept["path"]).read_bytes())
        self.assertEqual((kept["path"], "path"), (kept["insert"], kept["attachment"]))
        wrong = self.files.post_form("paste-image", form_body(("image", "x.png", b"text")))
        self.refused(wrong, 400, "INVALID_INPUT", "image")

    def test_images_are_limited_to_thirty_a_minute(self) -> None:
        for _ in range(3):
            wrong = self.files.post_form("paste-image", form_body(("image", "x", b"text")))
            self.assertEqual(400, wrong.status)
        for _ in range(30):
            self.files.post_form("paste-image", form_body(("image", "x", PNG))).data()
        more = self.files.post_form("paste-image", form_body(("image", "x", PNG)))
        self.refused(more, 429, "RATE_LIMITED", "30 images a minute")
        self.files.post_form("uploads", form_body(("file", "x.png", PNG))).data()

    def test_malformed_uploads_are_refused(self) -> None:
        for body, kind, status, word in (
            (form_body(("file", "a", b"x")), "text/plain", 400, "content-type"),
            (form_body(("other", "a", b"x")), FORM, 400, "other"),
            (form_body(*[("file", "a", b"x")] * 21), FORM, 400, "20 files"),
            (form_body(("file", "a", b"x"))[:-6], FORM, 400, "whole"),
            (b"", FORM, 400, "whole"),
        ):
            answer = self.files.post_form("uploads", body, kind)
            self.assertEqual(status, answer.status, answer.body)
            self.assertIn(word, answer.json()["error"])
        self.assertEqual([".gitignore"], os.listdir(self.folder / ".service-uploads"))

    def test_disconnected_upload_leaves_no_file(self) -> None:
        with self.files.connection() as connection:
            connection.putrequest("POST", self.files.path("uploads"))
            connection.putheader("Content-Type", FORM)
            connection.putheader("Content-Length", str(LARGE))
            connection.endheaders()
            connection.send(form_body(("file", "a", b"x" * 100_000))[:50_000])
            wait_until("it is being written", lambda: self.uploads(".part"))
        wait_until("it is gone", lambda: not self.uploads(".part"))

    def uploads(self, end: str) -> list[str]:
        folder = self.folder / ".service-uploads"
        found = os.listdir(folder) if folder.is_dir() else []
        return [name for name in found if name.endswith(end)]

    def test_too_large_upload_is_refused_from_its_header(self) -> None:
        with self.files.connection() as connection:
            connection.putrequest("POST", self.files.path("paste-image"))
            connection.putheader("Content-Type", FORM)
            connection.putheader("Content-Length", str(10**9))
            connection.endheaders()
            self.assertEqual(413, read_answer(connection).status)

    # -- addresses for a browser

    def test_file_link_serves_one_file_without_a_login(self) -> None:
        self.put("a.txt", "content")
        self.put("src/b.txt", "content")
        made = self.files.send("POST", "file-link", {"path": "a.txt"}).data()
        shown = self.daemon.request("GET", made["url"])
        self.assertEqual((200, b"content"), (shown.status, shown.body))
        self.assertTrue(shown.headers["content-security-policy"].startswith("sandbox"))
        folder = self.files.send("POST", "file-link", {"path": "src", "download": True}).data()
        saved = self.daemon.request("GET", folder["url"])
        self.assertEqual("application/gzip", saved.headers["content-type"])
        self.refused(self.files.send("POST", "file-link", {"path": "none"}), 404, "NOT_FOUND")
        self.refused(self.files.send("POST", "file-link", {"path": "src"}), 400, "INVALID_INPUT")
        wrong = self.daemon.request("GET", "/api/file-link/" + "x" * 32)
        self.assertEqual(401, wrong.status)

    # -- deprecated

    def test_screenshots_route_still_works_and_is_deprecated(self) -> None:
        kept = self.files.post_form("/api/screenshots", form_body(("file", "a.png", PNG)))
        self.assertEqual("true", kept.headers["deprecation"])
        name = kept.data()["filename"]
        self.assertEqual(PNG, Path(kept.data()["path"]).read_bytes())
        listed = self.daemon.request("GET", "/api/screenshots").data()["screenshots"]
        self.assertEqual([name], [each["filename"] for each in listed])
        shown = self.daemon.request("GET", f"/api/screenshots/{name}")
        self.assertEqual((200, PNG, "image/png"),
                         (shown.status, shown.body, shown.headers["content-type"]))  # fmt: skip
        for wrong in ("none.png", "..%2f..%2fhook-secret", "screenshot-1-2.png"):
            self.assertEqual(404, self.daemon.request("GET", f"/api/screenshots/{wrong}").status)
        self.assertEqual(1, self.daemon.log.count("screenshots are deprecated"))
        document = self.daemon.request("GET", "/api/openapi.json").json()
        self.assertTrue(document["paths"]["/api/screenshots"]["get"]["deprecated"])
