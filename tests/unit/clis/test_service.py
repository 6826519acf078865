"""Managing the registry by its routes: the switch, the file, installs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.clis.fakes import FakeProcesses, FakeSettings, make_program
from tests.unit.http.driver import Api
from tservice.clis.command import Command
from tservice.clis.install import Installer
from tservice.clis.launcher import CliRegistry
from tservice.clis.lookup import BinaryLookup
from tservice.clis.routes import CliItem, CliRoutes, CreateBody, EnabledBody, ReplaceBody
from tservice.clis.service import CliService
from tservice.clis.stock import stock_entries
from tservice.core.errors import ErrorCode, ServiceError
from tservice.core.events import Audience, Event, EventHub
from tservice.http.operations import Access, Call, Identity, Operation

MINE = {"id": "mine", "label": "Mine", "shortBadge": "MY", "binaries": ["mine"], "argv": ["mine"]}
REST = {name: value for name, value in MINE.items() if name != "id"}


class ServiceCase(SynchronousTestCase):
    """A service with its folder; calls go through the operations, as the site would make them."""

    def setUp(self) -> None:
        self.root = Path(self.mktemp()).absolute()
        self.root.mkdir()
        self.path = self.root / "clis.json"
        self.clock, self.processes, self.hub = Clock(), FakeProcesses(), EventHub()
        self.settings = FakeSettings(cliManagementEnabled=True)
        self.environ = {"PATH": str(self.root / "bin"), "SERVICE_PASSWORD": "hidden"}
        self.events: list[Event] = []
        self.hub.subscribe(self.events.append)
        self.group = True
        self.start()

    def start(self) -> None:
        lookup = BinaryLookup(self.clock, self.environ, self.root)
        self.registry = CliRegistry(settings=self.settings, lookup=lookup, environ=self.environ)
        self.installer = Installer(
            clock=self.clock,
            processes=self.processes,
            environ=self.environ,
            home=self.root,
            hub=self.hub,
            make=lambda clock, heard: Command(clock, heard, self.kill_group),
        )
        self.service = CliService(
            path=self.path,
            stock=stock_entries(),
            registry=self.registry,
            lookup=lookup,
            installer=self.installer,
            settings=self.settings,
            hub=self.hub,
        )
        self.service.load()
        self.operations = CliRoutes(self.service).operations()

    def kill_group(self, group: int, number: int) -> None:
        if not self.group:
            raise ProcessLookupError

    def operation(self, method: str, path: str) -> Operation:
        found = [o for o in self.operations if (o.method, o.path) == (method, path)]
        self.assertEqual(1, len(found), (method, path))
        return found[0]

    def call(
        self, method: str, path: str, body: object = None, id: str = "", admin: bool = True
    ) -> Deferred[Any]:
        operation = self.operation(method, path)
        parsed = operation.body.model_validate_json(json.dumps(body)) if operation.body else None
        request: Any = None
        call = Call(
            operation=operation,
            identity=Identity(username="u", admin=admin),
            path={"id": id},
            query=None,
            body=parsed,
            address="127.0.0.1",
            request=request,
        )
        return Deferred.fromCoroutine(operation.handler(call))  # type: ignore[arg-type]

    def ok(self, *args: Any, **named: Any) -> Any:
        return self.successResultOf(self.call(*args, **named))

    def refused(self, code: ErrorCode, *args: Any, **named: Any) -> str:
        """The error's text; the file stays as it is and nobody is told anything."""
        before = (self.path.read_bytes() if self.path.exists() else None, len(self.events))
        failure = self.failureResultOf(self.call(*args, **named), ServiceError)
        after = (self.path.read_bytes() if self.path.exists() else None, len(self.events))
        self.assertEqual((code, before), (failure.value.code, after))
        return str(failure.value.message)

    def stored(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.path.read_text())["clis"]
        return found

    def item(self, name: str) -> dict[str, Any]:
        [found] = [item for item in self.ok("GET", "/api/clis") if item["id"] == name]
        CliItem.model_validate_json(json.dumps(found))
        return dict(found)


WRITES: list[tuple[str, str, object, str]] = [
    ("PUT", "/api/clis/{id}", {"enabled": False}, "codex"),
    ("POST", "/api/clis/{id}/install", None, "codex"),
    ("POST", "/api/clis", MINE, ""),
    ("PUT", "/api/clis/custom/{id}", REST, "mine"),
    ("DELETE", "/api/clis/{id}", None, "mine"),
]


