"""Reads terminals, or the last screen of a session whose host is out of reach."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.mux.interface import IPane
from tservice.sessions.interfaces import SavedScreen
from tservice.sessions.live_session import LiveSession
from tservice.sessions.output.reading import (
    TerminalReading,
    TerminalReadRequest,
    make_last_screen_reading,
    read_terminal,
)
from tservice.sessions.record.model import Session, SessionLocationKind


@frozen(kw_only=True)
class TerminalReader:
    """Reads the terminals of sessions.

    @ivar load_saved_screen: returns the screen that an earlier run of the service saved; C{None}
        without one.
    """

    clock: IReactorTime
    load_saved_screen: Callable[[Session], Awaitable[SavedScreen | None]]

    async def read_screen(
        self, live: LiveSession, pane: IPane | None, request: TerminalReadRequest, *, is_out: bool
    ) -> TerminalReading:
        """Return the terminal's text (protocol-terminal).

        @param is_out: true if the session's host is known to be out of reach.
        @raise ServiceError: 422: the pane does not answer; 429: too many commands wait for the
            pane.
        """
        if is_out:
            return await self._read_last_screen(live, request)
        try:
            return await read_terminal(self.clock, live.session, pane, request, live.last_screen)
        except ServiceError as error:
            # The loss of a host is noticed only after a while.
            is_lost = live.record.location is not SessionLocationKind.LOCAL
            if not is_lost or error.code is not ErrorCode.OPERATION_FAILED:
                raise
            return await self._read_last_screen(live, request)

    async def _read_last_screen(
        self, live: LiveSession, request: TerminalReadRequest
    ) -> TerminalReading:
        seen = None if live.last_screen is None else live.last_screen.captured
        kept = None if seen else await self.load_saved_screen(live.record)
        return make_last_screen_reading(live.session, seen, kept, request.tail)
