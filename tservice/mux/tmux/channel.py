"""Commands to one pane's server, and those that nobody waits for."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.tasks import spawn
from tservice.core.timers import Timers
from tservice.mux.interface import COMMAND_TIMEOUT, MuxError, PaneGone
from tservice.mux.tmux.client import CommandRefused
from tservice.mux.tmux.control import Block
from tservice.mux.tmux.link import ServerLink

Command = Callable[[], Coroutine[Any, Any, object]]
"""Starts something to be sent."""


class PaneChannel:
    """A pane's way to its server."""

    _log = Logger()

    def __init__(self, clock: IReactorTime, link: ServerLink) -> None:
        self._link = link
        self._timers = Timers(clock)

    async def send(
        self, line: bytes, answers: int, timeout: float = COMMAND_TIMEOUT
    ) -> list[Block]:
        """As L{ServerLink.command}.

        @raise PaneGone: also where the server runs and the pane is not there any more.
        """
        try:
            return await self._link.command(line, answers, timeout)
        except CommandRefused as error:
            if "can't find" in str(error):
                raise PaneGone(str(error)) from error
            raise

    def wanted(self) -> None:
        """Somebody is about to type."""
        self._link.wanted()

    def unawaited(self, work: Coroutine[Any, Any, object], what: str) -> None:
        """Do C{work} now."""
        spawn(self.attempt(work, what), self._log, what)

    async def attempt(self, work: Coroutine[Any, Any, object], what: str) -> None:
        """Do C{work}; that the multiplexer could not is logged as C{what}."""
        try:
            await work
        except MuxError as error:
            # The next client, the end of the pane or the next call tells it again.
            self._log.info("{what}: {error}", what=what, error=error)

    def later(self, name: str, delay: float, call: Command) -> None:
        """Do it after C{delay} seconds, once, however often it is asked for meanwhile."""

        def run() -> None:
            self.unawaited(call(), f"{name} of a pane")

        if name not in self._timers and not self._link.over:
            self._timers.set(name, delay, run)

    def awaits(self, name: str) -> bool:
        """Whether that is still to be done later."""
        return name in self._timers

    def stop(self) -> None:
        """Do nothing later any more."""
        self._timers.clear()
