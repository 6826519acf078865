"""C{GET /api/doctor} with a child that a test plays."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.fakes.child_processes import FIRST_PID, FakeProcesses
from tests.unit.http.site_driver import (
    ApiHarness,
    ParsedAnswer,
    SiteConnection,
    parse_http_answer,
    request_head,
)
from tservice.doctor.catalogue import ExaminedCli
from tservice.doctor.child_launch import REPORT_LIMIT, TIME_LIMIT
from tservice.doctor.routes import DoctorRoutes
from tservice.doctor.service import DoctorService
from tservice.http.operation_decorator import collect_operations
from tservice.http.operations import AccessRule

NONE = dict.fromkeys(("ok", "missing", "outdated", "skipped", "error"), 0)
REPORT = {"platform": "linux", "summary": NONE, "tools": [], "lookedIn": ["/bin"]}


class DoctorCase(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.processes = FakeProcesses()
        self.service = DoctorService(
            children=self.processes.make_runner(self.clock),
            environ={"PATH": "/bin", "SERVICE_PASSWORD": "s3cr3t"},
            home=Path("/h"),
            clis=lambda: [ExaminedCli(id="x", label="X", names=("x",), install="get x")],
        )
        operations = collect_operations(DoctorRoutes(self.service))
        self.assertEqual([AccessRule.ADMIN], [operation.access for operation in operations])
        self.api = ApiHarness(operations, clock=self.clock)
        self.addCleanup(self.api.close)

    def begin(self, query: str = "") -> SiteConnection:
        connection = self.api.connect()
        connection.send(request_head("GET", f"/api/doctor{query}", {}))
        return connection

    def answer(self, connection: SiteConnection) -> ParsedAnswer:
        return parse_http_answer(connection.value())

    def child(self, number: int = 0) -> Any:
        return self.processes.spawned[number]

    def no_report(self, connection: SiteConnection) -> None:
        self.assertEqual(
            (500, "INTERNAL_ERROR", "the doctor gave no report"), self.answer(connection).error
        )
        connection.lose()
        self.assertEqual([], self.api.clock.getDelayedCalls())


class DoctorReportProcessTests(DoctorCase):
    def test_report_of_a_category_is_returned(self) -> None:
        connection = self.begin("?category=office")
        order = json.loads(self.child().written)
        self.assertEqual(("office", "/h"), (order["category"], order["home"]))
        self.assertEqual("x", order["clis"][0]["id"])
        self.assertTrue(self.child().stdin_closed)
        self.assertEqual({"PATH": "/bin"}, self.processes.calls[0]["env"])
        line = json.dumps(REPORT).encode() + b"\n"
        self.child().protocol.outReceived(line[:9])
        self.child().protocol.outReceived(line[9:])
        self.child().finish(None, signal.SIGKILL)
        self.assertEqual(REPORT, self.answer(connection).data)
        connection.lose()
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_unknown_doctor_category_is_refused(self) -> None:
        for query in ("?category=all", "?category=", "?category=core&category=core"):
            status, _, text = self.answer(self.begin(query)).error
            self.assertEqual((400, "category"), (status, text.partition(":")[0]))
        self.assertEqual([], self.processes.spawned)

    def test_same_requests_share_one_child(self) -> None:
        first, second, other = self.begin(), self.begin(), self.begin("?category=core")
        self.assertEqual(2, len(self.processes.spawned))
        first.lose()
        self.child().protocol.outReceived(json.dumps(REPORT).encode() + b"\n")
        self.child().finish(None, signal.SIGKILL)
        self.assertEqual(200, self.answer(second).status)
        self.assertEqual(b"", other.value())
        self.begin()
        self.assertEqual(3, len(self.processes.spawned))
        self.successResultOf(self.service.stop())

    def test_child_without_a_report_is_an_error(self) -> None:
        for printed in (b"", b"not json\n", b'{"tools": []'):
            connection = self.begin()
            if printed:
                self.child(-1).protocol.outReceived(printed)
            self.child(-1).protocol.errReceived(b"Traceback")
            self.child(-1).finish(1)
            self.no_report(connection)

    def test_hanging_doctor_child_is_killed(self) -> None:
        connection = self.begin()
        self.clock.advance(TIME_LIMIT - 0.1)
        self.assertEqual([], self.processes.sent)
        self.clock.advance(0.1)
        self.assertEqual([(FIRST_PID, signal.SIGKILL)], self.processes.sent)
        self.no_report(connection)

    def test_doctor_child_that_floods_is_killed(self) -> None:
        connection = self.begin()
        for _ in range(REPORT_LIMIT // 65536 + 1):
            if self.child().pid is not None:
                self.child().protocol.outReceived(b"x" * 65536)
        self.assertEqual([(FIRST_PID, signal.SIGKILL)], self.processes.sent)
        self.no_report(connection)

    def test_doctor_waits_for_pipes_held_open_after_its_child_ended(self) -> None:
        connection = self.begin()
        self.child().exit(1)
        self.clock.advance(1)
        self.no_report(connection)

    def test_doctor_without_a_process_answers_500(self) -> None:
        self.processes.error = OSError(11, "Resource temporarily unavailable")
        self.assertEqual(500, self.answer(self.begin()).status)

    def test_stopping_the_service_kills_the_doctor_group(self) -> None:
        connection = self.begin()
        self.successResultOf(self.service.stop())
        self.assertEqual([(FIRST_PID, signal.SIGKILL)], self.processes.sent)
        self.no_report(connection)
