"""Fake multiplexer without processes, for tests of the layers above it.

The panes live in a L{FakeHost}. To simulate a restart of the service, close the multiplexer, make
another on the same host and adopt. Calls that return immediately here take time on the real one.
Tests that depend on this hold a pane (L{HostedPane.stop_answering}) and release it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, takewhile
from typing import TypeVar

from twisted.internet.interfaces import IReactorTime
from zope.interface import implementer

from tests.fakes.multiplexer.grid import GridState, measure_grid_glyphs
from tests.fakes.multiplexer.host import (
    EchoShell,
    FakeHost,
    FakeProgram,
    FakeTty,
    HostedPane,
)
from tservice.core.locations.location import Location
from tservice.mux.interface import (
    HISTORY_SIZE,
    GlyphRun,
    IMultiplexer,
    InputMark,
    IPane,
    IPaneListener,
    LeftoverProcess,
    Liveness,
    PaneCapture,
    PaneExit,
    PaneGone,
    PaneSpec,
    ScreenGuard,
    TerminalColours,
)
from tservice.mux.keys import KEYS, encode_digit
from tservice.mux.listeners import PaneListeners
from tservice.mux.mode_queries import LOOK_BACK, ModeQueryDetector, build_mode_reply
from tservice.mux.outputlog import OutputLog
from tservice.mux.tmux.control_parser import LINE_COST
from tservice.mux.typed_input import sanitize_paste, split_input
from tservice.terminal.frames.sgr import make_self_contained
from tservice.terminal.frames.wrapped_lines import join_wrapped

__all__ = [
    "EchoShell",
    "FakeHost",
    "FakeMultiplexer",
    "FakePane",
    "FakeProgram",
    "FakeTty",
    "HostedPane",
]

_T = TypeVar("_T")

_CURSOR_KEYS = frozenset(("Up", "Down", "Right", "Left"))


@implementer(IPane)
class FakePane:
    """Fake pane, as one service sees it. Tests control it through C{hosted}."""

    def __init__(self, host: FakeHost, hosted: HostedPane, log: OutputLog) -> None:
        self.hosted = hosted
        self._host = host
        self.session_id = hosted.spec.session_id
        self.log = log
        self.paused = False
        self._listeners = PaneListeners()
        self._attached = True
        self._typings = 0
        self._questions = ModeQueryDetector()
        self.typed_at: float | None = None
        hosted.clients[id(self)] = self

    @property
    def pid(self) -> int | None:
        return self.hosted.pid

    @property
    def ending(self) -> PaneExit | None:
        return self.hosted.ending

    @property
    def cols(self) -> int:
        return self.hosted.cols

    @property
    def rows(self) -> int:
        return self.hosted.rows

    @property
    def title(self) -> str:
        return self.hosted.grid.title

    def add_listener(self, listener: IPaneListener) -> Callable[[], None]:
        return self._listeners.add(listener)

    async def write_bytes(self, data: bytes, mark: InputMark | None = None) -> None:
        for piece, moved in split_input(data, mark):
            await self._run_typing("write", partial(self.hosted.type_bytes, piece, moved))

    async def send_key(self, name: str, mark: InputMark | None = None) -> None:
        await self._run_typing("send_key", lambda: self._press_key(name, mark))

    async def paste(self, text: str, mark: InputMark | None = None) -> None:
        await self._run_typing("paste", lambda: self._paste_input(text, mark))

    async def guard_screen(self) -> ScreenGuard:
        typed = self._typings

        def take_snapshot() -> ScreenGuard:
            hosted = self.hosted
            seal = (typed, None if hosted.is_never_quiet else hosted.prints)
            return ScreenGuard(
                capture=self._build_capture(0), still=not hosted.is_never_quiet, seal=seal
            )

        return await self._run_on_host("guard", take_snapshot)

    async def press_if(
        self, key: str, guard: ScreenGuard, rows: Sequence[int], times: int = 1
    ) -> bool:
        def press_keys() -> None:
            for _ in range(times):
                self._press_key(key)

        return await self._type_if_unchanged("press_if", guard, rows, press_keys)

    async def paste_if(self, text: str, guard: ScreenGuard, rows: Sequence[int]) -> bool:
        return await self._type_if_unchanged(
            "paste_if", guard, rows, lambda: self._paste_input(text)
        )

    async def read_last_mark(self) -> InputMark | None:
        return await self._run_on_host("last_mark", lambda: self.hosted.mark)

    async def resize(self, cols: int, rows: int) -> None:
        await self._run_on_host("resize", lambda: self.hosted.resize(cols, rows))

    async def set_colours(self, colours: TerminalColours) -> None:
        await self._run_on_host("set_colours", lambda: setattr(self.hosted, "colours", colours))

    async def get_glyph_runs(self) -> tuple[GlyphRun, ...]:
        return await self._run_on_host("glyphs", measure_grid_glyphs)

    async def capture_content(self, history: int | None = 0) -> PaneCapture:
        return await self._run_on_host("capture", lambda: self._build_capture(history))

    async def probe_process(self) -> Liveness:
        if self.hosted.is_gone or self.hosted.ending is not None:
            return Liveness.DEAD
        unknown = self.hosted.is_stopped or not self._attached
        return Liveness.UNKNOWN if unknown else Liveness.ALIVE

    async def pause_output(self) -> None:
        await self._run_on_host("pause", lambda: self._set_paused(True))

    async def resume_output(self) -> None:
        await self._run_on_host("resume", lambda: self._set_paused(False))

    async def kill(self) -> tuple[LeftoverProcess, ...]:
        if self.hosted.is_gone:
            return ()
        await self._run_on_host("kill", self._kill_hosted)
        return self.hosted.leftovers

    # -- called by the host

    def output_printed(self, data: bytes) -> None:
        if self.paused:
            return
        self.log.append(data)
        for question in self._questions.feed(data):
            grid = self.hosted.grid
            watched = [mode for mode in (1004, 2004) if grid.has_mode(mode)]
            before = self.log.read(self.log.start, LOOK_BACK)
            self.hosted.send_reply(
                build_mode_reply(question, grid.flags, watched, before, data[question.at :])
            )

    def process_exited(self, ending: PaneExit) -> None:
        self._listeners.notify_exited(ending)

    def server_lost(self) -> None:
        self._listeners.notify_lost()

    def size_changed(self, cols: int, rows: int) -> None:
        self._listeners.notify_resized(cols, rows)

    def title_changed(self, title: str) -> None:
        self._listeners.notify_titled(title)

    # -- internal

    def detach(self) -> None:
        """Detach the service. The pane keeps running."""
        self._attached = False
        self.hosted.clients.pop(id(self), None)

    def _set_paused(self, paused: bool) -> None:
        if paused != self.paused:
            self.paused = paused
            self.log.add_gap()

    def _kill_hosted(self) -> None:
        # The caller of kill knows; every other attached client is notified.
        self.detach()
        self._listeners.clear()
        self._host.lose_server(self.session_id)
        self.log.finish()

    async def _run_typing(self, operation: str, effect: Callable[[], None]) -> None:
        self._typings += 1
        self.typed_at = self._host.clock.seconds()
        try:
            await self._run_on_host(operation, effect)
        finally:
            self.typed_at = self._host.clock.seconds()

    def _press_key(self, name: str, mark: InputMark | None = None) -> None:
        typed = encode_digit(name)
        if typed is None:
            application = self.hosted.grid.has_mode(1) and name in _CURSOR_KEYS
            plain = KEYS[name].plain
            typed = plain.replace(b"[", b"O") if application else plain
        self.hosted.type_bytes(typed, mark)
        self.hosted.keys.append(name)

    def _paste_input(self, text: str, mark: InputMark | None = None) -> None:
        data = sanitize_paste(text)
        bracketed = self.hosted.grid.has_mode(2004)
        self.hosted.type_bytes(b"\x1b[200~" + data + b"\x1b[201~" if bracketed else data, mark)
        self.hosted.pastes.append(data.decode())

    async def _type_if_unchanged(
        self, operation: str, guard: ScreenGuard, rows: Sequence[int], effect: Callable[[], None]
    ) -> bool:
        if self.hosted.ending is not None:
            raise PaneGone(f"the process of session {self.session_id} has ended")
        if guard.seal[0] != self._typings:
            return False
        self._typings += 1
        return await self._run_on_host(
            operation, lambda: self._apply_if_unchanged(guard, rows, effect)
        )

    def _apply_if_unchanged(
        self, guard: ScreenGuard, rows: Sequence[int], effect: Callable[[], None]
    ) -> bool:
        prints = guard.seal[1]
        now = self._build_capture(0)
        same = all(now.lines[row] == guard.capture.lines[row] for row in rows)
        silent = prints is None or prints == self.hosted.prints
        size = (now.cols, now.rows) == (guard.capture.cols, guard.capture.rows)
        moved = bool(self.hosted.screen_changes) and self.hosted.screen_changes.popleft()
        if moved or not (same and silent and size):
            return False
        effect()
        return True

    def _build_capture(self, history: int | None) -> PaneCapture:
        hosted = self.hosted
        state = hosted.grid.get_state()
        wanted = state.history_size if history is None else min(history, state.history_size)
        rows = hosted.grid.get_rows(wanted)
        above = _count_fitting_rows(rows[:wanted])
        dropped = wanted - above
        shown = rows[dropped:]
        wrapped = {row - dropped for row in hosted.grid.find_wrapped_rows(wanted)}
        # The last row of the history stays a separate entry: it may continue in the screen.
        lines = [*join_wrapped(shown[:above], wrapped)]
        moved = len(lines) - above
        return PaneCapture(
            lines=(*lines, *shown[above:]),
            history=len(lines),
            history_rows=above,
            wrapped=frozenset(row + moved for row in wrapped if row >= above - 1),
            history_size=state.history_size,
            cols=hosted.cols,
            rows=hosted.rows,
            cursor_x=state.cursor_x,
            cursor_y=state.cursor_y,
            cursor_visible=state.cursor_visible,
            alternate_screen=state.alternate_screen,
            modes=state.modes,
            title=hosted.grid.title,
            offset=self.log.end,
            epoch=self.log.epoch,
            finish=self._build_finish(state, shown[above:]),
            main=state.main,
            main_wrapped=state.main_wrapped,
            main_cursor=state.main_cursor,
        )

    def _build_finish(self, state: GridState, screen: Sequence[bytes]) -> bytes:
        if not state.cursor_wraps:
            return b"\x1b[%d;%dH" % (state.cursor_y + 1, state.cursor_x + 1)
        row = [*make_self_contained(screen)][state.cursor_y]
        return b"\x1b[%d;1H" % (state.cursor_y + 1) + row

    async def _run_on_host(self, operation: str, effect: Callable[[], _T]) -> _T:
        if not self._attached:
            raise PaneGone(f"session {self.session_id} was detached")
        return await self.hosted.run_command(operation, effect)


def _count_fitting_rows(rows: Sequence[bytes]) -> int:
    """Return how many of the last C{rows} fit into one capture."""
    sizes = accumulate(len(row) + LINE_COST for row in reversed(rows))
    return sum(1 for _ in takewhile(lambda size: size <= HISTORY_SIZE, sizes))


@implementer(IMultiplexer)
class FakeMultiplexer:
    """Fake multiplexer that runs its panes on a L{FakeHost}.

    @param capacity: bytes that each pane's L{OutputLog} keeps.
    """

    def __init__(
        self,
        clock: IReactorTime,
        host: FakeHost | None = None,
        capacity: int = 1024 * 1024,
    ) -> None:
        self.host = host or FakeHost(clock)
        self._capacity = capacity
        self.output_bytes = 0
        self._panes: list[FakePane] = []

    async def create_pane(self, spec: PaneSpec) -> FakePane:
        """Start a pane as described by C{spec}. Its first output is in the log when this
        returns.
        """
        made: list[FakePane] = []
        self.host.start_pane(spec, lambda hosted: made.append(self._attach_pane(hosted)))
        return made[0]

    async def adopt_pane(self, session_id: str, place: Location) -> FakePane | None:
        """Attach to the running pane. Its log starts empty and with a new epoch."""
        hosted = self.host.panes.get(session_id)
        if hosted is not None and hosted.spec.place.id != place.id:
            return None
        if hosted is None or hosted.is_gone:
            self.host.panes.pop(session_id, None)
            return None
        await hosted.run_command("adopt", lambda: None)
        return self._attach_pane(hosted)

    async def find_session_ids(self) -> frozenset[str]:
        return frozenset(self.host.panes)

    async def close(self) -> None:
        panes, self._panes = self._panes, []
        for pane in panes:
            pane.detach()

    def _count_output(self, size: int) -> None:
        self.output_bytes += size

    def _attach_pane(self, hosted: HostedPane) -> FakePane:
        log = OutputLog(self._capacity, self.host.next_epoch(), self._count_output)
        pane = FakePane(self.host, hosted, log)
        self._panes = [*(p for p in self._panes if not p.hosted.is_gone), pane]
        return pane
