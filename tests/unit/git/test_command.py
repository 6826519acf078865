"""One git process, its bounds, and what its end means."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.error import ProcessDone, ProcessExitedAlready, ProcessTerminated
from twisted.internet.interfaces import IReactorProcess
from twisted.internet.task import Clock
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from tservice.core.redact import Redactor
from tservice.git.command import GRACE, Ending, GitProcess
from tservice.git.model import Repository
from tservice.git.porcelain import BadOutput
from tservice.git.runner import Actor, GitError, GitMissing, GitRunner, Pieces

REPOSITORY = Repository(root=b"/r", control=b"/r/.git", common=b"/r/.git")
MYSELF = Actor()


class FakeTransport:
    """A process that a test ends by hand; exit and end come in the order of real Twisted."""

    def __init__(self, protocol: GitProcess) -> None:
        self.pid: int | None = 4242
        self.protocol = protocol
        self.did: list[str] = []
        protocol.transport = cast(Any, self)
        protocol.connectionMade()

    def closeStdin(self) -> None:
        self.did.append("closeStdin")

    def loseConnection(self) -> None:
        self.did.append("loseConnection")

    def signalProcess(self, name: str) -> None:
        if self.pid is None:
            raise ProcessExitedAlready
        self.did.append(name)

    def exit(self, status: int | None = 0, number: int | None = None) -> None:
        self.pid = None
        self.reason = Failure(ProcessDone(0) if status == 0 else ProcessTerminated(status, number))
        self.protocol.processExited(self.reason)

    def end(self, status: int | None = 0, number: int | None = None) -> None:
        self.exit(status, number)
        self.protocol.processEnded(self.reason)


class GitProcessTests(SynchronousTestCase):
    """Time, output, and the whole group."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.killed: list[tuple[int, int]] = []
        self.heard: list[bytes] = []
        self.group = True
        self.git = GitProcess(self.clock, 30, self.take, self.kill_group)
        self.transport = FakeTransport(self.git)

    def take(self, data: bytes) -> bool:
        if data == b"nonsense":
            raise BadOutput("nonsense")
        self.heard.append(data)
        return data != b"enough"

    def kill_group(self, group: int, number: int) -> None:
        if not self.group:
            raise ProcessLookupError
        self.killed.append((group, number))

    def ending(self) -> Ending:
        self.assertEqual([], self.clock.getDelayedCalls())
        return self.successResultOf(self.git.ended)

    def test_well(self) -> None:
        self.git.outReceived(b"a")
        self.git.errReceived(b"warning")
        self.transport.end()
        self.assertEqual([b"a"], self.heard)
        self.assertEqual(Ending(status=0, stderr=b"warning"), self.ending())
        self.assertEqual(["closeStdin"], self.transport.did)

    def test_too_slow(self) -> None:
        self.clock.advance(30)
        self.assertEqual([(4242, signal.SIGKILL)], self.killed)
        self.transport.end(None, signal.SIGKILL)
        ending = self.ending()
        self.assertEqual((None, True), (ending.status, ending.timed_out))

    def test_not_yet_a_group(self) -> None:
        self.group = False
        self.clock.advance(30)
        self.assertIn("KILL", self.transport.did)
        self.transport.end(None, signal.SIGKILL)
        self.assertTrue(self.ending().timed_out)

    def test_enough(self) -> None:
        self.git.outReceived(b"enough")
        self.git.outReceived(b"more")
        self.assertEqual(([b"enough"], 1), (self.heard, len(self.killed)))
        self.transport.end(None, signal.SIGKILL)
        self.assertTrue(self.ending().enough)

    def test_nonsense(self) -> None:
        self.git.outReceived(b"nonsense")
        self.transport.end(None, signal.SIGKILL)
        self.assertIsInstance(self.ending().fault, BadOutput)

    def test_stderr_is_bounded(self) -> None:
        for _ in range(10):
            self.git.errReceived(b"x" * 1000)
        self.transport.end(1)
        ending = self.ending()
        self.assertEqual((1, 4096), (ending.status, len(ending.stderr)))

    def test_pipes_held_open(self) -> None:
        """What git left behind goes with it, and what escaped holds nothing up."""
        self.transport.exit()
        self.assertEqual([(4242, signal.SIGKILL)], self.killed)
        self.clock.advance(GRACE)
        self.assertIn("loseConnection", self.transport.did)
        self.git.processEnded(self.transport.reason)
        self.assertEqual(0, self.ending().status)


