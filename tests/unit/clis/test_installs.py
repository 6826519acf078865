"""Installing CLIs by the routes of the registry, and their versions."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred

from tests.event_helpers import to_wire
from tests.unit.clis.fakes import make_program
from tests.unit.clis.harness import MINE, CliServiceCase
from tservice.clis.cli_versions import REMEMBERED_SECONDS, TIME_LIMIT
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.events import EventAudience


class InstallTests(CliServiceCase):
    """Installing, with a process that the test ends."""

    def setUp(self) -> None:
        super().setUp()
        self.npm = make_program(self.root / "bin", "npm")

    def install(self, name: str = "codex") -> Deferred[Any]:
        return self.call("POST", "/api/clis/{id}/install", id=name)

    def told(self) -> list[tuple[str, dict[str, Any]]]:
        self.assertEqual({EventAudience.ADMINS}, {event.name.audience for event in self.events})
        return [(event.name, to_wire(event)) for event in self.events]

    def test_successful_install_enables_and_announces_the_cli(self) -> None:
        self.ok("PUT", "/api/clis/{id}", {"enabled": False}, id="codex")
        self.events.clear()
        self.assertFalse(self.item("codex")["installed"])
        answer = self.install()
        call = self.processes.calls[0]
        self.assertEqual([str(self.npm), "install", "-g", "@openai/codex"], call["args"][-4:])
        self.assertFalse([name for name in call["env"] if name.startswith("SERVICE_")])
        self.assertEqual(str(self.root / ".local"), call["env"]["NPM_CONFIG_PREFIX"])
        self.processes.spawned[0].protocol.outReceived(b"added 1 package\n")
        make_program(self.root / "bin", "codex")
        self.processes.spawned[0].finish(0)
        path = str(self.root / "bin" / "codex")
        result = self.successResultOf(answer)
        self.assertEqual(
            (True, False, "added 1 package\n", path),
            (result["installed"], result["enabled"], result["output"], result["path"]),
        )
        self.assertEqual(
            [
                ("cli:installStarted", {"id": "codex"}),
                ("cli:installOutput", {"id": "codex", "data": "added 1 package\n"}),
                ("cli:installFinished", {"id": "codex", "ok": True, "status": 0, "path": path}),
            ],
            self.told(),
        )
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_failed_installation_shows_the_end_of_its_output(self) -> None:
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
        path = str(self.root / "bin" / "codex")
        finished = {"id": "codex", "ok": False, "status": 243, "path": path}
        self.assertEqual(("cli:installFinished", finished), self.told()[-1])

    def test_install_ends_at_the_time_limit(self) -> None:
        answer = self.install()
        self.clock.advance(300)
        self.processes.has_group = False
        self.processes.spawned[0].finish(0)
        error = self.failureResultOf(answer, ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        self.assertIn("too long", error.message)

    def test_installs_of_one_cli_run_one_at_a_time(self) -> None:
        first, other = self.install(), self.install("gemini")
        self.refused(ErrorCode.CONFLICT, "POST", "/api/clis/{id}/install", id="codex")
        for process in self.processes.spawned:
            process.finish(0)
        self.successResultOf(first)
        self.successResultOf(other)
        again = self.install()
        self.processes.spawned[-1].finish(0)
        self.successResultOf(again)

    def test_install_continues_when_the_caller_disconnects(self) -> None:
        answer = self.install()
        answer.cancel()
        self.failureResultOf(answer)
        self.refused(ErrorCode.CONFLICT, "POST", "/api/clis/{id}/install", id="codex")
        self.processes.spawned[0].finish(0)
        self.assertEqual("cli:installFinished", self.told()[-1][0])

    def test_clis_without_an_installer_are_refused(self) -> None:
        self.ok("POST", "/api/clis", MINE)
        path = "/api/clis/{id}/install"
        for name in ("mine", "shell", "antigravity"):
            self.refused(ErrorCode.INVALID_INPUT, "POST", path, id=name)
        self.refused(ErrorCode.NOT_FOUND, "POST", path, id="nope")
        self.npm.unlink()
        self.assertIn("npm", self.refused(ErrorCode.OPERATION_FAILED, "POST", path, id="codex"))

    def test_failed_process_start_is_an_error(self) -> None:
        self.processes.error = OSError(11, "Resource temporarily unavailable")
        error = self.failureResultOf(self.install(), ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        self.assertEqual("cli:installFinished", self.told()[-1][0])
        self.processes.error = None
        self.assertNoResult(self.install())

    def test_output_is_collected_and_bounded(self) -> None:
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

    def test_install_command_is_shown_without_running(self) -> None:
        path = "/api/clis/{id}/install"
        target = self.root / ".local"
        want = {"command": "npm install -g @openai/codex", "target": str(target), "writable": True}
        self.assertEqual(want, self.ok("GET", path, id="codex"))
        target.write_text("no folder")
        self.assertFalse(self.ok("GET", path, id="codex")["writable"])
        self.refused(ErrorCode.NOT_FOUND, "GET", path, id="nope")
        self.refused(ErrorCode.INVALID_INPUT, "GET", path, id="shell")
        self.assertEqual([], self.processes.spawned)

    def test_running_install_is_cancelled(self) -> None:
        path = "/api/clis/{id}/install"
        self.refused(ErrorCode.NOT_FOUND, "DELETE", path, id="codex")
        self.refused(ErrorCode.NOT_FOUND, "DELETE", path, id="nope")
        answer = self.install()
        self.processes.has_group = False
        cancelled = self.call("DELETE", path, id="codex")
        self.assertNoResult(cancelled)
        self.processes.spawned[0].finish(None, 15)
        self.assertEqual({}, self.successResultOf(cancelled))
        self.assertIn("was cancelled", self.failureResultOf(answer, ServiceError).value.message)

    def test_stop_ends_running_installs_and_waits_for_them(self) -> None:
        answer = self.install()
        self.processes.has_group = False
        stopped = self.service.stop_installs()
        self.assertNoResult(stopped)
        self.processes.spawned[0].finish(None, 15)
        self.successResultOf(stopped)
        self.failureResultOf(answer, ServiceError)
        self.assertEqual([], self.clock.getDelayedCalls())
        self.successResultOf(self.service.stop_installs())


class CliVersionTests(CliServiceCase):
    """What programs say of themselves, in processes that the test ends."""

    def setUp(self) -> None:
        super().setUp()
        make_program(self.root / "bin", "codex")

    def look(self) -> Deferred[Any]:
        return Deferred.fromCoroutine(self.service.list_with_versions())

    def version(self, answer: Deferred[Any]) -> str | None:
        [item] = [item for item in self.successResultOf(answer) if item.id == "codex"]
        found: str | None = item.version
        return found

    def test_version_is_asked_once_and_remembered(self) -> None:
        """By everybody who asks meanwhile, too; and only of what is installed and says how."""
        first, second = self.look(), self.look()
        [call] = self.processes.calls
        self.assertEqual([str(self.root / "bin" / "codex"), "--version"], call["args"][-2:])
        self.assertNotIn("SERVICE_PASSWORD", call["env"])
        first.cancel()
        self.failureResultOf(first)
        self.processes.spawned[0].protocol.outReceived(b"codex-cli 0.169.0\n")
        self.processes.spawned[0].finish(0)
        self.assertEqual("0.169.0", self.version(second))
        self.assertEqual("0.169.0", self.version(self.look()))
        self.assertEqual(1, len(self.processes.calls))
        self.clock.advance(REMEMBERED_SECONDS)
        self.look()
        self.assertEqual(2, len(self.processes.calls))

    def test_output_without_a_version_gives_none(self) -> None:
        answer = self.look()
        self.processes.spawned[0].protocol.outReceived(b"no number here")
        self.processes.spawned[0].finish(1)
        self.assertIsNone(self.version(answer))

    def test_slow_version_command_gives_none(self) -> None:
        answer = self.look()
        self.processes.spawned[0].protocol.outReceived(b"1.2.3")
        self.clock.advance(TIME_LIMIT)
        self.processes.has_group = False
        self.processes.spawned[0].finish(None, 15)
        self.assertIsNone(self.version(answer))
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_version_command_that_cannot_start_gives_none(self) -> None:
        self.processes.error = OSError(11, "Resource temporarily unavailable")
        self.assertIsNone(self.version(self.look()))

    def test_stop_ends_running_version_commands(self) -> None:
        self.look()
        self.processes.has_group = False
        self.successResultOf(self.service.stop_installs())
        self.processes.spawned[0].finish(None, 15)
        self.assertEqual([], self.clock.getDelayedCalls())
