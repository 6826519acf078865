"""Tests for L{tservice.client}: answers unwrapped, secrets where they belong, C{tsctl}."""

from __future__ import annotations

import json
import ssl
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from cryptography import x509
from OpenSSL import SSL
from service_identity import VerificationError
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.error import ConnectionDone
from twisted.internet.task import Clock
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase
from twisted.web.client import ResponseNeverReceived

from tservice.audit.model import Entry
from tservice.audit.service import open_audit_log
from tservice.client import auditing
from tservice.client.api import ApiError, Client, unwrap
from tservice.client.ctl import (
    BROKEN,
    FAILED,
    Shell,
    call_command,
    client_of,
    parser,
    tls_command,
    verify_command,
)
from tservice.core.files import FileError
from tservice.store.database import Database

NOW = 1_800_000_000.0


class Recorder:
    """A transport that answers what it is told to."""

    def __init__(self, status: int = 200, content: bytes = b'{"success":true,"data":{}}') -> None:
        self.status, self.body = status, content
        self.sent: list[tuple[str, str, dict[str, Any]]] = []

    async def request(self, method: str, url: str, **options: Any) -> Any:
        self.sent.append((method, url, options))
        return SimpleNamespace(code=self.status)

    async def content(self, response: Any) -> bytes:
        return self.body


