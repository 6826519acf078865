"""A session's pane on its own tmux server."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NoReturn

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from tservice.core.clock import now_ms, sleep
from tservice.core.tasks import spawn
from tservice.mux.interface import (
    COMMAND_TIMEOUT,
    Capture,
    Guard,
    IPane,
    IPaneListener,
    Liveness,
    Mark,
    MuxError,
    MuxTimeout,
    PaneExit,
    PaneGone,
)
from tservice.mux.listeners import PaneListeners
from tservice.mux.outputlog import OutputLog
from tservice.mux.tmux import commands
from tservice.mux.tmux import guard as guards
from tservice.mux.tmux.capture import capture
from tservice.mux.tmux.client import ControlClient, Refused
from tservice.mux.tmux.commands import PANE, WINDOW, PaneState, join
from tservice.mux.tmux.control import Block, Notice, Output
from tservice.mux.tmux.link import Link
from tservice.mux.tmux.server import Server
from tservice.mux.tmux.words import KeeperWords, ModeWatch, TitleWatch, Word
from tservice.mux.typed import paste_text, pieces
from tservice.terminal.plain import plain

MAX_REAPS = 5
REAP_DELAY = 0.05
"""How often, and every how many seconds, tmux is asked for a status that it does not have yet."""

PROBE_TIMEOUT = 2.0
"""Seconds after which a probe's answer is "unknown"."""

MODES_DELAY = 0.5
"""Seconds until a mode that tmux does not tell is kept on its server for a later service."""

TITLE_DELAY = 0.1
"""Seconds until tmux is asked for a title that the stream spoke of; a subscription takes 1 s."""

_LAYOUT = re.compile(rb"[0-9a-f]{4},([0-9]{1,5})x([0-9]{1,5}),")


