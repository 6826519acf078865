"""One git process, its bounds, and what its end means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorProcess
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from tservice.core.logs.redact import SecretRedactor
from tservice.core.workers.program_lookup import make_program_finder
from tservice.core.workers.worker_pool import SynchronousThreads
from tservice.git.fork_client import IDLE_SECONDS, LOST, STOP_SECONDS
from tservice.git.fork_server import (
    ENDED,
    ERRORS,
    FAILED,
    HEAD,
    KILL,
    OUTPUT,
    START,
    STATUS,
    ForkFrameDecoder,
)
from tservice.git.model import GitRepository
from tservice.git.porcelain import GitOutputError
from tservice.git.process import KILL_SECONDS, GitProcess, GitProcessResult
from tservice.git.runner import GitActor, GitError, GitMissingError, GitRunner, OutputCollector

REPOSITORY = GitRepository(root=b"/r", control=b"/r/.git", common=b"/r/.git")
MYSELF = GitActor()


class GitProcessTests(SynchronousTestCase):
    """Time and output."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.killed = 0
        self.heard: list[bytes] = []
        self.git = GitProcess(self.clock, 30, self.take)
        self.git.start_timer(self.kill)

    def take(self, data: bytes) -> bool:
        if data == b"nonsense":
            raise GitOutputError("nonsense")
        self.heard.append(data)
        return data != b"enough"

    def kill(self) -> None:
        self.killed += 1

    def ending(self) -> GitProcessResult:
        self.assertEqual([], self.clock.getDelayedCalls())
        return self.successResultOf(self.git.ended)

    def test_unkillable_process_is_given_up(self) -> None:
        """It hangs in the kernel, at a mount whose server is gone."""
        self.clock.advance(30)
        self.assertEqual(1, self.killed)
        self.clock.advance(KILL_SECONDS - 0.1)
        self.assertNoResult(self.git.ended)
        self.clock.advance(0.1)
        ending = self.ending()
        self.assertEqual((None, True), (ending.status, ending.timed_out))
        self.git.stdout_received(b"late")
        self.git.process_ended(-9)
        self.assertEqual([], self.heard)

    def test_successful_process_returns_its_output(self) -> None:
        self.git.stdout_received(b"a")
        self.git.stderr_received(b"warning")
        self.git.process_ended(0)
        self.assertEqual([b"a"], self.heard)
        self.assertEqual(GitProcessResult(status=0, stderr=b"warning"), self.ending())
        self.git.kill()
        self.assertEqual(0, self.killed)

    def test_slow_process_is_killed(self) -> None:
        self.clock.advance(30)
        self.assertEqual(1, self.killed)
        self.git.process_ended(-9)
        ending = self.ending()
        self.assertEqual((-9, True), (ending.status, ending.timed_out))

    def test_process_is_killed_once_its_output_suffices(self) -> None:
        self.git.stdout_received(b"enough")
        self.git.stdout_received(b"more")
        self.assertEqual(([b"enough"], 1), (self.heard, self.killed))
        self.git.process_ended(-9)
        self.assertTrue(self.ending().enough)

    def test_malformed_output_kills_the_process(self) -> None:
        self.git.stdout_received(b"nonsense")
        self.git.process_ended(-9)
        self.assertIsInstance(self.ending().fault, GitOutputError)

    def test_error_output_is_bounded(self) -> None:
        for _ in range(10):
            self.git.stderr_received(b"x" * 1000)
        self.git.process_ended(1)
        ending = self.ending()
        self.assertEqual((1, 4096), (ending.status, len(ending.stderr)))

    def test_failed_start_has_its_reason(self) -> None:
        self.git.process_failed("no")
        self.assertEqual(GitProcessResult(status=None, reason="no"), self.ending())


class FakeServer(StringTransport):
    """A fork server that a test plays."""

    def __init__(self, protocol: Any) -> None:
        super().__init__()
        self.protocol = protocol
        self.open = True
        self.signals: list[str] = []
        protocol.makeConnection(self)

    def closeStdin(self) -> None:
        self.open = False

    def signalProcess(self, name: str) -> None:
        self.signals.append(name)

    def asked(self) -> list[tuple[int, int, bytes]]:
        """Every request since the last look."""
        found = list(ForkFrameDecoder().feed_bytes(self.value()))
        self.clear()
        return found

    def say(self, number: int, kind: int, payload: bytes) -> None:
        self.protocol.outReceived(HEAD.pack(number, kind, len(payload)) + payload)

    def end(self, number: int, status: int) -> None:
        self.say(number, ENDED, STATUS.pack(status))

    def die(self) -> None:
        self.protocol.processEnded(None)


@implementer(IReactorProcess)
class GitFakeProcesses:
    """Keeps the servers that were started."""

    def __init__(self) -> None:
        self.servers: list[FakeServer] = []
        self.error: OSError | None = None

    def spawnProcess(
        self,
        processProtocol: Any,
        executable: Any,
        args: Any = (),
        env: Any = None,
        path: Any = None,
        uid: Any = None,
        gid: Any = None,
        usePTY: Any = False,
        childFDs: Any = None,
    ) -> Any:
        if self.error is not None:
            raise self.error
        self.servers.append(FakeServer(processProtocol))
        return self.servers[-1]


