"""One session's tmux server: started, attached to, ended."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorProcess, IReactorTime
from twisted.internet.protocol import ProcessProtocol
from twisted.python.failure import Failure

from tservice.core.clock import sleep
from tservice.mux.interface import COMMAND_TIMEOUT, MuxError, MuxTimeout, PaneSpec
from tservice.mux.tmux import keeper
from tservice.mux.tmux.client import ControlClient
from tservice.mux.tmux.link import Link
from tservice.mux.transport import IHeldProcess, ITransport, Reach

CONFIGURATION = Path(__file__).with_name("tmux.conf")
KEEPER = Path(keeper.__file__)

DEFAULT_TERMINAL = "screen-256color"
"""C{TERM} of a pane whose environment names none; every system's terminfo has it."""

END_TIMEOUT = 3.0
"""Seconds for a server that was told to end, and for its pane's process after the hangup."""

LOOK_EVERY = 0.01


class Server:
    """What can be done with the socket at C{path}.

    The server makes itself a daemon in a session of its own with none of this process's
    descriptors, so that nothing that happens to the service reaches it.

    @param clock: time.
    @param processes: starts the clients.
    @param python: the interpreter that runs the keeper.
    """

    def __init__(
        self,
        clock: IReactorTime,
        processes: IReactorProcess,
        transport: ITransport,
        path: Path,
        python: str,
    ) -> None:
        self.path = path
        self._clock = clock
        self._processes = processes
        self._transport = transport
        self._python = python

    def reach(self) -> Reach:
        """Whether it listens."""
        return self._transport.reach(self.path)

    def start(self, client: ControlClient, spec: PaneSpec, token: bytes) -> None:
        """Start the server, with C{client} attached from the first byte on."""
        size = ("-x", str(spec.cols), "-y", str(spec.rows))
        program = (self._python, "-I", "-S", str(KEEPER))
        self._client(
            client,
            ("-f", str(CONFIGURATION), "-C", "new-session", *size, "-c", "/", "--", *program),
            environment(spec, token),
        )

    def attach(self, client: ControlClient) -> None:
        """Attach C{client} to the session that runs there."""
        # Without -N it would start a server where there is none.
        self._client(client, ("-N", "-C", "attach-session"), {})

    async def end(self, link: Link, pid: int | None) -> None:
        """End the server and the process in its pane; returns once both are gone.

        @raise MuxTimeout: it still listens.
        """
        held = None if pid is None else self._transport.hold(pid)
        link.expect_end(True)
        try:
            await self._end_server(link)
            self.path.unlink(missing_ok=True)
            await self._end_process(held)
        finally:
            link.expect_end(False)
            if held is not None:
                held.close()

    async def _end_server(self, link: Link) -> None:
        try:
            await link.command(b"kill-server")
        except MuxError:
            # No client, or none that answers: ask by a process of its own.
            if self.reach() is not Reach.GONE:
                await self._kill_by_process()
        deadline = self._clock.seconds() + END_TIMEOUT
        while self.reach() is not Reach.GONE:
            if self._clock.seconds() > deadline:
                raise MuxTimeout(f"the tmux server of {self.path.stem} does not end")
            await sleep(self._clock, LOOK_EVERY)

    async def _kill_by_process(self) -> None:
        protocol = _Run()
        arguments = self._transport.argv("-N", "-S", str(self.path), "kill-server")
        self._processes.spawnProcess(protocol, arguments[0], arguments, {}, "/")
        timer = self._clock.callLater(COMMAND_TIMEOUT, protocol.kill)
        await protocol.ended
        if timer.active():
            timer.cancel()

    async def _end_process(self, held: IHeldProcess | None) -> None:
        # A program that ignores the hangup would live on without a terminal.
        deadline = self._clock.seconds() + END_TIMEOUT
        while held is not None and not held.over():
            if self._clock.seconds() > deadline:
                held.kill()
                return
            await sleep(self._clock, LOOK_EVERY)

    def _client(
        self, client: ControlClient, arguments: tuple[str, ...], env: Mapping[bytes, bytes]
    ) -> None:
        argv = self._transport.argv("-u", "-S", str(self.path), *arguments)
        self._processes.spawnProcess(client, argv[0], argv, env, "/")


class _Run(ProcessProtocol):
    """Waits for a short process; its output does not matter."""

    def __init__(self) -> None:
        self.ended: Deferred[None] = Deferred()

    def kill(self) -> None:
        if self.transport is not None:
            self.transport.signalProcess("KILL")

    def processEnded(self, reason: Failure) -> None:
        self.ended.callback(None)


def environment(spec: PaneSpec, token: bytes) -> dict[bytes, bytes]:
    """The server's environment: the pane's own, and what the keeper takes out of it again.

    @raise MuxError: a name or a value that no environment can hold.
    """
    own = {os.fsencode(name): os.fsencode(value) for name, value in spec.env.items()}
    term = own.get(b"TERM", DEFAULT_TERMINAL.encode())
    added = {b"TOKEN": token, b"CWD": os.fsencode(spec.cwd), b"TERM": term}
    added[b"HISTORY"] = b"%d" % spec.history_limit
    added |= {b"ARG%d" % at: os.fsencode(word) for at, word in enumerate(spec.argv)}
    added |= {b"ENV_" + name: own[name] for name in keeper.OVERWRITTEN if name in own}
    added[b"ENV_TERM"] = term
    found = own | {keeper.PREFIX + name: value for name, value in added.items()}
    for name, value in found.items():
        if not name or b"=" in name or b"\0" in name + value:
            raise MuxError(f"not a variable of an environment: {name!r}")
    return found
