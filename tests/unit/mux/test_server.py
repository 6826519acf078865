"""Ending a server whose place may be out of reach: what is unknown is neither killed nor dead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.error import ProcessTerminated
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import Clock
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from tservice.mux.interface import LeftoverProcess, Liveness, MuxError, MuxTimeout, PaneGone
from tservice.mux.process_family import ProcessFamily
from tservice.mux.tmux.server import END_TIMEOUT, HANGUP_TIMEOUT, LOOK_EVERY, TmuxServer
from tservice.mux.tmux.setup import LocalSetup
from tservice.mux.tmux.sockets import SocketFolder
from tservice.mux.transport import ChildSpec, ServerReachability

LEFT = (LeftoverProcess(pid=9, command="sleep 9"),)
ID = "0a1b2c3d-0000-4000-8000-00000000000a"


class FakeHeldProcess:
    """A process of a far place.

    @ivar states: what the next looks find; the last one stays.
    """

    def __init__(self, *states: Liveness) -> None:
        self.states = list(states)
        self.done: list[str] = []

    async def get_liveness(self) -> Liveness:
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]

    async def send_hangup(self) -> None:
        self.done.append("HUP")

    async def kill(self) -> None:
        self.done.append("KILL")

    async def find_family(self, clock: IReactorTime, session_id: str) -> ProcessFamily:
        return KnownProcesses(self.done)

    def close(self) -> None:
        self.done.append("closed")


class KnownProcesses:
    """What it started: one process, which stays."""

    def __init__(self, done: list[str]) -> None:
        self.done = done

    async def hang_up_jobs(self) -> None:
        self.done.append("HUP of jobs")

    async def find_leftovers(self) -> tuple[LeftoverProcess, ...]:
        return LEFT


class FakeRemoteTransport:
    """The way to a far place."""

    def __init__(
        self,
        reach: ServerReachability,
        process: FakeHeldProcess | None,
        server: FakeHeldProcess | None,
    ) -> None:
        self.reached, self.process, self.server = reach, process, server

    def build_child(
        self, socket_path: Path, arguments: Sequence[str], env: Mapping[bytes, bytes]
    ) -> ChildSpec:
        return ChildSpec(argv=["/far", *arguments], env=env)

    async def wait_until_ready(self) -> None:
        """It always is."""

    def request_connection(self) -> None:
        """It is at hand."""

    async def check_reachability(self, socket_path: Path) -> ServerReachability:
        return self.reached

    async def acquire_process(self, pid: int) -> FakeHeldProcess | None:
        return self.process

    async def acquire_server(self, socket_path: Path) -> FakeHeldProcess | None:
        if self.server is not None:
            self.reached = ServerReachability.GONE
        return self.server


class ClosedLink:
    """One whose client is gone already."""

    def __init__(self) -> None:
        self.expected: list[bool] = []
        self.commands: list[bytes] = []

    async def send_command(self, line: bytes) -> None:
        self.commands.append(line)
        raise PaneGone("no client")

    def set_end_expected(self, expected: bool) -> None:
        self.expected.append(expected)


class IdleProcesses:
    """Starts nothing that ever ends by itself."""

    def spawnProcess(self, protocol: Any, *args: Any, **more: Any) -> None:
        protocol.makeConnection(self)
        self.signalProcess = lambda signal: protocol.processEnded(Failure(ProcessTerminated(9)))


class ReadOnly(SocketFolder):
    """On a disk that became read-only."""

    async def remove_socket(self, session_id: str) -> None:
        raise MuxError("the socket cannot be removed: Read-only file system")


class ServerEndTests(SynchronousTestCase):
    """L{TmuxServer.end_server}."""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp())
        self.sockets = SocketFolder(self.folder)

    def end(
        self,
        reach: ServerReachability,
        process: FakeHeldProcess | None,
        server: FakeHeldProcess | None = None,
    ) -> tuple[Deferred[tuple[LeftoverProcess, ...]], Clock]:
        clock, self.link = Clock(), ClosedLink()
        processes: Any = IdleProcesses()
        link: Any = self.link
        setup = LocalSetup(
            transport=FakeRemoteTransport(reach, process, server),
            sockets=self.sockets,
            python="/python",
        )
        ending = Deferred.fromCoroutine(TmuxServer(clock, processes, setup, ID).end_server(link, 7))
        return ending, clock

    def wait(self, clock: Clock, seconds: float) -> None:
        clock.pump([LOOK_EVERY] * int(seconds / LOOK_EVERY + 2))

    def test_process_that_ends_by_itself_is_not_killed(self) -> None:
        held = FakeHeldProcess(Liveness.ALIVE, Liveness.ALIVE, Liveness.DEAD)
        ending, clock = self.end(ServerReachability.GONE, held)
        self.wait(clock, 0.1)
        self.assertEqual(LEFT, self.successResultOf(ending))
        self.assertEqual(["HUP", "HUP of jobs", "closed"], held.done)
        self.assertEqual([True, False], self.link.expected)

    def test_server_whose_socket_cannot_be_removed_counts_as_ended(self) -> None:
        """All has ended; what is left of it is not said to live."""
        self.sockets = ReadOnly(self.folder)
        held = FakeHeldProcess(Liveness.ALIVE, Liveness.DEAD)
        ending, clock = self.end(ServerReachability.GONE, held)
        self.wait(clock, 0.1)
        self.assertEqual(LEFT, self.successResultOf(ending))
        self.assertEqual(["HUP", "HUP of jobs", "closed"], held.done)

    def test_process_is_hung_up_before_its_terminal_closes(self) -> None:
        """A shell whose terminal is gone first takes that for the end of its input, and tells its
        jobs nothing.
        """
        held, server = FakeHeldProcess(Liveness.ALIVE), FakeHeldProcess(Liveness.ALIVE)
        ending, clock = self.end(ServerReachability.HERE, held, server)
        self.assertEqual((["HUP"], []), (held.done, self.link.commands))
        held.states = [Liveness.DEAD]
        self.wait(clock, 5 + END_TIMEOUT + 1)
        self.assertEqual([b"kill-server"], self.link.commands)
        self.assertEqual(LEFT, self.successResultOf(ending))
        self.assertEqual(["HUP", "HUP of jobs", "closed"], held.done)

    def test_process_that_survives_the_hangup_is_killed(self) -> None:
        held = FakeHeldProcess(Liveness.ALIVE)
        ending, clock = self.end(ServerReachability.GONE, held)
        self.wait(clock, HANGUP_TIMEOUT)
        self.assertEqual(["HUP", "KILL"], held.done)
        held.states = [Liveness.DEAD]
        self.wait(clock, 0.1)
        self.assertEqual(LEFT, self.successResultOf(ending))

    def test_unidentified_process_is_not_killed(self) -> None:
        held = FakeHeldProcess(Liveness.UNKNOWN)
        ending, clock = self.end(ServerReachability.GONE, held)
        self.wait(clock, HANGUP_TIMEOUT)
        why = self.failureResultOf(ending, MuxTimeout)
        self.assertIn("it is unknown", why.getErrorMessage())
        self.assertEqual(["HUP", "closed"], held.done)

    def test_unreachable_server_is_not_taken_for_dead(self) -> None:
        """Its socket is left, and its process too."""
        held = FakeHeldProcess(Liveness.ALIVE)
        ending, clock = self.end(ServerReachability.UNKNOWN, held)
        self.wait(clock, 5 + 2 * END_TIMEOUT + 1)
        self.assertIn("does not end", self.failureResultOf(ending, MuxTimeout).getErrorMessage())
        self.assertEqual(["closed"], held.done)
        self.assertEqual([True, False], self.link.expected)

    def test_stalled_server_is_killed_if_visible(self) -> None:
        server = FakeHeldProcess(Liveness.ALIVE)
        ending, clock = self.end(ServerReachability.HERE, None, server)
        self.wait(clock, 5 + END_TIMEOUT + 1)
        self.assertEqual((), self.successResultOf(ending))
        self.assertEqual(["KILL", "closed"], server.done)
