"""Sets the size and colours of a session, which come from one of its viewers (protocol-size,
protocol-colours).
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import field, frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import make_failure_error
from tservice.core.kernel.tasks import spawn_logged
from tservice.mux.interface import MuxError, PaneGone, TerminalColours
from tservice.sessions.live_session import LiveSession
from tservice.sessions.record.viewport import (
    SizeRequest,
    apply_size_request,
    may_resize,
    remove_viewer,
)
from tservice.sessions.registry import SessionRegistry


@frozen
class ViewportManager:
    """Applies size and colours of the viewer that currently decides them.

    @ivar usual: returns the colours of a terminal without viewers.
    @ivar latest: the colours that a viewer of each account showed last, by owner.
    """

    clock: IReactorTime
    roster: SessionRegistry
    usual: Callable[[], TerminalColours]
    latest: dict[str | None, TerminalColours] = field(factory=dict)

    _log = Logger()

    async def resize_pane(self, live: LiveSession, wish: SizeRequest) -> tuple[int, int]:
        """Request a size and return the size that is now in effect.

        @raise ServiceError: 422: the terminal does not answer.
        """
        now = get_unix_ms(self.clock)
        granted = may_resize(live.claims, wish, now)
        live.claims = apply_size_request(live.claims, wish, now)
        if granted:
            self.update_reported_colours(live)
            await self._resize_pane_and_record(live, wish.cols, wish.rows)
        return live.record.cols, live.record.rows

    async def remove_viewer(self, live: LiveSession, viewer: str) -> None:
        """Remove a viewer. Another viewer then decides the session's size and colours."""
        live.colours.pop(viewer, None)
        live.claims, heir = remove_viewer(live.claims, viewer)
        self.update_reported_colours(live)
        if heir is not None:
            await self._resize_pane_and_record(live, heir.cols, heir.rows)

    def set_viewer_colours(self, live: LiveSession, viewer: str, colours: TerminalColours) -> None:
        """Record the colours in which a viewer shows its terminal."""
        live.colours[viewer] = colours
        self.latest[live.record.owner] = colours
        self.update_reported_colours(live)

    def get_reported_colours(self, live: LiveSession) -> TerminalColours:
        """Return the colours that the terminal reports to the session's programs now."""
        holder = live.claims.holder
        shown = None if holder is None else live.colours.get(holder)
        return shown or self.usual()

    def get_starting_colours(self, live: LiveSession) -> TerminalColours:
        """Return the colours for a program that starts.

        It asks for them before a viewer is there, who is most likely the one that its account had
        last.
        """
        reported = self.get_reported_colours(live)
        has_viewer = live.claims.holder in live.colours
        return reported if has_viewer else self.latest.get(live.record.owner, reported)

    def update_reported_colours(self, live: LiveSession) -> None:
        """Update the colours that the pane reports, if they changed."""
        colours = self.get_reported_colours(live)
        if live.pane is None or live.record.pid is None or live.reported_colours == colours:
            return
        live.reported_colours = colours
        spawn_logged(self._set_pane_colours(live, colours), self._log, "colours of a terminal")

    def apply_default_colours(self, before: object, after: object) -> None:
        """Apply the default colours of the settings, which may have changed."""
        for live in self.roster:
            self.update_reported_colours(live)

    async def _set_pane_colours(self, live: LiveSession, colours: TerminalColours) -> None:
        pane = live.pane
        try:
            if pane is not None:
                await pane.set_colours(colours)
        except MuxError as error:
            # The next change, or the next adoption of the pane, sends the colours again.
            live.reported_colours = None
            self._log.info("{id}: colours not applied: {error}", id=live.record.id, error=error)

    async def _resize_pane_and_record(self, live: LiveSession, cols: int, rows: int) -> None:
        pane = live.attached_pane if live.record.pid is not None else None
        if pane is not None:
            try:
                await pane.resize(cols, rows)
            except PaneGone:
                # It ended just now; the size holds for the next start.
                self._log.debug("session {id} ended before its resize", id=live.record.id)
            except MuxError as error:
                raise make_failure_error(f"the terminal was not resized: {error}") from error
            else:
                cols, rows = pane.cols, pane.rows
        self.roster.update_record(live, durable=False, cols=cols, rows=rows)