class AccessTests(ServiceCase):
    """Who may, and when."""

    def test_every_write_needs_the_setting(self) -> None:
        self.ok("POST", "/api/clis", MINE)
        self.settings.settings = FakeSettings().get()
        before = self.path.read_bytes(), len(self.events)
        api = Api(self.operations)
        self.addCleanup(api.close)
        for method, path, good, name in WRITES:
            for body in (good, {"bogus": 1}, b"{"):
                answer = api.request(method, path.replace("{id}", name), body)
                self.assertEqual((403, "FORBIDDEN"), answer.error[:2])
                self.assertIn("cliManagementEnabled", answer.error[2])
        self.assertEqual(before, (self.path.read_bytes(), len(self.events)))
        self.assertEqual([], self.processes.spawned)

    def test_the_list_is_open_and_empty_for_who_is_no_admin(self) -> None:
        self.settings.settings = FakeSettings().get()
        self.assertEqual(7, len(self.ok("GET", "/api/clis")))
        self.assertEqual([], self.ok("GET", "/api/clis", admin=False))

    def test_every_operation_is_known_here(self) -> None:
        writes = {(method, path) for method, path, _, _ in WRITES}
        for operation in self.operations:
            if operation.method == "GET":
                self.assertEqual(Access.USER, operation.access)
            else:
                self.assertIn((operation.method, operation.path), writes)
                self.assertEqual(Access.ADMIN, operation.access)


class ListTests(ServiceCase):
    """What clients see."""

    def test_stock_entry(self) -> None:
        want = {
            "id": "codex",
            "label": "Codex",
            "shortBadge": "CX",
            "order": 40,
            "kind": "agent",
            "enabled": True,
            "stock": True,
            "installed": False,
            "installCommand": "npm install -g @openai/codex",
        }
        self.assertEqual(want, self.item("codex"))
        make_program(self.root / "bin", "codex")
        self.clock.advance(30)
        self.assertTrue(self.item("codex")["installed"])

    def test_custom_and_disabled_entries_are_listed(self) -> None:
        self.ok("POST", "/api/clis", {**MINE, "enabled": False})
        item = self.item("mine")
        self.assertEqual((False, False), (item["enabled"], item["stock"]))
        self.assertNotIn("installCommand", item)
        self.assertNotIn("installCommand", self.item("shell"))


class WriteTests(ServiceCase):
    """Switching, adding, replacing, removing."""

    def test_switching(self) -> None:
        answer = self.ok("PUT", "/api/clis/{id}", {"enabled": False}, id="codex")
        self.assertFalse(answer["enabled"])
        self.assertRaises(ServiceError, self.registry.require, "codex")
        self.assertEqual({"codex": {"enabled": False}}, self.stored())
        self.start()
        self.assertFalse(self.item("codex")["enabled"])
        self.ok("PUT", "/api/clis/{id}", {"enabled": True}, id="codex")
        self.registry.require("codex")
        self.assertEqual(["cli:changed"] * 2, [event.name for event in self.events])
        self.assertEqual({Audience.ADMINS}, {event.audience for event in self.events})

    def test_switching_what_may_not_be(self) -> None:
        path = "/api/clis/{id}"
        self.refused(ErrorCode.NOT_FOUND, "PUT", path, {"enabled": True}, id="nope")
        text = self.refused(ErrorCode.INVALID_INPUT, "PUT", path, {"enabled": False}, id="shell")
        self.assertTrue(text.startswith("enabled: "))
        self.assertTrue(self.ok("PUT", path, {"enabled": True}, id="shell")["enabled"])

    def test_adding(self) -> None:
        self.assertTrue(self.ok("POST", "/api/clis", MINE)["enabled"])
        self.start()
        self.assertEqual(("mine",), self.registry.require("mine").argv)
        for name in ("mine", "codex", "shell"):
            self.refused(ErrorCode.ALREADY_EXISTS, "POST", "/api/clis", {**MINE, "id": name})

    def test_adding_what_breaks_a_rule(self) -> None:
        changes: list[dict[str, Any]] = [
            {"argv": ["a b"]},
            {"id": "A"},
            {"binaries": []},
            {"params": {}},
        ]
        for change in changes:
            body = json.dumps({**MINE, **change})
            self.assertRaises(ValidationError, CreateBody.model_validate_json, body)
        unknown = {**MINE, "argv": ["mine", "{model}"]}
        text = self.refused(ErrorCode.INVALID_INPUT, "POST", "/api/clis", unknown)
        self.assertIn("unknown parameter model", text)

    def test_replacing(self) -> None:
        self.ok("POST", "/api/clis", {**MINE, "enabled": False})
        path = "/api/clis/custom/{id}"
        answer = self.ok("PUT", path, {**REST, "label": "New"}, id="mine")
        self.assertEqual(("New", False), (answer["label"], answer["enabled"]))
        answer = self.ok("PUT", path, {**REST, "enabled": True}, id="mine")
        self.assertEqual(("Mine", True), (answer["label"], answer["enabled"]))
        self.refused(ErrorCode.NOT_FOUND, "PUT", path, REST, id="nope")
        self.refused(ErrorCode.INVALID_INPUT, "PUT", path, REST, id="codex")
        body = json.dumps({**REST, "id": "mine"})
        self.assertRaises(ValidationError, ReplaceBody.model_validate_json, body)

    def test_removing(self) -> None:
        self.ok("POST", "/api/clis", MINE)
        self.assertEqual({}, self.ok("DELETE", "/api/clis/{id}", id="mine"))
        self.assertEqual({}, self.stored())
        self.assertEqual({"id": "mine", "deleted": True}, self.events[-1].data)
        self.refused(ErrorCode.NOT_FOUND, "DELETE", "/api/clis/{id}", id="mine")
        self.refused(ErrorCode.INVALID_INPUT, "DELETE", "/api/clis/{id}", id="codex")

    def test_strict_bodies(self) -> None:
        for body in ({}, {"enabled": "true"}, {"enabled": None}, {"enabled": True, "x": 1}):
            self.assertRaises(ValidationError, EnabledBody.model_validate_json, json.dumps(body))


