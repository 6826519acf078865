"""Connection to one tmux server. It replaces its control client when that client ends."""

from __future__ import annotations

from typing import Protocol

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import NamedTimers, cancel_call
from tservice.mux.interface import COMMAND_TIMEOUT, MuxBusy, MuxError, MuxTimeout, PaneGone
from tservice.mux.tmux.commands import PANE, substitute_pane
from tservice.mux.tmux.control_client import MAX_WAITING, ClientGone, ControlClient
from tservice.mux.tmux.control_parser import AnswerBlock, ControlNotice, PaneOutput
from tservice.mux.transport import ServerReachability

FIRST_DELAY = 0.05
LAST_DELAY = 5.0
"""Maximum seconds between two attempts to attach. The delay starts at C{FIRST_DELAY} and doubles.
"""

SETTLED = 2.0
"""Seconds that a client must live before the delay is reset to C{FIRST_DELAY}."""

DETACH_TIMEOUT = 1.0
"""Seconds that a client gets to detach before its process is killed."""

HEARTBEAT = 20.0
"""Seconds between two checks of an idle client."""


class LinkEvents(Protocol):
    """Receiver of a server link's events, which is the pane."""

    def handle_attached(self) -> None:
        """Handle a new client. Output from before its attachment may be missing."""

    def handle_output(self, output: PaneOutput) -> None:
        """Handle output of a pane."""

    def handle_notice(self, notice: ControlNotice) -> None:
        """Handle a notice of tmux that is not output."""

    def handle_output_gap(self) -> None:
        """Handle a loss of output bytes."""

    def handle_heartbeat(self) -> None:
        """Check the pane after L{HEARTBEAT} seconds without a command."""

    def handle_lost_server(self) -> None:
        """Handle the loss of the server."""


class LinkedServer(Protocol):
    """Operations on a tmux server that need no control client."""

    def attach_client(self, client: ControlClient) -> None:
        """Start the process of C{client}, which attaches to the server."""

    async def wait_until_ready(self) -> None:
        """Wait until a check for the server makes sense."""

    def request_connection(self) -> None:
        """Announce that input is about to be typed, so that a closed connection is opened now."""

    async def check_reachability(self) -> ServerReachability:
        """Check if the server listens on its socket."""

    async def is_responsive(self) -> bool:
        """Return true if the server runs a command in time."""


