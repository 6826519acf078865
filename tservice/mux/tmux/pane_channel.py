"""Sends commands to one pane's server, awaited or in the background."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import NamedTimers
from tservice.mux.interface import COMMAND_TIMEOUT, MuxError, PaneGone
from tservice.mux.tmux.control_client import CommandRefused
from tservice.mux.tmux.control_parser import AnswerBlock
from tservice.mux.tmux.server_link import ServerLink

Command = Callable[[], Coroutine[Any, Any, object]]
"""Function that starts sending a command."""


class PaneChannel:
    """Sends commands for one pane through the link to its server."""

    _log = Logger()

    def __init__(self, clock: IReactorTime, link: ServerLink) -> None:
        self._link = link
        self._timers = NamedTimers(clock)

    async def send_line(
        self, line: bytes, answers: int, timeout: float = COMMAND_TIMEOUT
    ) -> list[AnswerBlock]:
        """Send a line through L{ServerLink.send_command}.

        @param answers: number of commands in the line.
        @raise PaneGone: the server is gone, or it runs but the pane no longer exists.
        """
        try:
            return await self._link.send_command(line, answers, timeout)
        except CommandRefused as error:
            if "can't find" in str(error):
                raise PaneGone(str(error)) from error
            raise

    def request_connection(self) -> None:
        """Announce that input is about to be typed, so that a closed connection is opened now."""
        self._link.request_connection()

    def run_in_background(self, work: Coroutine[Any, Any, object], what: str) -> None:
        """Run C{work} in the background and log its errors.

        @param what: description of the work for the log.
        """
        spawn_logged(self.run_logging_errors(work, what), self._log, what)

    async def run_logging_errors(self, work: Coroutine[Any, Any, object], what: str) -> None:
        """Run C{work}. If it raises a L{MuxError}, log the error.

        @param what: description of the work for the log.
        """
        try:
            await work
        except MuxError as error:
            # The next client, the end of the pane or the next call reports the failure again.
            self._log.info("{what}: {error}", what=what, error=error)

    def schedule_command(self, name: str, delay: float, call: Command) -> None:
        """Run a command after C{delay} seconds, unless one with the same C{name} is already
        scheduled.
        """

        def run_scheduled() -> None:
            self.run_in_background(call(), f"{name} of a pane")

        if name not in self._timers and not self._link.is_closed:
            self._timers.schedule_call(name, delay, run_scheduled)

    def is_scheduled(self, name: str) -> bool:
        """Return true if a command of that name is scheduled."""
        return name in self._timers

    def cancel_scheduled(self) -> None:
        """Cancel all scheduled commands."""
        self._timers.cancel_all()
