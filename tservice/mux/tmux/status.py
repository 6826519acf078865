"""Tracks the state of a pane: its process, exit, size and title."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.clock import get_unix_ms, wait_seconds
from tservice.mux.interface import COMMAND_TIMEOUT, PaneExit
from tservice.mux.listeners import PaneListeners
from tservice.mux.outputlog import OutputLog
from tservice.mux.tmux import commands
from tservice.mux.tmux.commands import PaneState, Version
from tservice.mux.tmux.pane_channel import PaneChannel

MAX_REAPS = 20
REAP_DELAY = 0.05
"""Seconds between two of at most C{MAX_REAPS} attempts to read an exit status that tmux does not
have yet.

Adopting a pane queries it twice in that time. A keeper ends C{keeper.APART} after its terminal, so
the total must be longer, however fast the answers come.
"""


class PaneStatus:
    """Tracks the state of a pane and notifies the listeners of changes.

    @ivar pid: pid of the pane's program. tmux's own child is the keeper, which started the program.
    """

    def __init__(
        self,
        clock: IReactorTime,
        channel: PaneChannel,
        log: OutputLog,
        listeners: PaneListeners,
        over: Callable[[], None],
    ) -> None:
        """@param over: called once the pane's process has ended, before the listeners are
        notified.
        """
        self.pid: int | None = None
        self.ending: PaneExit | None = None
        self.cols = 0
        self.rows = 0
        self.title = ""
        self._version: Version | None = None
        self._clock = clock
        self._channel = channel
        self._log = log
        self._listeners = listeners
        self._over = over
        self._reaps = 0
        self._looking = self._look_again = False

    def request_state_query(self) -> None:
        """Query the state of the pane now. If a query is running, query once more after it."""
        self._look_again = True
        if not self._looking:
            self._looking = True
            self._channel.run_in_background(self._query_while_requested(), "querying a pane")

    async def query_state(self, timeout: float = COMMAND_TIMEOUT) -> PaneState:
        """Query tmux for the state of the pane, and update this object."""
        blocks = await self._channel.send_line(commands.STATE, 1, timeout)
        state = PaneState.parse_state(b"".join(blocks[0].lines))
        self._version = state.version
        self.record_size(state.cols, state.rows)
        if state.title != self.title:
            self.title = state.title
            self._listeners.notify_titled(state.title)
        if state.dead and self.ending is None:
            await self._handle_unreported_exit(state)
        return state

    async def get_version(self) -> Version:
        """Return the version of the pane's tmux. Only the first call queries tmux."""
        return self._version or (await self.query_state()).version

    async def wait_for_exit_details(self, state: PaneState) -> None:
        """Wait until the pane's exit is recorded, or until the pane is known to run.

        @param state: the last state that tmux reported.
        """
        while state.dead and self.ending is None:
            await wait_seconds(self._clock, REAP_DELAY)
            state = await self.query_state()
        if self.ending is None:
            self.pid = state.kept_pid or state.pid

    def record_size(self, cols: int, rows: int) -> None:
        """Record a size, and notify the listeners if the size is new."""
        if (cols, rows) != (self.cols, self.rows):
            self.cols, self.rows = cols, rows
            self._listeners.notify_resized(cols, rows)

    def record_exit(self, *, status: int | None, signal: str | None, complete: bool = True) -> None:
        """Record that the process has ended, and notify the listeners.

        @param complete: true if all output of the process is in the log.
        """
        if self.ending is not None:
            return
        if not complete:
            # tmux may have dropped the last bytes: its grid contains what is left of them.
            self._log.add_gap()
        self.ending = PaneExit(status=status, signal=signal, at=get_unix_ms(self._clock))
        self.pid = None
        self._over()
        self._listeners.notify_exited(self.ending)

    async def _query_while_requested(self) -> None:
        try:
            while self._look_again:
                self._look_again = False
                await self.query_state()
        finally:
            self._looking = False

    async def _handle_unreported_exit(self, state: PaneState) -> None:
        """Handle the end of a process whose keeper sent no exit message."""
        unknown = state.status is None and state.signal is None
        if unknown and self._reaps < MAX_REAPS:
            # tmux may have missed the end of its child; the end of another child makes it check.
            self._reaps += 1
            await self._channel.send_line(b"run-shell -b true", 1)
            self._channel.schedule_command("end", REAP_DELAY, self.query_state)
            return
        self.record_exit(status=state.status, signal=state.signal, complete=False)