class ServerLink:
    """Connection to one server through a control client, which is replaced when it ends.

    Replacements that end too get growing delays. If a command runs out of time, a separate process
    sends a command to the server. If the server answers that process, the client has stalled and is
    killed. Otherwise the server itself has stalled, and the link waits.

    The link never has a second control client. tmux 3.3a crashes when it notifies a half-attached
    client that another one detached. This can happen when a stalled server recovers. For the same
    reason, a client that is attaching is not given up.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        events: LinkEvents,
        server: LinkedServer,
    ) -> None:
        self._clock = clock
        self._events = events
        self._server = server
        self._current: ControlClient | None = None
        self._fresh: ControlClient | None = None
        self._waiters: list[Deferred[ControlClient]] = []
        self._over: PaneGone | None = None
        self._checking: Deferred[None] | None = None
        self._seeking: Deferred[None] | None = None
        self._ending = False
        self._pane = PANE
        self._attempts = 0
        self._since = 0.0
        self._timers = NamedTimers(clock)

    # -- called by the pane

    def new_client(self) -> ControlClient:
        """Create a client, which is not connected yet, for L{set_client}."""
        client = ControlClient(self._clock, self)
        client.pane = self._pane
        return client

    def set_pane_id(self, pane: bytes) -> None:
        """Send all commands to C{pane} instead of L{PANE} from now on."""
        self._pane = pane
        for client in (self._current, self._fresh):
            if client is not None:
                client.pane = pane

    def set_client(self, client: ControlClient) -> None:
        """Use C{client}, which is attached, for all commands from now on."""
        self._fresh, self._current = None, client
        self._since = self._clock.seconds()
        self._timers.schedule_call("heartbeat", HEARTBEAT, self._send_heartbeat)
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter.callback(client)

    async def send_command(
        self, line: bytes, answers: int = 1, timeout: float = COMMAND_TIMEOUT
    ) -> list[AnswerBlock]:
        """Send a line through the current client, or through the next one within C{timeout}
        seconds.

        @param answers: number of commands in the line.
        @raise PaneGone: the server is gone or the link was closed.
        """
        line = substitute_pane(line, self._pane)
        while True:
            client = self._current or await self._wait_for_client(timeout)
            try:
                return await client.send_command(line, answers, timeout)
            except ClientGone:
                # Nothing was sent, and the client is about to report its end.
                self.client_ended(client, "its process had ended")

    def request_connection(self) -> None:
        """Announce that input is about to be typed, so that a closed connection is opened now."""
        if self._current is None and not self.is_closed:
            self._server.request_connection()

    async def close(self, why: str) -> None:
        """Detach all clients and fail waiting commands. The server keeps running.

        Returns once no client is left, so that the next service's client is alone on the server.

        @param why: reason in the errors of waiting commands.
        """
        clients = [client for client in (self._current, self._fresh) if client is not None]
        self._close_link(why)
        for client in clients:
            client.detach()
        for client in clients:
            timer = self._clock.callLater(DETACH_TIMEOUT, client.kill_process)
            await client.gone
            cancel_call(timer)

    def set_end_expected(self, expected: bool) -> None:
        """Set if the server is about to be ended. While C{expected} is true, ended clients are not
        replaced.
        """
        self._ending = expected
        if (
            not expected
            and self._current is None
            and not self.is_closed
            and not self._is_reconnecting()
        ):
            self._start_reconnecting()

    @property
    def is_closed(self) -> bool:
        """True if the server is gone or the link was closed."""
        return self._over is not None

    # -- called by a client

    def client_output(self, client: ControlClient, output: PaneOutput) -> None:
        if client is self._current:
            self._events.handle_output(output)

    def client_notice(self, client: ControlClient, notice: ControlNotice) -> None:
        if client is self._current:
            self._events.handle_notice(notice)

    def client_dropped_line(self, client: ControlClient) -> None:
        if client is self._current:
            self._events.handle_output_gap()

    def client_stalled(self, client: ControlClient) -> None:
        if client is self._current and "doubt" not in self._timers:
            self._timers.schedule_call("doubt", 0, self._start_check)

    def client_ended(self, client: ControlClient, why: str) -> None:
        if client is self._fresh:
            self._fresh = None
        elif client is self._current:
            self._current = None
            self._timers.cancel_timer("doubt")
            self._timers.cancel_timer("heartbeat")
            self._log.info("a tmux client ended: {why}", why=why)
            if self._clock.seconds() - self._since > SETTLED:
                self._attempts = 0
        else:
            return
        if not self.is_closed and not self._ending:
            self._start_reconnecting()

    # -- internal

    def _is_reconnecting(self) -> bool:
        seeking = self._seeking is not None and not self._seeking.called
        return self._fresh is not None or seeking or "retry" in self._timers

    def _start_reconnecting(self) -> None:
        self._seeking = spawn_logged(
            self._reattach_after_delay(), self._log, "reconnecting to a tmux server"
        )

    async def _reattach_after_delay(self) -> None:
        """Attach again after a delay, unless the server is known to be gone."""
        since = self._clock.seconds()
        await self._server.wait_until_ready()
        if self._clock.seconds() > since:
            # The connection caused the failures, and it has been waited for.
            self._attempts = 0
        reach = await self._server.check_reachability()
        if self._ending:
            return  # the caller of expect_end decides what follows
        if reach is ServerReachability.GONE:
            self._seeking = None  # or its own end would cancel it
            self._close_link("its tmux server is gone")
            self._events.handle_lost_server()
            return
        delay = min(FIRST_DELAY * 2**self._attempts, LAST_DELAY)
        self._attempts = min(self._attempts + 1, 16)
        self._timers.schedule_call("retry", delay, self._attach_new_client)

    def _attach_new_client(self) -> None:
        client = self._fresh = self.new_client()
        client.ready.addCallbacks(
            self._use_attached_client, self._log_refused_attach, callbackArgs=(client,)
        )
        try:
            self._server.attach_client(client)
        except MuxError as error:
            self._log.info("no tmux client could be started: {error}", error=error)
            self._fresh = None
            self._start_reconnecting()

    def _use_attached_client(self, block: AnswerBlock, client: ControlClient) -> None:
        if client is self._fresh:
            self._events.handle_output_gap()
            self.set_client(client)
            self._events.handle_attached()

    def _log_refused_attach(self, failure: Failure) -> None:
        # Its process ends next, which starts the next attempt.
        self._log.debug("could not attach: {why}", why=failure.getErrorMessage())

    def _start_check(self) -> None:
        self._checking = spawn_logged(
            self._replace_stalled_client(), self._log, "checking a tmux client"
        )

    async def _replace_stalled_client(self) -> None:
        client = self._current
        if client is None or not client.is_overdue:
            return
        answers = await self._server.is_responsive()
        if client is not self._current or not client.is_overdue:
            return
        if answers:
            self._log.warn("a tmux client has stalled and is replaced")
            client.kill_process()
        else:
            self._timers.schedule_call("doubt", LAST_DELAY, self._start_check)

    async def _wait_for_client(self, timeout: float) -> ControlClient:
        if self._over is not None:
            raise self._over
        if self._ending and not self._is_reconnecting():
            raise MuxTimeout("no tmux client is left, and none will attach")
        if len(self._waiters) >= MAX_WAITING:
            raise MuxBusy(f"{MAX_WAITING} commands wait for a tmux client")
        waiter: Deferred[ControlClient] = Deferred(self._remove_waiter)
        self._waiters.append(waiter)
        late = MuxTimeout(f"no tmux client could attach within {timeout:g} s")
        timer = self._clock.callLater(timeout, self._fail_waiter, waiter, late)
        try:
            return await waiter
        finally:
            cancel_call(timer)

    def _remove_waiter(self, waiter: Deferred[ControlClient]) -> None:
        if waiter in self._waiters:
            self._waiters.remove(waiter)

    def _fail_waiter(self, waiter: Deferred[ControlClient], error: MuxError) -> None:
        self._remove_waiter(waiter)
        waiter.errback(error)

    def _close_link(self, why: str) -> None:
        self._over = PaneGone(why)
        self._current = self._fresh = None
        self._timers.cancel_all()
        for asked in (self._checking, self._seeking):
            if asked is not None:
                asked.cancel()
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter.errback(PaneGone(why))

    def _send_heartbeat(self) -> None:
        self._timers.schedule_call("heartbeat", HEARTBEAT, self._send_heartbeat)
        client = self._current
        if client is not None and not client.pending_count:
            # If a client does not answer this, its time-out puts it in doubt.
            self._events.handle_heartbeat()
