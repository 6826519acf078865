"""tmux clients that a test plays."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.error import ProcessDone, ProcessTerminated
from twisted.python.failure import Failure

from tservice.mux.tmux.control_client import ControlClient
from tservice.mux.tmux.control_parser import ControlNotice, PaneOutput
from tservice.mux.transport import ServerReachability


class ClientProcess:
    """The process of one client, as its transport."""

    def __init__(self, client: ControlClient) -> None:
        self.client = client
        self.lines: list[bytes] = []
        self.signals: list[str] = []
        self.open = True
        self.number = 0
        client.makeConnection(self)

    # -- what the client calls

    def write(self, data: bytes) -> None:
        self.lines += data.splitlines()

    def closeStdin(self) -> None:
        self.end_stream()

    def signalProcess(self, name: str) -> None:
        self.signals.append(name)
        self.end_stream(9)

    def loseConnection(self) -> None:
        self.open = False

    # -- what the test plays

    def say(self, data: bytes) -> None:
        """Tmux writes C{data}."""
        self.client.outReceived(data)

    def attached(self) -> None:
        """Tmux answers the attach."""
        self.say(b"%begin 1 1 0\n%end 1 1 0\n")

    def answer(self, *lines: bytes, ok: bool = True) -> None:
        """Tmux answers one command."""
        self.number += 1
        text = b"".join(line + b"\n" for line in lines)
        guard = b"2 %d 1\n" % self.number
        self.say(b"%begin " + guard + text + (b"%end " if ok else b"%error ") + guard)

    def end_stream(self, signal: int | None = None) -> None:
        """The process is over: first exited, then ended, as Twisted tells it."""
        if not self.open:
            return
        self.open = False
        why = ProcessDone(0) if signal is None else ProcessTerminated(signal=signal)
        self.client.processExited(Failure(why))
        self.client.processEnded(Failure(why))


class FakeTmuxServer:
    """A server without a process, for a link."""

    def __init__(self) -> None:
        self.started: list[ClientProcess] = []
        self.reached = ServerReachability.HERE
        self.answering = True
        self.asked = 0
        self._held: Deferred[ServerReachability] | None = None

    def hold(self) -> Deferred[ServerReachability]:
        """Let the next question wait for what is returned."""
        self._held = Deferred()
        return self._held

    def attach_client(self, client: ControlClient) -> None:
        self.started.append(ClientProcess(client))

    async def wait_until_ready(self) -> None:
        """It always is."""

    def request_connection(self) -> None:
        """It is at hand."""

    async def check_reachability(self) -> ServerReachability:
        held, self._held = self._held, None
        return self.reached if held is None else await held

    async def is_responsive(self) -> bool:
        self.asked += 1
        return self.answering


class RecordingLinkListener:
    """Remembers what a client or a link tells."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def client_output(self, client: ControlClient, output: PaneOutput) -> None:
        self.events.append(output.data)

    def client_notice(self, client: ControlClient, notice: ControlNotice) -> None:
        self.events.append(notice)

    def client_dropped_line(self, client: ControlClient) -> None:
        self.events.append("overrun")

    def client_stalled(self, client: ControlClient) -> None:
        self.events.append("stalled")

    def client_ended(self, client: ControlClient, why: str) -> None:
        self.events.append(("ended", why))

    def handle_attached(self) -> None:
        self.events.append("attached")

    def handle_output(self, output: PaneOutput) -> None:
        self.events.append(output.data)

    def handle_notice(self, notice: ControlNotice) -> None:
        self.events.append(notice)

    def handle_output_gap(self) -> None:
        self.events.append("gap")

    def handle_heartbeat(self) -> None:
        self.events.append("heartbeat")

    def handle_lost_server(self) -> None:
        self.events.append("lost")