class GitRunnerTests(SynchronousTestCase):
    """Starting, and judging the end."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.processes = GitFakeProcesses()
        self.bin = Path(self.mktemp()).resolve()
        self.bin.mkdir()
        (self.bin / "git").write_text("")
        (self.bin / "git").chmod(0o755)
        self.runner = self.make(str(self.bin))

    def make(self, path: str) -> GitRunner:
        return GitRunner(
            clock=self.clock,
            processes=cast(IReactorProcess, self.processes),
            environ={"PATH": path, "SECRET": "x", "GIT_DIR": "/elsewhere"},
            redactor=SecretRedactor(),
            find=make_program_finder(SynchronousThreads()),
        )

    @property
    def server(self) -> FakeServer:
        return self.processes.servers[-1]

    def read(self, actor: GitActor = MYSELF) -> Deferred[bytes]:
        return Deferred.fromCoroutine(
            self.runner.read(
                REPOSITORY, ["status"], actor=actor, timeout=5, overrides={"a.b": "c"}, limit=10
            )
        )

    def error(self, asked: Deferred[bytes]) -> str:
        return str(self.failureResultOf(asked, GitError).value)

    def test_output_is_returned(self) -> None:
        asked = self.read(GitActor(uid=5, gid=6))
        self.assertEqual(1, self.runner.running)
        ((number, kind, payload),) = self.server.asked()
        order = json.loads(payload)
        self.assertEqual((START, 5, 6), (kind, order["uid"], order["gid"]))
        self.assertEqual(str(self.bin / "git"), order["argv"][0])
        self.assertIn("status", order["argv"])
        self.assertNotIn("SECRET", order["env"])
        self.assertNotIn("GIT_DIR", order["env"])
        self.assertEqual("c", order["env"]["GIT_CONFIG_VALUE_0"])
        self.server.say(number, OUTPUT, b"out")
        self.server.end(number, 0)
        self.assertEqual(b"out", self.successResultOf(asked))
        self.assertEqual(0, self.runner.running)

    def test_processes_started_close_together_share_a_server(self) -> None:
        asked = [self.read() for _ in range(3)]
        numbers = [number for number, _, _ in self.server.asked()]
        for number in numbers:
            self.server.end(number, 0)
        self.assertEqual([b""] * 3, [self.successResultOf(each) for each in asked])
        self.clock.advance(IDLE_SECONDS - 1)
        self.read()
        self.clock.advance(2)
        self.server.end(max(numbers) + 1, 0)
        self.assertEqual((1, True), (len(self.processes.servers), self.server.open))
        self.clock.advance(IDLE_SECONDS)
        self.assertFalse(self.server.open)
        self.server.die()
        self.read()
        self.assertEqual(2, len(self.processes.servers))

    def test_missing_git_is_an_error(self) -> None:
        self.runner = self.make("/absent:.")
        self.failureResultOf(self.read(), GitMissingError)

    def test_failed_start_is_an_error(self) -> None:
        self.processes.error = OSError(7, "Argument list too long")
        why = "git could not be started: Argument list too long"
        self.assertEqual(why, self.error(self.read()))
        self.processes.error = None
        asked = self.read()
        self.server.say(self.server.asked()[0][0], FAILED, b"Argument list too long")
        self.assertEqual(why, self.error(asked))

    def test_lost_server_fails_its_processes(self) -> None:
        """The next read has another one."""
        asked = self.read()
        self.server.die()
        self.assertEqual(f"git could not be started: {LOST}", self.error(asked))
        self.read()
        self.assertEqual(2, len(self.processes.servers))

    def test_failed_processes_give_clean_errors(self) -> None:
        asked = self.read()
        ((number, _, _),) = self.server.asked()
        self.server.say(number, ERRORS, b"fatal: https://a:b@h/ is bad\nmore")
        self.server.end(number, 128)
        self.assertEqual("fatal: https://[redacted]@h/ is bad", self.error(asked))
        asked = self.read()
        ((number, _, _),) = self.server.asked()
        self.clock.advance(5)
        self.assertEqual([(number, KILL, b"")], self.server.asked())
        self.server.end(number, -9)
        self.assertEqual("git timed out after 5 s", self.error(asked))
        asked = self.read()
        ((number, _, _),) = self.server.asked()
        self.server.say(number, OUTPUT, b"x" * 11)
        self.assertEqual([(number, KILL, b"")], self.server.asked())
        self.server.end(number, -9)
        self.assertEqual("git printed more than 10 bytes", self.error(asked))

    def test_stop_waits_until_the_server_is_gone(self) -> None:
        """It is over when the server is gone, and everything with it."""
        asked = self.read()
        stopped = self.runner.stop()
        self.assertFalse(self.server.open)
        self.assertNoResult(stopped)
        self.server.die()
        self.successResultOf(stopped)
        self.error(asked)
        self.clock.advance(STOP_SECONDS)
        self.assertEqual([], self.server.signals)
        self.successResultOf(self.runner.stop())

    def test_server_that_does_not_leave_is_killed(self) -> None:
        asked = self.read()
        stopped = self.runner.stop()
        self.clock.advance(STOP_SECONDS)
        self.assertEqual(["KILL"], self.server.signals)
        self.server.die()
        self.successResultOf(stopped)
        self.error(asked)

    def test_pieces_are_joined_up_to_the_limit(self) -> None:
        pieces = OutputCollector(3)
        self.assertTrue(pieces.add_piece(b"abc"))
        self.assertFalse(pieces.add_piece(b"d"))
        self.assertEqual(b"abc", pieces.get_bytes())