class FileTests(ServiceCase):
    """Files that people made."""

    def test_a_broken_or_open_file_is_never_overwritten(self) -> None:
        for content, mode in (("{", 0o600), ('{"clis": {"mine": {}}}', 0o644), ("[]", 0o600)):
            self.path.write_text(content)
            self.path.chmod(mode)
            self.start()
            self.assertEqual(7, len(self.registry.entries()))
            for method, path, body, name in WRITES:
                if not path.endswith("install"):
                    self.refused(ErrorCode.CONFLICT, method, path, body, id=name)

    def test_what_others_wrote_meanwhile_stays(self) -> None:
        self.path.write_text('{"clis": {"BAD": {"note": 1}, "codex": {"order": 5}}}')
        self.path.chmod(0o600)
        self.ok("POST", "/api/clis", MINE)
        self.assertEqual({"BAD", "codex", "mine"}, set(self.stored()))
        self.assertEqual(5, self.item("codex")["order"])

    def test_a_bad_override_is_the_files_fault(self) -> None:
        for data in ("[]", '{"argv": []}'):
            self.path.write_text(f'{{"clis": {{"codex": {data}}}}}')
            self.path.chmod(0o600)
            self.start()
            self.refused(
                ErrorCode.CONFLICT, "PUT", "/api/clis/{id}", {"enabled": False}, id="codex"
            )

    def test_a_bad_custom_entry_can_be_replaced_and_removed(self) -> None:
        for method, path in (("PUT", "/api/clis/custom/{id}"), ("DELETE", "/api/clis/{id}")):
            self.path.write_text('{"clis": {"mine": {"label": 1}}}')
            self.path.chmod(0o600)
            self.start()
            self.assertIsNone(self.registry.get("mine"))
            self.refused(ErrorCode.ALREADY_EXISTS, "POST", "/api/clis", MINE)
            self.ok(method, path, REST if method == "PUT" else None, id="mine")