@implementer(IReactorProcess)
class FakeProcesses:
    """Keeps what was asked for."""

    def __init__(self) -> None:
        self.spawned: list[tuple[FakeTransport, list[bytes], Mapping[bytes, bytes], Any]] = []
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
        transport = FakeTransport(processProtocol)
        self.spawned.append((transport, list(args), env, (path, uid, gid)))
        return transport


class GitRunnerTests(SynchronousTestCase):
    """Starting, and judging the end."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.processes = FakeProcesses()
        self.bin = Path(self.mktemp()).resolve()
        self.bin.mkdir()
        self.program("git")
        self.runner = self.make(str(self.bin))

    def make(self, path: str) -> GitRunner:
        return GitRunner(
            clock=self.clock,
            processes=self.processes,
            environ={"PATH": path, "SECRET": "x", "GIT_DIR": "/elsewhere"},
            redactor=Redactor(),
        )

    def program(self, name: str) -> None:
        (self.bin / name).write_text("")
        (self.bin / name).chmod(0o755)

    def read(self, actor: Actor = MYSELF) -> Deferred[bytes]:
        return Deferred.fromCoroutine(
            self.runner.read(
                REPOSITORY, ["status"], actor=actor, timeout=5, overrides={"a.b": "c"}, limit=10
            )
        )

    def error(self, asked: Deferred[bytes]) -> str:
        return str(self.failureResultOf(asked, GitError).value)

    def test_output(self) -> None:
        asked = self.read(Actor(uid=5, gid=6))
        transport, argv, env, where = self.processes.spawned[0]
        self.assertEqual((None, 5, 6), where)
        self.assertIn(b"status", argv)
        self.assertNotIn(b"SECRET", env)
        self.assertNotIn(b"GIT_DIR", env)
        self.assertEqual(b"c", env[b"GIT_CONFIG_VALUE_0"])
        transport.protocol.outReceived(b"out")
        transport.end()
        self.assertEqual(b"out", self.successResultOf(asked))

    def test_a_session_of_its_own(self) -> None:
        """By C{setsid} where there is one, else by Python."""
        self.read()
        self.clock.advance(0)
        self.program("setsid")
        self.read()
        first, second = (argv for _, argv, _, _ in self.processes.spawned)
        self.assertIn(b"setsid()", b" ".join(first))
        self.assertTrue(second[0].endswith(b"/setsid"))
        self.assertTrue(second[1].endswith(b"/git"))

    def test_one_start_a_turn_of_the_reactor(self) -> None:
        """A start holds the reactor up until the child is there; others have turns in between."""
        asked = [self.read() for _ in range(4)]
        self.assertEqual(1, len(self.processes.spawned))
        asked[1].cancel()
        self.failureResultOf(asked[1], CancelledError)
        for number in (2, 3, 3):
            self.turn()
            self.assertEqual(number, len(self.processes.spawned))
        self.assertEqual(3, self.runner.running)

    def turn(self) -> None:
        """What is due now; as with a real reactor, what that puts off is for the next turn."""
        for call in tuple(self.clock.calls):
            if call.getTime() <= self.clock.seconds():
                self.clock.calls.remove(call)
                call.called = 1
                call.func(*call.args, **call.kw)

    def test_missing(self) -> None:
        self.runner = self.make("/absent:.")
        self.failureResultOf(self.read(), GitMissing)

    def test_not_started(self) -> None:
        self.processes.error = OSError(7, "Argument list too long")
        self.assertEqual(
            "git could not be started: Argument list too long", self.error(self.read())
        )

    def test_bad_ends(self) -> None:
        asked = self.read()
        transport = self.processes.spawned[-1][0]
        transport.protocol.errReceived(b"fatal: https://a:b@h/ is bad\nmore")
        transport.end(128)
        self.assertEqual("fatal: https://[redacted]@h/ is bad", self.error(asked))
        self.clock.advance(0)
        asked = self.read()
        self.clock.advance(5)
        self.processes.spawned[-1][0].end(None, 9)
        self.assertEqual("git timed out after 5 s", self.error(asked))
        asked = self.read()
        self.processes.spawned[-1][0].protocol.outReceived(b"x" * 11)
        self.processes.spawned[-1][0].end(None, 9)
        self.assertEqual("git printed more than 10 bytes", self.error(asked))

    def test_stop(self) -> None:
        asked = self.read()
        transport = self.processes.spawned[0][0]
        transport.protocol._kill_group = lambda group, number: transport.did.append("group")
        self.runner.stop()
        self.assertIn("group", transport.did)
        transport.end(None, 9)
        self.error(asked)

    def test_pieces(self) -> None:
        pieces = Pieces(3)
        self.assertTrue(pieces.take(b"abc"))
        self.assertFalse(pieces.take(b"d"))
        self.assertEqual(b"abc", pieces.data())