class Broken(Recorder):
    """A transport whose connections break."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    async def request(self, method: str, url: str, **options: Any) -> Any:
        raise self._error


class ClientTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.wire = Recorder()
        self.client = Client("http://h:1/base/", token="tsk_x", transport=self.wire)

    def run_now(self, work: Any) -> Any:
        return self.successResultOf(Deferred.fromCoroutine(work))

    def test_a_call(self) -> None:
        query = {"a": "x y", "b": None}
        self.assertEqual({}, self.run_now(self.client.call("GET", "/s", query=query)))
        [(method, url, options)] = self.wire.sent
        self.assertEqual(("GET", "http://h:1/base/api/v1/s?a=x+y"), (method, url))
        self.assertEqual({"Authorization": "Bearer tsk_x"}, options["headers"])
        self.assertNotIn("data", options)

    def test_a_login(self) -> None:
        client = Client("http://h", login=("ann", "secret"), transport=self.wire)
        self.run_now(client.call("GET", "/s"))
        self.assertEqual(("ann", "secret"), self.wire.sent[0][2]["auth"])

    def test_typing_and_waiting(self) -> None:
        work = self.client.send("a/b", "x", wait="stop", timeout_ms=5000, client_id="c", seq=3)
        self.run_now(work)
        [(_, url, options)] = self.wire.sent
        self.assertTrue(url.endswith("/sessions/a%2Fb/input"))
        self.assertEqual(65.0, options["timeout"])
        self.assertEqual(
            {
                "input": "x",
                "useMux": True,
                "wait": "stop",
                "waitTimeout": 5000,
                "clientId": "c",
                "seq": 3,
            },
            json.loads(options["data"]),
        )

    def test_the_others(self) -> None:
        self.wire.body = b'{"success":true,"data":{"session":{"id":"1"}}}'
        self.assertEqual({"id": "1"}, self.run_now(self.client.create(mode="shell")))
        self.run_now(self.client.sessions())
        self.run_now(self.client.terminal("1", full=True))
        self.run_now(self.client.delete("1"))
        self.assertEqual(
            ["POST /sessions", "GET /sessions", "GET /sessions/1/terminal?full=1",
             "DELETE /sessions/1"],
            [f"{method} {url.partition('/api/v1')[2]}" for method, url, _ in self.wire.sent],
        )  # fmt: skip

    def test_errors(self) -> None:
        envelope = b'{"success":false,"error":"no","errorCode":"NOT_FOUND"}'
        for status, content, code in (
            (404, envelope, "NOT_FOUND"),
            (401, b"Unauthorized", None),
            (502, b"<html>", None),
            (200, b"[]", None),
            (200, b"\xff", None),
        ):
            error = self.assertRaises(ApiError, unwrap, status, content)
            self.assertEqual((status, code), (error.status, error.code))


class CommandCase(SynchronousTestCase):
    def setUp(self) -> None:
        self.folder = Path(self.mktemp())
        self.folder.mkdir()
        self.shell = Shell(environ={}, home=self.folder, now=NOW, out=StringIO(), error=StringIO())

    @property
    def said(self) -> str:
        shell: Any = self.shell
        return f"{shell.out.getvalue()}{shell.error.getvalue()}"


class VerifyTests(CommandCase):
    """C{tsctl audit verify} over a log on disk."""

    def setUp(self) -> None:
        super().setUp()
        database = Database.open(self.folder / auditing.DATABASE, clock=Clock())
        log = open_audit_log(self.folder, database, Clock(), lambda size: b"k" * size)
        for number in range(20):
            log.record(Entry(action="login", actor=f"user-{number}", address="192.0.2.1"))
        database.close()

    def verify(self) -> int:
        words = parser().parse_args(["audit", "verify", "--data-dir", str(self.folder)])
        return verify_command(words, self.shell)

    def sql(self, text: str) -> None:
        database = Database.open(self.folder / auditing.DATABASE, clock=Clock())
        database.execute(text)
        database.close()

    def test_in_order(self) -> None:
        self.assertEqual(0, self.verify())
        self.assertEqual("20 rows, all in order\n", self.said)

    def test_edits(self) -> None:
        for text in (
            "UPDATE audit_log SET actor = 'user-8' WHERE seq = 8",
            "DELETE FROM audit_log WHERE seq = 3",
            "DELETE FROM audit_log WHERE seq = 1",
            "DELETE FROM audit_log WHERE seq = 20",
            "DELETE FROM audit_log",
        ):
            self.setUp()
            self.sql(text)
            self.assertEqual(BROKEN, self.verify(), text)
            self.assertIn("BROKEN", self.said)

    def test_any_byte_of_a_row_in_the_file(self) -> None:
        """Not through SQL: in the file itself."""
        path = self.folder / auditing.DATABASE
        content = path.read_bytes()
        for word in (b"user-7", b"login", b"192.0.2.1"):
            place = content.rindex(word)
            for offset in range(len(word)):
                changed = bytearray(content)
                changed[place + offset] ^= 1
                path.write_bytes(changed)
                self.assertNotEqual(0, self.verify(), (word, offset))
        path.write_bytes(content)
        self.assertEqual(0, self.verify())

    def test_the_head(self) -> None:
        (self.folder / auditing.HEAD).unlink()
        self.assertEqual(BROKEN, self.verify())

    def test_nothing_to_look_at(self) -> None:
        (self.folder / auditing.KEY).unlink()
        self.assertEqual(FAILED, self.verify())
        self.assertEqual(
            f"tsctl: no audit log in {self.folder}: name the service's data folder by --data-dir\n",
            self.said,
        )

    def test_a_file_in_the_place_of_the_folder(self) -> None:
        self.folder = self.folder / auditing.KEY
        self.assertEqual(FAILED, self.verify())
        self.assertIn(f"no audit log in {self.folder}: ", self.said)

    def test_a_log_of_another_user(self) -> None:
        """Root may read everything, so the refusal is played."""

        def refuse(path: Path, **_: object) -> str:
            raise PermissionError(13, "Permission denied", str(path))

        self.patch(auditing, "read_text", refuse)
        self.assertEqual(FAILED, self.verify())
        key = self.folder / auditing.KEY
        self.assertEqual(f"tsctl: {key}: Permission denied\n", self.said)


class TlsTests(CommandCase):
    """C{tsctl tls}."""

    def make(self, *words: str) -> int:
        out = str(self.folder / "tls")
        return tls_command(parser().parse_args(["tls", "--out", out, *words]), self.shell)

    def test_made(self) -> None:
        self.assertEqual(0, self.make("box.example", "192.0.2.7", "::1"))
        key, certificate = self.folder / "tls/key.pem", self.folder / "tls/certificate.pem"
        self.assertEqual(0o600, key.stat().st_mode & 0o777)
        found = x509.load_pem_x509_certificate(certificate.read_bytes())
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        self.assertEqual(["box.example"], names.get_values_for_type(x509.DNSName))
        self.assertEqual(2, len(names.get_values_for_type(x509.IPAddress)))
        self.assertEqual(397, (found.not_valid_after_utc - found.not_valid_before_utc).days)
        ssl.create_default_context().load_cert_chain(certificate, key)
        # Wherever the service is then started from.
        self.assertIn("--listen=ssl:8443:privateKey=/", self.said)

    def test_names(self) -> None:
        names = ["Box", "xn--bcher-kva.example", "*.box.example", "1and1.example", "x" * 63]
        self.assertEqual(0, self.make(*names))

    def test_nothing_is_overwritten(self) -> None:
        self.make("a")
        before = (self.folder / "tls/key.pem").read_bytes()
        self.assertEqual(FAILED, self.make("a"))
        self.assertEqual(before, (self.folder / "tls/key.pem").read_bytes())

    def test_refused(self) -> None:
        self.assertEqual(FAILED, self.make("--days", "9999", "a"))
        for name in (
            "not a name!", "", "bücher.example", "a..b", "a.-b", "a-", "a_b", "box.example.", ".a",
            "192.0.2.300", "192.0.2", "[::1]", "http://a", "a:8443", "*", "a.*",
            "x" * 64, ".".join(["x" * 60] * 5), "a\nb", "a\n",
        ):  # fmt: skip
            self.assertEqual(FAILED, self.make("box.example", name), name)
            *_, line = self.said.splitlines()
            self.assertEqual(f"tsctl: {name!r} is neither a DNS name nor an IP address", line)
        self.assertFalse((self.folder / "tls/key.pem").exists())


class CallTests(CommandCase):
    """C{tsctl call}, and where its secrets come from."""

    def call(self, wire: Recorder, *words: str) -> int:
        client = Client("http://h", transport=wire)
        work = call_command(parser().parse_args(["call", *words]), self.shell, client)
        status: int = self.successResultOf(Deferred.fromCoroutine(work))
        return status

    def test_success_and_failure(self) -> None:
        self.assertEqual(0, self.call(Recorder(), "post", "/x", '{"a": 1}'))
        self.assertEqual(FAILED, self.call(Recorder(401, b"Unauthorized"), "GET", "/x"))
        self.assertEqual(FAILED, self.call(Recorder(), "POST", "/x", "{"))
        self.assertIn("401: Unauthorized", self.said)

    def test_a_path_without_its_slash(self) -> None:
        for path in ("status", "/status"):
            wire = Recorder()
            self.assertEqual(0, self.call(wire, "get", path))
            self.assertEqual("http://h/api/v1/status", wire.sent[0][1])

    def test_connections_that_break(self) -> None:
        """What ends one comes wrapped, and as a list; one line says what it is."""
        untrusted = SSL.Error([("SSL routines", "", "certificate verify failed")])
        for reasons, want in (
            ([untrusted], "is not trusted: set SSL_CERT_FILE"),
            ([VerificationError(errors=[])], "not for the name in TSCTL_URL"),
            ([ConnectionDone(), SSL.Error([("SSL routines", "", "wrong version number")])],
             "Connection was closed cleanly.; [('SSL routines', '', 'wrong version number')]"),
            ([CancelledError()], "CancelledError"),
        ):  # fmt: skip
            self.setUp()
            failures = [Failure(reason) for reason in reasons]
            self.assertEqual(FAILED, self.call(Broken(ResponseNeverReceived(failures)), "GET", "/"))
            self.assertRegex(self.said, r"^tsctl: .*\n$")
            self.assertIn(want, self.said)

    def test_secrets(self) -> None:
        path = self.folder / "token"
        path.write_text("tsk_file\n")
        path.chmod(0o600)
        found = client_of({"TSCTL_TOKEN_FILE": str(path), "TSCTL_PASSWORD": "x"})
        self.assertEqual({"Authorization": "Bearer tsk_file"}, found._headers)
        self.assertIsNone(found._login)
        path.chmod(0o644)
        self.assertRaises(FileError, client_of, {"TSCTL_TOKEN_FILE": str(path)})
        self.assertEqual(("admin", "x"), client_of({"TSCTL_PASSWORD": "x"})._login)
