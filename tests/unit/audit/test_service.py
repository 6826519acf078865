"""Tests for L{tservice.audit}: what is kept, what is added up, what never is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.http.driver import Api, OpenGate
from tservice.audit.model import HEAD_FILE, KEY_FILE, LONGEST_WORD, AuditEntry
from tservice.audit.routes import AuditRoutes, made
from tservice.audit.service import (
    FAILURE_SECONDS,
    TYPING_SECONDS,
    AuditFilter,
    AuditLog,
    audit_key,
    open_audit_log,
)
from tservice.audit.summing import MAX_OPEN
from tservice.core.errors import StartError, failed
from tservice.core.identity import Identity
from tservice.http.models import Body
from tservice.http.operations import Access, Audit, Call, Operation, Reply
from tservice.store.chain import read_head, verify
from tservice.store.database import Database


class AuditCase(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.database = Database.in_memory(clock=self.clock)
        self.addCleanup(self.database.close)
        self.folder = Path(self.mktemp())
        self.folder.mkdir()
        self.log = self.start()
        self.addCleanup(lambda: self.log.close())

    def start(self) -> AuditLog:
        return open_audit_log(self.folder, self.database, self.clock, lambda size: b"k" * size)

    def entries(self, **wanted: Any) -> list[dict[str, Any]]:
        """The oldest first."""
        return self.log.find(AuditFilter(**{"limit": 500, **wanted}))[::-1]

    def actions(self, **wanted: Any) -> list[str]:
        return [entry["action"] for entry in self.entries(**wanted)]


class LogTests(AuditCase):
    def test_what_a_kill_left_of_its_head(self) -> None:
        left = self.folder / f".{HEAD_FILE}.abcdefgh.tmp"
        left.write_text("half")
        self.start().close()
        self.assertFalse(left.exists())

    def test_kept(self) -> None:
        self.clock.advance(7)
        self.log.record(AuditEntry(action="login", actor="ann", address="::1", detail={"a": 1}))
        [entry] = self.entries()
        self.assertEqual((7000, "ann", {"a": 1}), (entry["at"], entry["actor"], entry["detail"]))

    def test_a_caller_s_words_are_bounded_and_storable(self) -> None:
        self.log.record(AuditEntry(action="a", target="\ud800\0" + "x" * 9999))
        self.log.record(AuditEntry(action="b", detail={"x": "y" * 9999}))
        first, second = self.entries()
        self.assertEqual(LONGEST_WORD, len(first["target"]))
        self.assertIn("tooLong", second["detail"])

    def test_filters_and_pages(self) -> None:
        for number in range(5):
            self.clock.advance(1)
            actor = "ann" if number % 2 else "bob"
            self.log.record(AuditEntry(action=f"POST /{number}", actor=actor, target=str(number)))
        self.assertEqual(["POST /1", "POST /3"], self.actions(actor="ann"))
        self.assertEqual(["POST /4"], self.actions(target="4"))
        self.assertEqual([], self.actions(action="OST"))
        self.assertEqual(5, len(self.actions(action="POST /")))
        self.assertEqual(["POST /1", "POST /2"], self.actions(since=2000, until=3000))
        self.assertEqual(["POST /3", "POST /4"], self.actions(limit=2))
        self.assertEqual(["POST /1", "POST /2"], self.actions(limit=2, before=4))

    def test_a_fault_of_the_store_stops_nobody(self) -> None:
        self.database.execute("DROP TABLE audit_log")
        self.log.record(AuditEntry(action="x"))
        self.assertEqual(1, len(self.flushLoggedErrors()))

    def test_a_cut_is_told_at_the_start(self) -> None:
        for _ in range(3):
            self.log.record(AuditEntry(action="x"))
        self.database.execute("DELETE FROM audit_log WHERE seq = 3")
        self.log = self.start()
        self.assertEqual(["x", "x", "audit.broken"], self.actions())
        self.assertEqual([4], [e["seq"] for e in self.entries(action="audit")])

    def test_it_verifies(self) -> None:
        self.log.record(AuditEntry(action="ä\ud800", detail={"b": "\0"}))
        self.log.summed(AuditEntry(action="input"), 5)
        self.log.close()
        key = audit_key(self.folder, lambda size: b"")
        rows = [dict(row) for row in self.database.query("SELECT * FROM audit_log ORDER BY seq")]
        found = verify(rows, read_head(self.folder / HEAD_FILE, key), key)
        self.assertEqual((2, None), (found.rows, found.fault))

    def test_the_key_is_private(self) -> None:
        path = self.folder / KEY_FILE
        self.assertEqual(0o600, path.stat().st_mode & 0o777)
        path.chmod(0o644)
        self.assertRaises(StartError, self.start)
        path.chmod(0o600)
        path.write_text("short")
        self.assertRaises(StartError, self.start)


class SummingTests(AuditCase):
    def type(self, length: int, target: str = "s", actor: str = "ann") -> None:
        entry = AuditEntry(
            action="input", actor=actor, target=target, detail={"source": "websocket"}
        )
        self.log.summed(entry, length)

    def test_typing_is_one_entry_a_window(self) -> None:
        for _ in range(30):
            self.type(2)
        self.type(5, actor="bob")
        self.assertEqual([], self.entries())
        self.clock.advance(TYPING_SECONDS)
        first, second = self.entries()
        self.assertEqual({"source": "websocket", "times": 30, "length": 60}, first["detail"])
        self.assertEqual(("bob", "s"), (second["actor"], second["target"]))
        self.type(1)
        self.clock.advance(TYPING_SECONDS)
        self.assertEqual(3, len(self.entries()))

    def test_a_stop_writes_what_is_open(self) -> None:
        self.type(2)
        self.log.close()
        self.assertEqual(["input"], self.actions())
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_windows_are_bounded(self) -> None:
        for number in range(MAX_OPEN + 50):
            self.type(1, target=str(number))
        self.clock.advance(TYPING_SECONDS)
        self.assertEqual(MAX_OPEN + 1, len(self.entries()))
        self.assertEqual(
            [("(others)", 50)],
            [(e["action"], e["detail"]["times"]) for e in self.entries(action="(others)")],
        )

    def test_failures(self) -> None:
        for number in range(40):
            self.log.failed("basic", "1.2.3.4", "ann", number >= 10)
        [first] = self.entries()
        self.assertEqual({"bucket": "basic", "locked": False, "username": "ann"}, first["detail"])
        self.clock.advance(FAILURE_SECONDS)
        [_, second] = self.entries()
        self.assertEqual({"bucket": "basic", "times": 40, "locked": 30}, second["detail"])

    def test_one_failure_is_one_entry(self) -> None:
        self.log.failed("hook", "127.0.0.1", None, False)
        self.clock.advance(FAILURE_SECONDS)
        self.assertEqual(1, len(self.entries()))

    def test_a_flood_from_everywhere_is_bounded(self) -> None:
        for number in range(10_000):
            self.log.failed("basic", f"10.0.{number >> 8}.{number & 255}", None, False)
        self.clock.advance(FAILURE_SECONDS)
        self.assertEqual(MAX_OPEN + 1, len(self.entries()))


class TypeBody(Body):
    """Looks like an input."""

    input: str
    mode: str | None = None


class SecretBody(Body):
    """Looks like a change of a password."""

    new_password: str


class HeardTests(AuditCase):
    """What the kernel tells, over a real site."""

    def setUp(self) -> None:
        super().setUp()
        self.routes = AuditRoutes(self.log)
        who = Identity(username="ann", admin=True, method="cookie")
        self.api = Api(
            [
                self.operation("POST", "/api/things/{id}", body=SecretBody),
                self.operation("POST", "/api/type/{id}", body=TypeBody, audit=Audit.SUMMED),
                self.operation("POST", "/api/bad", handler=self.bad),
                self.operation("POST", "/api/made", handler=self.make),
                self.operation("POST", "/api/hook", access=Access.HOOK),
                self.operation("GET", "/api/read"),
                *self.routes.operations(),
            ],
            OpenGate(who),
            heard=self.routes.heard,
        )
        self.addCleanup(self.api.close)

    def operation(self, method: str, path: str, **fields: Any) -> Operation:
        given = {"access": Access.USER, "handler": self.nothing, "summary": "", "tag": "t"}
        return Operation(method=method, path=path, **{**given, **fields})

    async def nothing(self, call: Call) -> object:
        return {}

    async def bad(self, call: Call) -> object:
        raise failed("no")

    async def make(self, call: Call) -> object:
        return Reply(content={"session": {"id": "new"}})

    def test_which_fields_and_never_a_value(self) -> None:
        self.api.post("/api/things/7", {"newPassword": "hunter2hunter2"})
        [entry] = self.entries()
        self.assertEqual(
            ("ann", "cookie", "POST /api/things/{id}", "7", {"fields": ["new_password"]}),
            tuple(entry[k] for k in ("actor", "method", "action", "target", "detail")),
        )
        self.assertNotIn("hunter2", repr(entry))

    def test_length_and_never_the_text(self) -> None:
        self.api.post("/api/type/7", {"input": "rm -rf hunter2"})
        self.clock.advance(TYPING_SECONDS)
        [entry] = self.entries()
        self.assertEqual({"source": "http", "times": 1, "length": 14}, entry["detail"])

    def test_what_failed_is_kept_too(self) -> None:
        self.api.post("/api/bad", None)
        self.assertEqual([{"error": "OPERATION_FAILED"}], [e["detail"] for e in self.entries()])

    def test_the_name_of_what_was_made(self) -> None:
        self.api.post("/api/made", None)
        self.assertEqual(["new"], [e["target"] for e in self.entries()])
        self.assertEqual("", made("text"))
        self.assertEqual("x", made({"sessionId": "x"}))

    def test_reading_and_hooks_are_not_kept(self) -> None:
        self.api.get("/api/read")
        self.api.post("/api/hook", None)
        self.assertEqual([], self.entries())

    def test_over_http(self) -> None:
        for number in range(5):
            self.log.record(AuditEntry(action=f"a{number}"))
        page = self.api.get("/api/admin/audit?limit=2").data
        self.assertEqual(["a4", "a3"], [entry["action"] for entry in page["entries"]])
        page = self.api.get(f"/api/admin/audit?limit=9&before={page['next']}").data
        self.assertEqual(["a2", "a1", "a0"], [entry["action"] for entry in page["entries"]])
        self.assertNotIn("next", page)
        self.assertNotIn("hash", page["entries"][0])
        self.assertEqual(400, self.api.get("/api/admin/audit?limit=501").status)

    def test_operations_by_their_path(self) -> None:
        """Whatever the method; a word without a path is not one of them."""
        for action in ("POST /api/tokens", "DELETE /api/tokens/{id}", "PUT /api/x", "login"):
            self.log.record(AuditEntry(action=action))
        page = self.api.get("/api/admin/audit?path=/api/tokens").data
        found = [entry["action"] for entry in page["entries"]]
        self.assertEqual(["DELETE /api/tokens/{id}", "POST /api/tokens"], found)
        self.assertEqual(400, self.api.get(f"/api/admin/audit?path={'x' * 257}").status)

    def test_a_fault_of_the_log_is_not_the_caller_s(self) -> None:
        def fail(call: Call, outcome: object) -> None:
            raise ZeroDivisionError

        self.api.kernel._heard = fail
        self.assertEqual(422, self.api.post("/api/bad", None).status)
        self.assertEqual(1, len(self.flushLoggedErrors(ZeroDivisionError)))
