"""C{/api/mcp-sync} through the real site."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.callers import make_caller
from tests.event_helpers import to_wire
from tests.runtime_harness import FixedRuntimeSettings, NoWorkerPools, build_test_runtime
from tests.unit.held_threads import HeldThreads
from tests.unit.http.site_driver import ApiHarness, parse_http_answer, request_head
from tests.unit.right_checks import deny_change
from tservice.clis.build import build_clis
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.events import Event, EventAudience
from tservice.http.operations import AccessRule
from tservice.mcp import service
from tservice.mcp.build import build_mcp
from tservice.mcp.locked_files import find_lock_folder, hold_lock
from tservice.settings.model import parse_stored_settings

ONE = {"mcpServers": {"one": {"command": "run", "env": {"KEY": "s3cr3t"}}}}
PATH = "/api/mcp-sync"


class McpRouteCase(SynchronousTestCase):
    def setUp(self) -> None:
        self.folder = Path("x").absolute()
        self.home = self.folder / "home"
        self.home.mkdir(parents=True)
        (self.folder / "data").mkdir()
        self.claude = self.home / ".claude.json"
        self.claude.write_text(json.dumps(ONE))
        self.gemini = self.home / ".gemini/settings.json"
        self.gemini.parent.mkdir()
        self.gemini.write_text("{}")
        self.settings = FixedRuntimeSettings()
        self.environ = {"PATH": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder)}
        self.begin()

    def begin(self, **given: Any) -> None:
        self.switch(True)
        self.ground = build_test_runtime(
            self.folder, settings=self.settings, environ=self.environ, **given
        )
        self.heard: list[Event] = []
        self.ground.hub.subscribe(self.heard.append)
        self.mcp = build_mcp(self.ground, clis=build_clis(self.ground).service)
        self.api = ApiHarness(self.mcp.operations, clock=self.ground.reactor)
        self.addCleanup(self.api.close)

    def switch(self, on: bool) -> None:
        self.settings.now = parse_stored_settings({"mcpSyncEnabled": on})[0]

    def post(self) -> Any:
        connection = self.api.connect()
        connection.send(request_head("POST", PATH, {"Content-Length": "0"}))
        return connection

    def written(self) -> bool:
        return "one" in self.gemini.read_text()


class McpSyncRouteTests(McpRouteCase):
    def test_switched_off_sync_refuses_first(self) -> None:
        """Said before anything else of the request is looked at."""
        self.switch(False)
        for method, body in (("GET", None), ("POST", None), ("POST", b"{ no"), ("POST", {"x": 1})):
            status, code, text = self.api.request(method, PATH, body).error
            self.assertEqual((403, "FORBIDDEN"), (status, code))
            self.assertIn("mcpSyncEnabled", text)
        self.assertFalse(self.written())

    def test_dry_run_writes_nothing(self) -> None:
        answer = self.api.get(PATH).data
        self.assertFalse(answer["applied"])
        by_id = {target["id"]: target for target in answer["targets"]}
        self.assertEqual(
            {
                "id": "gemini",
                "label": "Gemini CLI",
                "file": str(self.gemini),
                "status": "ok",
                "servers": [],
                "added": ["one"],
                "skipped": [],
            },
            by_id["gemini"],
        )
        self.assertEqual(["one"], by_id["primary"]["servers"])
        self.assertEqual("absent", by_id["codex"]["status"])
        self.assertEqual(([], [], []), tuple(
            answer[name] for name in ("conflicts", "disabled", "unsupported")))  # fmt: skip
        self.assertFalse(self.written())
        self.assertEqual([], self.heard)

    def test_sync_writes_and_publishes_without_secrets(self) -> None:
        answer = self.api.request("POST", PATH)
        self.assertTrue(answer.data["applied"])
        self.assertTrue(self.written())
        self.assertNotIn(b"s3cr3t", answer.content)
        [event] = self.heard
        self.assertEqual(("mcp:synced", EventAudience.ADMINS), (event.name, event.name.audience))
        self.assertEqual(answer.data, to_wire(event))
        self.assertEqual([[]] * 6, [t["added"] for t in self.api.get(PATH).data["targets"]])

    def test_errors_contain_no_file_content(self) -> None:
        self.gemini.write_text('{"key": "s3cr3t" "')
        answer = self.api.get(PATH)
        self.assertNotIn(b"s3cr3t", answer.content)
        [found] = [target for target in answer.data["targets"] if target["id"] == "gemini"]
        self.assertEqual(
            ("unreadable", "not valid JSON (line 1, column 18)"), (found["status"], found["error"])
        )

    def test_sync_is_for_admins_only(self) -> None:
        self.assertEqual({AccessRule.ADMIN}, {op.access for op in self.mcp.operations})

    def test_accounts_with_an_os_user_are_refused(self) -> None:
        """The files are not those that their agents read."""
        caller = make_caller(username="ann", admin=True, os_user="ann")
        mcp = self.mcp.service
        for ask in (mcp.preview_sync, mcp.run_sync):
            error = self.failureResultOf(Deferred.fromCoroutine(ask(caller)), ServiceError).value
            self.assertEqual(403, error.status)
            own = evolve(caller, os_user=None)
            self.successResultOf(Deferred.fromCoroutine(ask(own)))


class McpSyncRightTests(McpRouteCase):
    def test_right_lost_while_reading_writes_nothing(self) -> None:
        admin = make_caller(username="admin", admin=True)
        asked = Deferred.fromCoroutine(
            self.mcp.service.run_sync(evolve(admin, reauthorize=deny_change))
        )
        self.assertEqual(403, self.failureResultOf(asked, ServiceError).value.status)
        self.assertEqual("{}", self.gemini.read_text())
        asked = Deferred.fromCoroutine(self.mcp.service.run_sync(admin))
        self.successResultOf(asked)
        self.assertIn("one", self.gemini.read_text())


class TimeTests(McpRouteCase):
    def test_second_sync_is_refused_while_one_runs(self) -> None:
        threads = HeldThreads()
        self.begin(worker_pools=NoWorkerPools(files=threads))
        first = self.post()
        self.assertEqual((409, "CONFLICT"), self.api.request("POST", PATH).error[:2])
        threads.finish()
        self.assertEqual((409, "CONFLICT"), self.api.request("POST", PATH).error[:2])
        threads.finish()
        self.assertTrue(parse_http_answer(first.value()).data["applied"])
        self.post()
        self.assertEqual(1, len(threads.begun))

    def test_concurrent_readings_are_shared(self) -> None:
        threads = HeldThreads()
        self.begin(worker_pools=NoWorkerPools(files=threads))
        asked = [self.api.connect() for _ in range(5)]
        for connection in asked:
            connection.send(request_head("GET", PATH, {}))
        self.assertEqual(1, len(threads.begun))
        asked[0].lose()
        threads.finish()
        for connection in asked[1:]:
            self.assertFalse(parse_http_answer(connection.value()).data["applied"])

    def test_sync_continues_without_its_caller(self) -> None:
        threads = HeldThreads()
        self.begin(worker_pools=NoWorkerPools(files=threads))
        self.post().lose()
        stopped = self.mcp.close()
        self.assertEqual((409, "CONFLICT"), self.api.request("POST", PATH).error[:2])
        assert isinstance(stopped, Deferred)
        self.assertNoResult(stopped)
        threads.finish()
        self.successResultOf(stopped)

    def test_stop_waits_for_a_running_write(self) -> None:
        threads = HeldThreads()
        self.begin(worker_pools=NoWorkerPools(files=threads))
        self.post()
        threads.finish()
        stopped = self.mcp.close()
        assert isinstance(stopped, Deferred)
        self.assertNoResult(stopped)
        threads.finish()
        self.successResultOf(stopped)
        self.assertTrue(self.written())

    def test_lock_of_another_service_is_waited_for(self) -> None:
        with hold_lock(self.gemini, find_lock_folder(self.environ)):
            asked = self.post()
            self.ground.reactor.advance(service.LOCK_PAUSE * 3)
            self.assertEqual(b"", asked.value())
        self.ground.reactor.advance(service.LOCK_PAUSE)
        self.assertTrue(parse_http_answer(asked.value()).data["applied"])
        self.assertTrue(self.written())

    def test_lock_of_another_service_is_waited_for_only_briefly(self) -> None:
        with hold_lock(self.gemini, find_lock_folder(self.environ)):
            asked = self.post()
            self.ground.reactor.pump([service.LOCK_PAUSE] * service.LOCK_TRIES)
        [found] = [
            t for t in parse_http_answer(asked.value()).data["targets"] if t["id"] == "gemini"
        ]
        self.assertEqual(
            ("failed", "another service is writing it", []),
            (found["status"], found["error"], found["added"]),
        )

    def test_unexpected_error_is_a_500_and_the_next_sync_works(self) -> None:
        with patch.object(service, "survey_files", lambda places: 1 // 0):
            self.assertEqual(500, self.api.get(PATH).error[0])
            self.assertEqual(500, self.api.request("POST", PATH).error[0])
        self.assertEqual(2, len(self.flushLoggedErrors(ZeroDivisionError)))
        self.assertEqual(200, self.api.request("POST", PATH).status)
