"""Starts, attaches to and ends the tmux server of one session."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.error import ProcessDone, ProcessExitedAlready
from twisted.internet.interfaces import IReactorProcess, IReactorTime
from twisted.internet.protocol import ProcessProtocol
from twisted.logger import Logger
from twisted.python.failure import Failure

from tservice.core.disk.disk_errors import find_disk_problem
from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.timers import cancel_call
from tservice.mux.interface import COMMAND_TIMEOUT, Liveness, MuxError, MuxTimeout, PaneSpec
from tservice.mux.preamble import ShellPreambleFilter
from tservice.mux.process_family import LeftoverProcess, ProcessFamily, UnknownProcessFamily
from tservice.mux.tmux.control_client import ControlClient
from tservice.mux.tmux.server_link import ServerLink
from tservice.mux.tmux.setup import ServerSetup
from tservice.mux.transport import ChildSpec, HeldProcess, ServerReachability

END_TIMEOUT = 3.0
"""Seconds that a server gets to end by itself before it is killed."""

HANGUP_TIMEOUT = 2.0
"""Seconds that a pane's process gets to end after its terminal was closed."""

LOOK_EVERY = 0.01


class TmuxServer:
    """Operations on the tmux server of one session.

    The server daemonizes in a separate Unix session with none of this process's descriptors, so
    that it does not depend on the service.

    @param processes: the reactor, which starts the client processes.
    @param setup: transport, socket folder and start command of the server.
    @ivar path: path of the server's socket.
    @ivar owned: true if the server belongs to this service alone; otherwise it is never ended.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        processes: IReactorProcess,
        setup: ServerSetup,
        session_id: str,
    ) -> None:
        self.path = setup.sockets.get_socket_path(session_id)
        self.owned = setup.is_owned
        self._session_id = session_id
        self._clock = clock
        self._processes = processes
        self._setup = setup
        self._transport = setup.transport

    async def check_reachability(self) -> ServerReachability:
        """Check if the server listens on its socket."""
        return await self._transport.check_reachability(self.path)

    async def prepare_start(self) -> None:
        """Prepare the start of a server: create the folder and remove a stale socket.

        @raise MuxError: a server runs, or its state is unknown.
        """
        await self._setup.sockets.prepare_folder()
        if self._setup.refuses_duplicates:
            return
        if await self.check_reachability() is not ServerReachability.GONE:
            raise MuxError(f"session {self._session_id} still has a tmux server")
        await self.remove_socket()

    async def remove_socket(self) -> None:
        """Remove the socket of a server that is gone.

        @raise MuxError: it cannot be removed.
        """
        await self._setup.sockets.remove_socket(self._session_id)

    def start_server(
        self, client: ControlClient, spec: PaneSpec, token: bytes, preface: bytes = b""
    ) -> None:
        """Start the server with C{client} attached, so that the client receives all output.

        @param token: unguessable word that authenticates the keeper's messages.
        @param preface: path of the file with the preface; see L{put_preface}.
        """
        child = self._setup.build_start_child(self.path, spec, token, preface)
        # The server outlives the service and must not keep its folder busy. Other children may stay
        # there: starting a process in another folder requires a fork, which takes 100 times as long
        # as a spawn.
        self._spawn_client(client, child, "/")

    async def put_preface(self, spec: PaneSpec) -> bytes:
        """Write the preface of C{spec} to a file for the keeper. Return the file's path; empty for
        none.
        """
        if not spec.preface:
            return b""
        sockets = self._setup.sockets
        try:
            return os.fsencode(await sockets.put_preface(spec.session_id, spec.preface))
        except OSError as error:
            self._log.warn(
                "{id} starts without its preface: {error}", id=spec.session_id, error=error
            )
            return b""

    async def explain_failed_start(self) -> str | None:
        """Return a problem of the location, or of the disk of the socket. tmux does not report
        these.

        @return: one line; C{None} if no problem is known. See
            L{tservice.core.disk.disk_errors.find_disk_problem}.
        """
        if (
            self._setup.refuses_duplicates
            or await self.check_reachability() is not ServerReachability.GONE
        ):
            return None
        told = self._setup.find_trouble()
        if told is not None:
            return told
        try:
            # Any file will do, and this one is removed with the socket.
            await self._setup.sockets.put_preface(self._session_id, b"\n")
            await self.remove_socket()
        except OSError as error:
            return find_disk_problem(error)
        return None

    def attach_client(self, client: ControlClient) -> None:
        """Attach C{client} to the running tmux session."""
        # Without -N it would start a server if there is none.
        arguments = ("-N", "-C", "attach-session")
        self._spawn_client(client, self._transport.build_child(self.path, arguments, {}))

    async def wait_until_ready(self) -> None:
        """See L{TmuxTransport.wait_until_ready}."""
        await self._transport.wait_until_ready()

    def request_connection(self) -> None:
        """See L{TmuxTransport.request_connection}."""
        self._transport.request_connection()

    async def is_responsive(self) -> bool:
        """Return true if the server runs a command within L{COMMAND_TIMEOUT}.

        A short tmux process sends the command instead of the control client. If the server has
        stalled, that process is killed and leaves nothing behind on the server.
        """
        return await self._run_command("display-message", "-p", "")

    async def end_server(self, link: ServerLink, pid: int | None) -> tuple[LeftoverProcess, ...]:
        """End the server and the process in its pane. Return once both are gone.

        @param pid: pid of the pane's process; C{None} if unknown.
        @return: the processes that the pane's process started and left behind.
        @raise MuxTimeout: the server still listens, or the end of the server or the process cannot
            be confirmed.
        """
        held = None if pid is None else await self._transport.acquire_process(pid)
        link.set_end_expected(True)
        try:
            family: ProcessFamily = UnknownProcessFamily()
            if held is not None:
                family = await held.find_family(self._clock, self._session_id)
                await self._hang_up_process(held)
            await self._end_server(link)
            await self._hang_up_or_kill_process(held)
            await family.hang_up_jobs()
            await self._try_remove_socket()
            return await family.find_leftovers()
        finally:
            link.set_end_expected(False)
            if held is not None:
                held.close()

    async def _hang_up_process(self, held: HeldProcess) -> None:
        """Send SIGHUP to the process while its terminal exists, and give it a moment to end.

        If the terminal is closed before the signal arrives, a shell treats that as the end of its
        input. Then it does not end its jobs.
        """
        # A server out of reach is left alone, and so is its pane.
        if (
            await self.check_reachability() is ServerReachability.HERE
            and await held.get_liveness() is Liveness.ALIVE
        ):
            await held.send_hangup()
            await self._wait_until_dead(held)

    async def _try_remove_socket(self) -> None:
        """Remove the socket. If this fails, such as on a read-only disk, a later check removes
        it.
        """
        try:
            await self.remove_socket()
        except MuxError as error:
            self._log.warn("{path}: {error}", path=self.path, error=error, event="socket-left")

    async def _end_server(self, link: ServerLink) -> None:
        try:
            await link.send_command(b"kill-server")
        except MuxError:
            # No client, or none that answers: ask in a separate process.
            if await self.check_reachability() is not ServerReachability.GONE:
                await self._run_command("kill-server")
        if not await self._wait_until_gone():
            # It has stalled, or waits forever for a client whose pipes are no longer read.
            await self._kill_server()
            if not await self._wait_until_gone():
                raise MuxTimeout(f"the tmux server of {self.path.stem} does not end")

    async def _kill_server(self) -> None:
        # Hold only a server that is seen to listen there.
        server = await self._transport.acquire_server(self.path)
        if server is not None:
            try:
                await server.kill()
            finally:
                server.close()

    async def _wait_until_gone(self) -> bool:
        deadline = self._clock.seconds() + END_TIMEOUT
        while await self.check_reachability() is not ServerReachability.GONE:
            if self._clock.seconds() > deadline:
                return False
            await wait_seconds(self._clock, LOOK_EVERY)
        return True

    async def _run_command(self, *command: str) -> bool:
        """Run one tmux command in a separate process. Return true if it succeeded in time."""
        child = self._transport.build_child(self.path, ("-N", *command), {})
        protocol = _ShortProcessProtocol(child.initial_input)
        if child.initial_input:
            self._spawn_child(protocol, child)
        else:
            # No pipes: a stalled server would keep them open after the process.
            null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
            try:
                self._spawn_child(protocol, child, childFDs=dict.fromkeys((0, 1, 2), null))
            finally:
                os.close(null)
        timer = self._clock.callLater(COMMAND_TIMEOUT, protocol.kill)
        try:
            done = await protocol.ended
            # On a remote host the connection may have failed instead of tmux.
            return timer.active() and (done or not child.initial_input)
        finally:
            cancel_call(timer)

    async def _hang_up_or_kill_process(self, held: HeldProcess | None) -> None:
        if held is None or await held.get_liveness() is Liveness.DEAD:
            return
        # The kernel hangs up the foreground only: a shell in a loop would not get the signal.
        await held.send_hangup()
        found = await self._wait_until_dead(held)
        if found is Liveness.ALIVE:
            # A program that ignores the hangup would live on without a terminal.
            await held.kill()
            found = await self._wait_until_dead(held)
        if found is Liveness.UNKNOWN:
            raise MuxTimeout(f"it is unknown if the process of {self.path.stem} has ended")

    async def _wait_until_dead(self, held: HeldProcess) -> Liveness:
        """Wait until the process has ended, at most L{HANGUP_TIMEOUT}. Return its last known
        liveness.
        """
        deadline = self._clock.seconds() + HANGUP_TIMEOUT
        found = await held.get_liveness()
        while found is not Liveness.DEAD and self._clock.seconds() <= deadline:
            await wait_seconds(self._clock, LOOK_EVERY)
            found = await held.get_liveness()
        return found

    def _spawn_client(
        self, client: ControlClient, child: ChildSpec, folder: str | None = None
    ) -> None:
        client.initial_input = child.initial_input
        client.preamble = ShellPreambleFilter(child.mark)
        self._spawn_child(client, child, folder)
        if child.preopened is not None:
            child.preopened.start_idle_child()

    def _spawn_child(
        self, protocol: ProcessProtocol, child: ChildSpec, folder: str | None = None, **more: Any
    ) -> None:
        """Start a child process.

        @param folder: its working folder; the service's own if C{None}. For another user it is
            always the root folder, because that user may lack the right to enter.
        @raise MuxError: the system refuses.
        """
        if child.preopened is not None and child.preopened.hand_over_child(protocol):
            return
        path, argv = "/" if self._setup.is_foreign else folder, child.argv
        try:
            with self._setup.start_context():
                self._processes.spawnProcess(protocol, argv[0], argv, child.env, path, **more)
        except OSError as error:
            raise MuxError(f"{argv[0]} cannot be started: {error.strerror}") from error


class _ShortProcessProtocol(ProcessProtocol):
    """Protocol that waits for the exit of a short process and ignores its output.

    @ivar ended: fires at the exit, with true if the process succeeded. Cancelling it kills the
        process.
    """

    transport: Any

    def __init__(self, first: bytes) -> None:
        self.ended: Deferred[bool] = Deferred(lambda _: self.kill())
        self._first = first

    def kill(self) -> None:
        if self.transport is not None:
            with suppress(ProcessExitedAlready):
                self.transport.signalProcess("KILL")

    def connectionMade(self) -> None:
        if self._first:
            self.transport.write(self._first)
            self.transport.closeStdin()

    def processEnded(self, reason: Failure) -> None:
        if not self.ended.called:
            self.ended.callback(reason.check(ProcessDone) is not None)
