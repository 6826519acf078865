"""Size and colours of a session, taken from one of its viewers (protocol-size,
protocol-colours).
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.clock import now_ms
from tservice.core.errors import operation_failed
from tservice.core.tasks import spawn_logged
from tservice.mux.interface import MuxError, PaneGone, TerminalColours
from tservice.sessions.live import Live
from tservice.sessions.record.viewport import Wish, after_leaving, after_wish, may_resize
from tservice.sessions.roster import Roster


@frozen
class Windows:
    """Applies the size and the colours of the viewer whose size is in effect.

    @ivar usual: returns the colours of a terminal without viewers.
    """

    clock: IReactorTime
    roster: Roster
    usual: Callable[[], TerminalColours]

    _log = Logger()

    async def resize(self, live: Live, wish: Wish) -> tuple[int, int]:
        """Request a size and return the size that is now in effect.

        @raise ServiceError: 422: the terminal does not answer.
        """
        now = now_ms(self.clock)
        granted = may_resize(live.claims, wish, now)
        live.claims = after_wish(live.claims, wish, now)
        if granted:
            self.recolour(live)
            await self._apply_size(live, wish.cols, wish.rows)
        return live.record.cols, live.record.rows

    async def leave(self, live: Live, viewer: str) -> None:
        """Remove a viewer. Size and colours pass to a remaining one."""
        live.colours.pop(viewer, None)
        live.claims, heir = after_leaving(live.claims, viewer)
        self.recolour(live)
        if heir is not None:
            await self._apply_size(live, heir.cols, heir.rows)

    def show(self, live: Live, viewer: str, colours: TerminalColours) -> None:
        """Record the colours in which a viewer shows its terminal."""
        live.colours[viewer] = colours
        self.recolour(live)

    def colours_of(self, live: Live) -> TerminalColours:
        """Return the colours that a session's programs see now."""
        holder = live.claims.holder
        shown = None if holder is None else live.colours.get(holder)
        return shown or self.usual()

    def recolour(self, live: Live) -> None:
        """Make the pane report the colours in effect, if they changed."""
        colours = self.colours_of(live)
        if live.pane is None or live.record.pid is None or live.told_colours == colours:
            return
        live.told_colours = colours
        spawn_logged(self._tell(live, colours), self._log, "colours of a terminal")

    def settings_changed(self, before: object, after: object) -> None:
        """Apply the default colours, which may have changed."""
        for live in self.roster:
            self.recolour(live)

    async def _tell(self, live: Live, colours: TerminalColours) -> None:
        pane = live.pane
        try:
            if pane is not None:
                await pane.set_colours(colours)
        except MuxError as error:
            # The next change, or the next adoption of the pane, sends the colours again.
            live.told_colours = None
            self._log.info("{id}: colours not applied: {error}", id=live.record.id, error=error)

    async def _apply_size(self, live: Live, cols: int, rows: int) -> None:
        pane = live.held_pane if live.record.pid is not None else None
        if pane is not None:
            try:
                await pane.resize(cols, rows)
            except PaneGone:
                # It ended just now; the size holds for the next start.
                self._log.debug("session {id} ended before its resize", id=live.record.id)
            except MuxError as error:
                raise operation_failed(f"the terminal was not resized: {error}") from error
            else:
                cols, rows = pane.cols, pane.rows
        self.roster.change(live, durable=False, cols=cols, rows=rows)