class InstallTests(ServiceCase):
    """Installing, with a process that the test ends."""

    def setUp(self) -> None:
        super().setUp()
        self.npm = make_program(self.root / "bin", "npm")

    def install(self, name: str = "codex") -> Deferred[Any]:
        return self.call("POST", "/api/clis/{id}/install", id=name)

    def told(self) -> list[tuple[str, dict[str, Any]]]:
        self.assertEqual({Audience.ADMINS}, {event.audience for event in self.events})
        return [(event.name, dict(event.data)) for event in self.events]

    def test_success(self) -> None:
        self.ok("PUT", "/api/clis/{id}", {"enabled": False}, id="codex")
        self.events.clear()
        self.assertFalse(self.item("codex")["installed"])
        answer = self.install()
        call = self.processes.calls[0]
        self.assertEqual([str(self.npm), "install", "-g", "@openai/codex"], call["args"][-4:])
        self.assertFalse([name for name in call["env"] if name.startswith("SERVICE_")])
        self.processes.spawned[0].protocol.outReceived(b"added 1 package\n")
        make_program(self.root / "bin", "codex")
        self.processes.spawned[0].finish(0)
        result = self.successResultOf(answer)
        self.assertEqual(
            (True, False, "added 1 package\n"),
            (result["installed"], result["enabled"], result["output"]),
        )
        self.assertEqual(
            [
                ("cli:installStarted", {"id": "codex"}),
                ("cli:installOutput", {"id": "codex", "data": "added 1 package\n"}),
                ("cli:installFinished", {"id": "codex", "ok": True, "status": 0}),
            ],
            self.told(),
        )
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_failure_shows_the_end_of_the_output(self) -> None:
        self.assertFalse(self.item("codex")["installed"])
        answer = self.install()
        self.processes.spawned[0].protocol.errReceived(b"x" * 9000 + b"EACCES")
        make_program(self.root / "bin", "codex")
        self.processes.spawned[0].finish(243)
        error = self.failureResultOf(answer, ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        self.assertIn("exit status 243", error.message)
        self.assertTrue(error.message.endswith("xEACCES"))
        self.assertLess(len(error.message), 5000)
        self.assertTrue(self.item("codex")["installed"], "the cache is cleared then too")
        self.assertEqual(
            ("cli:installFinished", {"id": "codex", "ok": False, "status": 243}), self.told()[-1]
        )

    def test_the_time_limit(self) -> None:
        answer = self.install()
        self.clock.advance(300)
        self.group = False
        self.processes.spawned[0].finish(0)
        error = self.failureResultOf(answer, ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        self.assertIn("too long", error.message)

    def test_one_at_a_time_for_each_id(self) -> None:
        first, other = self.install(), self.install("gemini")
        self.refused(ErrorCode.CONFLICT, "POST", "/api/clis/{id}/install", id="codex")
        for process in self.processes.spawned:
            process.finish(0)
        self.successResultOf(first)
        self.successResultOf(other)
        again = self.install()
        self.processes.spawned[-1].finish(0)
        self.successResultOf(again)

    def test_it_goes_on_when_the_caller_hangs_up(self) -> None:
        answer = self.install()
        answer.cancel()
        self.failureResultOf(answer)
        self.refused(ErrorCode.CONFLICT, "POST", "/api/clis/{id}/install", id="codex")
        self.processes.spawned[0].finish(0)
        self.assertEqual("cli:installFinished", self.told()[-1][0])

    def test_what_cannot_be_installed(self) -> None:
        self.ok("POST", "/api/clis", MINE)
        path = "/api/clis/{id}/install"
        for name in ("mine", "shell", "antigravity"):
            self.refused(ErrorCode.INVALID_INPUT, "POST", path, id=name)
        self.refused(ErrorCode.NOT_FOUND, "POST", path, id="nope")
        self.npm.unlink()
        self.assertIn("npm", self.refused(ErrorCode.OPERATION_FAILED, "POST", path, id="codex"))

    def test_a_process_that_cannot_be_made(self) -> None:
        self.processes.error = OSError(11, "Resource temporarily unavailable")
        error = self.failureResultOf(self.install(), ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        self.assertEqual("cli:installFinished", self.told()[-1][0])
        self.processes.error = None
        self.assertNoResult(self.install())

    def test_output_is_gathered_and_bounded(self) -> None:
        self.install()
        hear = self.processes.spawned[0].protocol.outReceived
        hear("é".encode()[:1])
        hear("é".encode()[1:])
        hear(b"!")
        self.clock.advance(0.1)
        hear(b"y" * 20_000)
        self.clock.advance(0.1)
        texts = [data["data"] for name, data in self.told() if name == "cli:installOutput"]
        self.assertEqual(["é!", "y" * 16384], texts)

    def test_stop_ends_what_runs_and_waits_for_it(self) -> None:
        answer = self.install()
        self.group = False
        stopped = self.service.stop()
        self.assertNoResult(stopped)
        self.processes.spawned[0].finish(None, 15)
        self.successResultOf(stopped)
        self.failureResultOf(answer, ServiceError)
        self.assertEqual([], self.clock.getDelayedCalls())
        self.successResultOf(self.service.stop())