@implementer(IPane)
class TmuxPane:
    """One pane as this service sees it: a log that grows, and commands through a L{Link}.

    C{pid} is the program itself; tmux's own child is the keeper that started it.
    """

    _log = Logger()

    def __init__(
        self,
        session_id: str,
        clock: IReactorTime,
        log: OutputLog,
        server: Server,
    ) -> None:
        self.session_id = session_id
        self.log = log
        self.pid: int | None = None
        self.ending: PaneExit | None = None
        self.cols = 0
        self.rows = 0
        self.title = ""
        self.paused = False
        self.typed_at: float | None = None
        self.link = Link(clock, self, server)
        self._server = server
        self._clock = clock
        self._listeners = PaneListeners()
        self._words = KeeperWords(b"")
        self._modes = ModeWatch()
        self._titles = TitleWatch()
        self._timers: dict[str, IDelayedCall] = {}
        self._starting: Deferred[Word | None] | None = None
        self._reaps = 0
        self._looking = self._look_again = False
        self._told_start = False
        self._typings = 0
        self._killing = False
        self._let_go = False

    # -- IPane

    def listen(self, listener: IPaneListener) -> Callable[[], None]:
        return self._listeners.add(listener)

    async def write(self, data: bytes, mark: Mark | None = None) -> None:
        for piece, moved in pieces(data, mark):
            await self._type(moved, *((commands.send_bytes(piece),) if piece else ()))

    async def send_key(self, name: str, mark: Mark | None = None) -> None:
        await self._type(mark, commands.press(name))

    async def paste(self, text: str, mark: Mark | None = None) -> None:
        data = paste_text(text)
        if data:
            await self._type(mark, commands.PASTE, first=(commands.set_buffer(data),))
        else:
            await self._type(mark)

    async def guard(self) -> Guard:
        stamps: list[Block] = []

        async def stamped(line: bytes, answers: int) -> list[Block]:
            blocks = await self._send(join(guards.STAMP, line), answers + 1)
            stamps.append(blocks[0])
            return blocks[1:]

        typed = self._typings
        seen = await capture(stamped, self.log, 0, self._modes.sequences, False)
        second = guards.activity(stamps[0])
        return Guard(capture=seen, still=second is not None, seal=(typed, second))

    async def press_if(self, key: str, guard: Guard, rows: Sequence[int]) -> bool:
        return await self._type_if((commands.press(key),), guard, rows)

    async def paste_if(self, text: str, guard: Guard, rows: Sequence[int]) -> bool:
        load = commands.set_buffer(paste_text(text))
        return await self._type_if((commands.PASTE,), guard, rows, (load,), (commands.DROP_PASTE,))

    async def last_mark(self) -> Mark | None:
        blocks = await self._send(commands.show("#{@tservice_mark}"), 1)
        return commands.read_mark(b"".join(blocks[0].lines))

    async def resize(self, cols: int, rows: int) -> None:
        line = b"resize-window -t %b -x %d -y %d" % (WINDOW, cols, rows)
        size = commands.show("#{pane_width},#{pane_height}")
        blocks = await self._send(join(line, size), 2)
        wide, _, high = b"".join(blocks[1].lines).partition(b",")
        self._applied(*commands.size(wide, high))

    async def capture(self, history: int | None = 0) -> Capture:
        extra = self._modes.sequences
        return await capture(self._send, self.log, history, extra, not self.paused)

    async def probe(self) -> Liveness:
        if self.ending is not None:
            return Liveness.DEAD
        try:
            state = await self._look(PROBE_TIMEOUT)
        except PaneGone:
            return Liveness.UNKNOWN if self._let_go else Liveness.DEAD
        except MuxError:
            return Liveness.UNKNOWN
        return Liveness.DEAD if state.dead else Liveness.ALIVE

    async def pause(self) -> None:
        await self._set_paused(True, b"pause")

    async def resume(self) -> None:
        await self._set_paused(False, b"continue")

    async def kill(self) -> None:
        if self.link.over and not self._let_go:
            return
        self._killing = True
        try:
            await self._server.end(self.link, self.pid)
        finally:
            self._killing = False
        await self.link.close("it was killed")
        self._forget()
        self._listeners.clear()
        self.log.finish()

    # -- the multiplexer's side

    async def begin(self, client: ControlClient, token: bytes, size: tuple[int, int]) -> None:
        """Take up a pane that C{client} has just made, and wait until its program runs.

        @raise MuxError: the program could not be started; the pane is of no use.
        """
        self.cols, self.rows = size
        self._words = KeeperWords(token)
        started = self._starting = Deferred()
        self.link.take(client)
        keep = commands.set_option("token", token)
        blank_title = b"select-pane -t %b -T ''" % PANE
        self._unawaited(self._arm(blank_title, keep), "setting a pane up")
        word = await started.addTimeout(COMMAND_TIMEOUT, self._clock, _never_started)
        if word is not None and word.name == "failed":
            raise MuxError(os.strerror(word.argument))

    async def adopt(self, client: ControlClient) -> None:
        """Take up a pane that was there before this service."""
        self.link.take(client)
        state = await self._arm()
        self._words = KeeperWords(state.token)
        self._modes = ModeWatch(state.modes)
        while state.dead and self.ending is None:
            await sleep(self._clock, REAP_DELAY)
            state = await self._look()
        if self.ending is None:
            self.pid = state.kept_pid or state.pid

    async def let_go(self) -> None:
        """End this service's part; the pane runs on.  Returns once no client is left."""
        self._let_go = True
        if "modes" in self._timers:
            await self._attempt(self._store_modes(), "modes of a pane")
        self._forget()
        await self.link.close("it was let go")

    # -- the link's side

    def linkAttached(self) -> None:
        self._unawaited(self._arm(), "attaching to a pane again")

    def linkOutput(self, output: Output) -> None:
        if output.pane != PANE:
            return
        for part in self._words.feed(output.data):
            if isinstance(part, Word):
                self._heard(part)
                continue
            self.log.append(part)
            if self._modes.feed(part):
                self._later("modes", MODES_DELAY, self._store_modes)
            if self._titles.feed(part):
                self._later("title", TITLE_DELAY, self._look)

    def linkNotice(self, notice: Notice) -> None:
        match notice.name:
            case b"window-renamed":
                # The hook on a process's end renames its window; look whether it was that.
                self._look_soon()
            case b"layout-change":
                if _LAYOUT.search(notice.rest):
                    self._look_soon()

    def linkGap(self) -> None:
        self.log.gap()

    def linkHeartbeat(self) -> None:
        self._unawaited(self._look(), "looking at a pane")

    def linkLost(self) -> None:
        self._forget()
        if not self._killing:
            self._listeners.lost()

    # -- inside

    async def _send(
        self, line: bytes, answers: int, timeout: float = COMMAND_TIMEOUT
    ) -> list[Block]:
        try:
            return await self.link.command(line, answers, timeout)
        except Refused as error:
            if "can't find" in str(error):
                raise PaneGone(str(error)) from error
            raise

    async def _type(self, mark: Mark | None, *keys: bytes, first: tuple[bytes, ...] = ()) -> None:
        """Press C{keys} and set C{mark}, both or neither; one line, so nobody comes between."""
        typed = keys if mark is None else (*keys, commands.set_mark(mark))
        if self.ending is not None:
            raise PaneGone("its process is over")
        if not typed:
            return
        self._typings += 1
        self.typed_at = self._clock.seconds()
        line = (commands.leave_copy_mode(), *first, commands.while_alive(*typed))
        blocks = await self._send(join(*line), len(line) + len(typed))
        if commands.DEAD in blocks[-1].lines:
            await self._look()
            raise PaneGone("its process is over")

    async def _type_if(
        self,
        keys: tuple[bytes, ...],
        guard: Guard,
        rows: Sequence[int],
        before: tuple[bytes, ...] = (),
        otherwise: tuple[bytes, ...] = (),
    ) -> bool:
        if self.ending is not None:
            raise PaneGone("its process is over")
        typed, second = guard.seal
        if typed != self._typings:
            return False
        # Whatever is typed from here on goes through the same channel, behind this line.
        self._typings += 1
        screen = [plain(line) for line in guard.capture.lines]
        size = (guard.capture.cols, guard.capture.rows)
        test = guards.condition(screen, rows, second, size)
        line = (*before, guards.guarded(test, (commands.leave_copy_mode(), *keys), otherwise))
        answers = len(before) + guards.answers((b"", *keys), otherwise)
        return guards.passed(await self._send(join(*line), answers))

    async def _set_paused(self, paused: bool, verb: bytes) -> None:
        if paused == self.paused:
            return
        await self._send(b"refresh-client -A '%b:%b'" % (PANE, verb), 1)
        self.paused = paused
        self.log.gap()

    async def _arm(self, *first: bytes) -> PaneState:
        """What every fresh client needs, then a look at the pane."""
        pause = (b"refresh-client -A '%b:pause'" % PANE,) if self.paused else ()
        line = (*first, *commands.CLIENTS, *pause)
        blocks = await self._send(join(*line), len(line))
        for orphan in commands.orphans(blocks[len(first) : len(first) + len(commands.CLIENTS)]):
            self._log.warn("ending the client {pid} of an earlier service", pid=orphan)
            await self._send(b"run-shell -b 'kill -9 %d'" % orphan, 1)
        return await self._look()

    def _look_soon(self) -> None:
        """Look now, or once more after the look that is under way, however often this is asked."""
        self._look_again = True
        if not self._looking:
            self._looking = True
            self._unawaited(self._keep_looking(), "looking at a pane")

    async def _keep_looking(self) -> None:
        try:
            while self._look_again:
                self._look_again = False
                await self._look()
        finally:
            self._looking = False

    async def _look(self, timeout: float = COMMAND_TIMEOUT) -> PaneState:
        blocks = await self._send(commands.STATE, 1, timeout)
        state = PaneState.parse(b"".join(blocks[0].lines))
        self._applied(state.cols, state.rows)
        self._titled(state.title)
        if state.dead and self.ending is None:
            await self._bury(state)
        return state

    async def _bury(self, state: PaneState) -> None:
        """The process is over and its keeper did not say so."""
        unknown = state.status is None and state.signal is None
        if unknown and self._reaps < MAX_REAPS:
            # tmux may have missed that its child ended; the end of another makes it look.
            self._reaps += 1
            await self._send(b"run-shell -b true", 1)
            self._later("end", REAP_DELAY, self._look)
            return
        ending = PaneExit(status=state.status, signal=state.signal, at=now_ms(self._clock))
        self._finished(ending, complete=False)

    def _heard(self, word: Word) -> None:
        at = now_ms(self._clock)
        match word.name:
            case "started" if not self._told_start:
                # Once: the program could say it as often as it likes.
                self._told_start = True
                self.pid = word.argument
                keep = commands.set_option("pid", b"%d" % word.argument)
                self._unawaited(self._send(keep, 1), "keeping a process number")
            case "exit":
                self._finished(PaneExit(status=word.argument, signal=None, at=at), complete=True)
            case "signal":
                name = commands.signal_name(word.argument)
                self._finished(PaneExit(status=None, signal=name, at=at), complete=True)
        self._begun(word)

    def _finished(self, ending: PaneExit, complete: bool) -> None:
        if self.ending is not None:
            return
        if not complete:
            # tmux may have dropped the last bytes: what it kept of them is in its grid.
            self.log.gap()
        self.ending, self.pid = ending, None
        self._begun(None)
        self._listeners.exited(ending)

    def _begun(self, word: Word | None) -> None:
        starting, self._starting = self._starting, None
        if starting is not None:
            starting.callback(word)

    def _applied(self, cols: int, rows: int) -> None:
        if (cols, rows) != (self.cols, self.rows):
            self.cols, self.rows = cols, rows
            self._listeners.resized(cols, rows)

    def _titled(self, title: str) -> None:
        if title != self.title:
            self.title = title
            self._listeners.titled(title)

    async def _store_modes(self) -> None:
        await self._send(commands.set_option("modes", self._modes.value), 1)

    def _later(
        self, name: str, delay: float, call: Callable[[], Coroutine[Any, Any, object]]
    ) -> None:
        """Do it after C{delay}, once, however often it is asked for meanwhile."""

        def run() -> None:
            del self._timers[name]
            self._unawaited(call(), f"{name} of a pane")

        if name not in self._timers and not self.link.over:
            self._timers[name] = self._clock.callLater(delay, run)

    def _unawaited(self, work: Coroutine[Any, Any, object], what: str) -> None:
        spawn(self._attempt(work, what), self._log, what)

    async def _attempt(self, work: Coroutine[Any, Any, object], what: str) -> None:
        try:
            await work
        except MuxError as error:
            # The next client, the end of the pane or the next call tells it again.
            self._log.info("{what}: {error}", what=what, error=error)

    def _forget(self) -> None:
        self.pid = None
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._begun(None)


def _never_started(why: object, timeout: float) -> NoReturn:
    raise MuxTimeout(f"the program did not start within {timeout:g} s")
