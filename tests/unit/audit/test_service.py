"""Tests for L{tservice.audit}: what is kept, what is added up, what never is kept."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from twisted.internet.task import Clock
from twisted.logger import capturedLogs
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.http.site_driver import ApiHarness, OpenGate
from tservice.audit import export
from tservice.audit.event_sums import MAX_OPEN
from tservice.audit.export import open_export
from tservice.audit.model import BOUNDS, LONGEST_WORD, ORDINARY, SIGN_INS, AuditEntry
from tservice.audit.routes import AuditRoutes, find_created_name
from tservice.audit.service import (
    FAILURE_SECONDS,
    REPEAT_SECONDS,
    TYPING_SECONDS,
    AuditFilter,
    AuditLog,
)
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, StartError, make_failure_error
from tservice.http.operation_decorator import collect_operations
from tservice.http.operations import AccessRule, AuditMode, Operation, OperationCall, RawReply
from tservice.http.validation.models import RequestBody
from tservice.store.database import Database
from tservice.store.schemas import find_packaged_schemas, read_steps


class AuditCase(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.database = Database.open_in_memory(clock=self.clock)
        self.addCleanup(self.database.close)
        self.log = self.start()
        self.addCleanup(lambda: self.log.close())

    def start(self) -> AuditLog:
        return AuditLog(self.database, self.clock)

    def entries(self, **wanted: Any) -> list[dict[str, Any]]:
        """The oldest first."""
        return self.log.find_entries(AuditFilter(**{"limit": 500, **wanted}))[::-1]

    def actions(self, **wanted: Any) -> list[str]:
        return [entry["action"] for entry in self.entries(**wanted)]


class AuditLogTests(AuditCase):
    def test_entry_is_stored_with_its_time(self) -> None:
        self.clock.advance(7)
        self.log.record_entry(
            AuditEntry(action="login", actor="ann", address="::1", detail={"a": 1})
        )
        [entry] = self.entries()
        self.assertEqual((7000, "ann", {"a": 1}), (entry["at"], entry["actor"], entry["detail"]))

    def test_quoted_input_is_bounded_and_storable(self) -> None:
        self.log.record_entry(AuditEntry(action="a", target="\ud800\0" + "x" * 9999))
        self.log.record_entry(AuditEntry(action="b", detail={"x": "y" * 9999}))
        first, second = self.entries()
        self.assertEqual(LONGEST_WORD, len(first["target"]))
        self.assertIn("tooLong", second["detail"])

    def test_entries_are_filtered_and_paged(self) -> None:
        for number in range(5):
            self.clock.advance(1)
            actor = "ann" if number % 2 else "bob"
            self.log.record_entry(
                AuditEntry(action=f"POST /{number}", actor=actor, target=str(number))
            )
        self.assertEqual(["POST /1", "POST /3"], self.actions(actor="ann"))
        self.assertEqual(["POST /4"], self.actions(target="4"))
        self.assertEqual([], self.actions(action="OST"))
        self.assertEqual(5, len(self.actions(action="POST /")))
        self.assertEqual(["POST /1", "POST /2"], self.actions(since=2000, until=3000))
        self.assertEqual(["POST /3", "POST /4"], self.actions(limit=2))
        self.assertEqual(["POST /1", "POST /2"], self.actions(limit=2, before=4))

    def test_failing_store_does_not_fail_the_caller(self) -> None:
        self.database.execute("DROP TABLE audit_log")
        self.log.record_entry(AuditEntry(action="x"))
        self.assertEqual(1, len(self.flushLoggedErrors()))


class PartTests(AuditCase):
    """Which entries displace which."""

    def start(self) -> AuditLog:
        return AuditLog(self.database, self.clock, bounds=dict.fromkeys(BOUNDS, 20))

    def flood(self, actor: str, many: int = 200, action: str = "PUT /api/session-order") -> None:
        for number in range(many):
            entry = AuditEntry(action=action, actor=actor, target=f"{actor}{number}")
            self.log.record_entry(entry)

    def test_ordinary_entries_displace_no_protected_entry(self) -> None:
        kept = (
            "login",
            "POST /api/logout",
            "POST /api/tokens",
            "DELETE /api/tokens/{id}",
            "POST /api/approvals/{item}/answer",
            "PATCH /api/admin/users/{name}",
            "PUT /api/me/password",
            "DELETE /api/sessions/{id}",
        )
        for action in kept:
            self.log.record_entry(AuditEntry(action=action, actor="ann"))
        self.flood("ann")
        self.flood("bob")
        found = self.actions(actor="ann")
        self.assertEqual(set(kept), set(found) & set(kept))
        self.assertLessEqual(len(found), len(kept) + 10)

    def test_entries_of_one_actor_displace_no_others(self) -> None:
        for number in range(8):
            self.flood(f"user{number}", 1)
        self.flood("evil")
        self.flood("eve")
        found = [entry["actor"] for entry in self.entries()]
        self.assertEqual({f"user{number}" for number in range(8)}, set(found) - {"evil", "eve"})
        self.assertLessEqual(len(found), 20)

    def test_newest_entries_of_an_actor_stay(self) -> None:
        self.flood("ann", 33)
        targets = [entry["target"] for entry in self.entries()]
        self.assertEqual([f"ann{number}" for number in range(23, 33)], targets)

    def test_deletions_displace_no_approval_from_the_audit_log(self) -> None:
        self.log.record_entry(AuditEntry(action="POST /api/approvals/{item}/answer", actor="ann"))
        self.flood("ann", action="DELETE /api/sessions/{id}")
        self.assertIn("POST /api/approvals/{item}/answer", self.actions())

    def test_refused_request_is_an_ordinary_entry(self) -> None:
        """One that failed on a full disk, or whose caller left, may have had its effect."""
        for error in ("OPERATION_FAILED", "INTERNAL_ERROR", "CancelledError"):
            entry = AuditEntry(action="DELETE /api/tokens/{id}", detail={"error": error})
            self.assertEqual("tokens", entry.part)
        failed = AuditEntry(action="DELETE /api/tokens/{id}", detail={"error": "NOT_FOUND"})
        self.assertEqual(ORDINARY, failed.part)
        self.assertEqual(SIGN_INS, AuditEntry(action="login.locked").part)

    def test_audit_log_bounds_hold_after_a_restart(self) -> None:
        self.log = AuditLog(self.database, self.clock)
        for number in range(40):
            self.flood(f"user{number}", 3)
        self.flood("ann")
        self.log = self.start()
        self.assertEqual(20, len(self.entries()))
        self.flood("bob", 5)
        self.assertLessEqual(len(self.entries()), 20)

    def test_entries_of_an_earlier_release_are_assigned_their_kind(self) -> None:
        steps = read_steps(find_packaged_schemas())
        at = next(n for n, text in enumerate(steps) if "audit_log_in_parts" in text)
        old = Database.open_in_memory(schemas=steps[:at])
        self.addCleanup(old.close)
        actions = (
            "login",
            "input",
            "PUT /api/settings",
            "PUT /api/me/password",
            "DELETE /api/x",
            "cron.run",
            "POST /api/tokens",
            "DELETE /api/tokens/{id}",
            "POST /api/approvals/{item}/answer",
            "POST /api/approvals/session/{id}/viewed",
            "POST /api/admin/users",
        )
        entries = [
            AuditEntry(action=action, detail=detail)
            for action in actions
            for detail in ({}, *({"error": code.value} for code in ErrorCode), {"error": "X"})
        ]
        names = "at, actor, method, address, action, target, detail, hash"
        for entry in entries:
            old.execute(
                f"INSERT INTO audit_log ({names}) VALUES"
                " (1, :actor, :method, :address, :action, :target, :detail, x'00')",
                entry.column_values(),
            )
        old._connection.executescript(steps[at])
        rows = old.query_rows("SELECT part FROM audit_log ORDER BY seq")
        self.assertEqual([entry.part for entry in entries], [row["part"] for row in rows])


class AuditRepeatTests(AuditCase):
    """Equal entries."""

    def test_equal_entries_are_summed(self) -> None:
        entry = AuditEntry(action="PUT /api/session-order", actor="ann", detail={"fields": ["a"]})
        for _ in range(5000):
            self.log.record_entry(entry)
        self.assertEqual(1, len(self.entries()))
        self.clock.advance(REPEAT_SECONDS)
        _, sums = self.entries()
        self.assertEqual({"fields": ["a"], "times": 5000}, sums["detail"])
        self.log.record_entry(entry)
        self.assertEqual(3, len(self.entries()))

    def test_too_many_different_entries_are_written_separately(self) -> None:
        self.log = AuditLog(self.database, self.clock)
        for number in range(MAX_OPEN + 30):
            self.log.record_entry(AuditEntry(action="x", target=str(number)))
        self.log.record_entry(AuditEntry(action="x", target=str(MAX_OPEN + 1)))
        self.assertEqual(MAX_OPEN + 31, len(self.entries()))


class ExportTests(AuditCase):
    """Each entry elsewhere, as it is made."""

    def setUp(self) -> None:
        super().setUp()
        self.path = Path(self.mktemp()).absolute()

    def exported(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def test_entries_are_exported_to_a_file(self) -> None:
        self.log = AuditLog(self.database, self.clock, open_export(str(self.path)))
        self.log.record_entry(AuditEntry(action="login", actor="ann", detail={"a": 1}))
        [row] = self.exported()
        self.assertEqual(("ann", "login", {"a": 1}), (row["actor"], row["action"], row["detail"]))
        self.assertEqual(0o600, self.path.stat().st_mode & 0o777)
        self.path.rename(f"{self.path}.1")
        self.log.record_entry(AuditEntry(action="after a rotation\n"))
        self.assertEqual(["after a rotation\n"], [row["action"] for row in self.exported()])

    def test_unwritable_audit_export_file_stops_the_start(self) -> None:
        for path, reason in (
            (self.path / "none", "No such file or directory"),
            (Path("/dev/null"), "must be a regular file"),
        ):
            error = self.assertRaises(StartError, open_export, str(path))
            self.assertEqual(f"tservice: audit-export: {path}: {reason}", str(error))

    def test_entries_are_exported_to_syslog(self) -> None:
        folder = TemporaryDirectory()  # short enough for a socket's path
        self.addCleanup(folder.cleanup)
        path = f"{folder.name}/log"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as daemon:
            daemon.bind(path)
            self.patch(export, "_SOCKET", path)
            self.log = AuditLog(self.database, self.clock, open_export("syslog"))
            self.log.record_entry(AuditEntry(action="login", actor="ann"))
            head, _, text = daemon.recv(9999).decode().partition(": audit ")
        self.assertRegex(head, r"^<86>tservice\[\d+\]$")
        self.assertEqual("ann", json.loads(text)["actor"])

    def test_failed_export_is_logged_once_and_keeps_the_entries(self) -> None:
        self.patch(export, "_SOCKET", str(self.path))
        self.log = AuditLog(self.database, self.clock, open_export("syslog"))
        with capturedLogs() as lines:
            for number in range(3):
                self.log.record_entry(AuditEntry(action=f"a{number}"))
        self.assertEqual(1, len([each for each in lines if "exported" in each["log_format"]]))
        self.assertEqual(3, len(self.entries()))


class SummingTests(AuditCase):
    def type(self, length: int, target: str = "s", actor: str = "ann") -> None:
        entry = AuditEntry(
            action="input", actor=actor, target=target, detail={"source": "websocket"}
        )
        self.log.record_summed(entry, length)

    def test_typing_is_one_entry_per_window(self) -> None:
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

    def test_stop_writes_open_sums(self) -> None:
        self.type(2)
        self.log.close()
        self.assertEqual(["input"], self.actions())
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_open_windows_are_bounded(self) -> None:
        for number in range(MAX_OPEN + 50):
            self.type(1, target=str(number))
        self.clock.advance(TYPING_SECONDS)
        self.assertEqual(MAX_OPEN + 1, len(self.entries()))
        self.assertEqual(
            [("ann", 50)],
            [(e["actor"], e["detail"]["times"]) for e in self.entries(action="(others)")],
        )

    def test_sum_of_the_remaining_entries_names_its_actor(self) -> None:
        """Nobody's typing is hidden in somebody else's."""
        for number in range(MAX_OPEN + 50):
            self.type(1, target=str(number))
        self.type(7, actor="bob")
        self.clock.advance(TYPING_SECONDS)
        [rest] = self.entries(action="(others)", actor="bob")
        self.assertEqual(7, rest["detail"]["length"])

    def test_failed_logins_are_summed(self) -> None:
        for number in range(40):
            self.log.record_failure("basic", "1.2.3.4", "ann", number >= 10)
        [first] = self.entries()
        self.assertEqual({"bucket": "basic", "locked": False, "username": "ann"}, first["detail"])
        self.clock.advance(FAILURE_SECONDS)
        [_, second] = self.entries()
        self.assertEqual({"bucket": "basic", "times": 40, "locked": 30}, second["detail"])

    def test_single_failure_is_one_entry(self) -> None:
        self.log.record_failure("hook", "127.0.0.1", None, False)
        self.clock.advance(FAILURE_SECONDS)
        self.assertEqual(1, len(self.entries()))

    def test_flood_from_many_addresses_is_bounded(self) -> None:
        for number in range(10_000):
            self.log.record_failure("basic", f"10.0.{number >> 8}.{number & 255}", None, False)
        self.clock.advance(FAILURE_SECONDS)
        self.assertEqual(MAX_OPEN + 1, len(self.entries()))


class TypeBody(RequestBody):
    """Looks like an input."""

    input: str
    mode: str | None = None


class SecretBody(RequestBody):
    """Looks like a change of a password."""

    new_password: str


class HeardTests(AuditCase):
    """What the kernel tells, over a real site."""

    def setUp(self) -> None:
        super().setUp()
        self.routes = AuditRoutes(self.log)
        who = Identity(username="ann", admin=True, method="cookie")
        self.api = ApiHarness(
            [
                self.operation("POST", "/api/things/{id}", body=SecretBody),
                self.operation("POST", "/api/type/{id}", body=TypeBody, audit=AuditMode.SUMMED),
                self.operation("POST", "/api/bad", handler=self.bad),
                self.operation("POST", "/api/made", handler=self.make),
                self.operation("POST", "/api/hook", access=AccessRule.HOOK),
                self.operation("GET", "/api/read"),
                *collect_operations(self.routes),
            ],
            OpenGate(who),
            heard=self.routes.record_call,
        )
        self.addCleanup(self.api.close)

    def operation(self, method: str, path: str, **fields: Any) -> Operation:
        given = {"access": AccessRule.USER, "handler": self.nothing, "summary": "", "tag": "t"}
        return Operation(method=method, path=path, **{**given, **fields})

    async def nothing(self, call: OperationCall) -> object:
        return {}

    async def bad(self, call: OperationCall) -> object:
        raise make_failure_error("no")

    async def make(self, call: OperationCall) -> object:
        return RawReply(content={"session": {"id": "new"}})

    def test_field_names_are_recorded_and_values_are_not(self) -> None:
        self.api.post("/api/things/7", {"newPassword": "hunter2hunter2"})
        [entry] = self.entries()
        self.assertEqual(
            ("ann", "cookie", "POST /api/things/{id}", "7", {"fields": ["new_password"]}),
            tuple(entry[k] for k in ("actor", "method", "action", "target", "detail")),
        )
        self.assertNotIn("hunter2", repr(entry))

    def test_length_of_a_text_is_recorded_and_the_text_is_not(self) -> None:
        self.api.post("/api/type/7", {"input": "rm -rf hunter2"})
        self.clock.advance(TYPING_SECONDS)
        [entry] = self.entries()
        self.assertEqual({"source": "http", "times": 1, "length": 14}, entry["detail"])

    def test_failed_request_is_recorded(self) -> None:
        self.api.post("/api/bad", None)
        self.assertEqual([{"error": "OPERATION_FAILED"}], [e["detail"] for e in self.entries()])

    def test_name_of_the_created_object_is_recorded(self) -> None:
        self.api.post("/api/made", None)
        self.assertEqual(["new"], [e["target"] for e in self.entries()])
        self.assertEqual("", find_created_name("text"))
        self.assertEqual("x", find_created_name({"sessionId": "x"}))

    def test_reading_and_hooks_are_not_recorded(self) -> None:
        self.api.get("/api/read")
        self.api.post("/api/hook", None)
        self.assertEqual([], self.entries())

    def test_entries_are_listed_over_http(self) -> None:
        for number in range(5):
            self.log.record_entry(AuditEntry(action=f"a{number}"))
        page = self.api.get("/api/admin/audit?limit=2").data
        self.assertEqual(["a4", "a3"], [entry["action"] for entry in page["entries"]])
        page = self.api.get(f"/api/admin/audit?limit=9&before={page['next']}").data
        self.assertEqual(["a2", "a1", "a0"], [entry["action"] for entry in page["entries"]])
        self.assertNotIn("next", page)
        self.assertNotIn("hash", page["entries"][0])
        self.assertEqual(400, self.api.get("/api/admin/audit?limit=501").status)

    def test_operations_are_named_by_their_path(self) -> None:
        """Whatever the method; a word without a path is not one of them."""
        for action in ("POST /api/tokens", "DELETE /api/tokens/{id}", "PUT /api/x", "login"):
            self.log.record_entry(AuditEntry(action=action))
        page = self.api.get("/api/admin/audit?path=/api/tokens").data
        found = [entry["action"] for entry in page["entries"]]
        self.assertEqual(["DELETE /api/tokens/{id}", "POST /api/tokens"], found)
        self.assertEqual(400, self.api.get(f"/api/admin/audit?path={'x' * 257}").status)

    def test_failing_log_does_not_fail_the_request(self) -> None:
        def fail(call: OperationCall, outcome: object) -> None:
            raise ZeroDivisionError

        self.api.kernel._heard = fail
        self.assertEqual(422, self.api.post("/api/bad", None).status)
        self.assertEqual(1, len(self.flushLoggedErrors(ZeroDivisionError)))
