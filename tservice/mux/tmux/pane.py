"""Pane of a session on its own tmux server."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import NoReturn

from twisted.internet.defer import Deferred, DeferredLock
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from tservice.mux import glyphs
from tservice.mux.family import Leftover
from tservice.mux.interface import (
    COMMAND_TIMEOUT,
    Capture,
    Colours,
    GlyphRun,
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
from tservice.mux.questions import LOOK_BACK, MOST, ModeQuestion, answer_mode, is_ours
from tservice.mux.tmux import commands
from tservice.mux.tmux.capture import AT_ONCE, capture
from tservice.mux.tmux.channel import PaneChannel
from tservice.mux.tmux.client import CommandRefused, ControlClient
from tservice.mux.tmux.commands import PANE, WINDOW, PaneState, join
from tservice.mux.tmux.control import Block, Notice, PaneOutput
from tservice.mux.tmux.keyboard import Keyboard
from tservice.mux.tmux.link import ServerLink
from tservice.mux.tmux.server import TmuxServer
from tservice.mux.tmux.status import PaneStatus
from tservice.mux.tmux.stream import PaneStream
from tservice.mux.tmux.words import Word

PROBE_TIMEOUT = 2.0
"""Seconds after which the result of a probe is "unknown"."""

MODES_DELAY = 0.5
"""Seconds until a mode that tmux does not report is stored on its server for a later service."""

TITLE_DELAY = 0.1
"""Seconds until tmux is asked for a title that the stream announced; a subscription takes 1 s."""

_LAYOUT = re.compile(rb"[0-9a-f]{4},([0-9]{1,5})x([0-9]{1,5}),")


@implementer(IPane)
class TmuxPane:
    """Pane as this service sees it: a growing log, and commands through a L{ServerLink}."""

    _log = Logger()

    def __init__(
        self,
        session_id: str,
        clock: IReactorTime,
        log: OutputLog,
        server: TmuxServer,
    ) -> None:
        self.session_id = session_id
        self.log = log
        self.paused = False
        self.link = ServerLink(clock, self, server)
        self._server = server
        self._clock = clock
        self._listeners = PaneListeners()
        self._channel = PaneChannel(clock, self.link)
        self._status = PaneStatus(
            clock, self._channel, log, self._listeners, over=lambda: self._begun(None)
        )
        self._keyboard = Keyboard(clock, self._channel, log, self._status)
        self._stream = PaneStream(
            log,
            heard=self._heard,
            modes_changed=self._keep_modes,
            title_changed=self._look_at_title,
            asked=self._was_asked,
        )
        self._questions: list[ModeQuestion] = []
        self._answering = False
        self._glyphs: tuple[GlyphRun, ...] | None = None
        # Concurrent captures of long history would run out of time waiting for each other's pages.
        self._histories = DeferredLock()
        self._starting: Deferred[Word | None] | None = None
        self._told_start = False
        self._killing = False
        self._let_go = False

    # -- IPane

    @property
    def pid(self) -> int | None:
        return self._status.pid

    @property
    def ending(self) -> PaneExit | None:
        return self._status.ending

    @property
    def cols(self) -> int:
        return self._status.cols

    @property
    def rows(self) -> int:
        return self._status.rows

    @property
    def title(self) -> str:
        return self._status.title

    @property
    def typed_at(self) -> float | None:
        return self._keyboard.typed_at

    def listen(self, listener: IPaneListener) -> Callable[[], None]:
        return self._listeners.add(listener)

    async def write(self, data: bytes, mark: Mark | None = None) -> None:
        await self._keyboard.write(data, mark)

    async def send_key(self, name: str, mark: Mark | None = None) -> None:
        await self._keyboard.send_key(name, mark)

    async def paste(self, text: str, mark: Mark | None = None) -> None:
        await self._keyboard.paste(text, mark)

    async def guard(self) -> Guard:
        return await self._keyboard.guard(self._stream.modes.sequences)

    async def press_if(self, key: str, guard: Guard, rows: Sequence[int], times: int = 1) -> bool:
        return await self._keyboard.press_if(key, guard, rows, times)

    async def paste_if(self, text: str, guard: Guard, rows: Sequence[int]) -> bool:
        return await self._keyboard.paste_if(text, guard, rows)

    async def last_mark(self) -> Mark | None:
        return await self._keyboard.last_mark()

    async def resize(self, cols: int, rows: int) -> None:
        line = b"resize-window -t %b -x %d -y %d" % (WINDOW, cols, rows)
        if not self._server.owned:
            line = commands.client_size(cols, rows)
        size = commands.show("#{pane_width},#{pane_height}")
        blocks = await self._channel.send(join(line, size), 2)
        wide, _, high = b"".join(blocks[1].lines).partition(b",")
        self._status.sized(*commands.size(wide, high))

    async def set_colours(self, colours: Colours) -> None:
        if self._server.owned:
            await self._channel.send(commands.set_colours(colours), 1)

    async def glyphs(self) -> tuple[GlyphRun, ...]:
        if self._glyphs is None:
            self._glyphs = await self._ask_glyphs()
        return self._glyphs

    async def capture(self, history: int | None = 0) -> Capture:
        extra, version = self._stream.modes.sequences, await self._status.version()
        read = partial(capture, self._channel.send, self.log, history, extra)
        if history is not None and history <= AT_ONCE:
            return await read(not self.paused, version)
        async with self._histories:
            return await read(not self.paused, version)

    async def probe(self) -> Liveness:
        if self.ending is not None:
            return Liveness.DEAD
        try:
            state = await self._status.look(PROBE_TIMEOUT)
        except PaneGone:
            return Liveness.UNKNOWN if self._let_go else Liveness.DEAD
        except MuxError:
            return Liveness.UNKNOWN
        return Liveness.DEAD if state.dead else Liveness.ALIVE

    async def pause(self) -> None:
        await self._set_paused(True, b"pause")

    async def resume(self) -> None:
        await self._set_paused(False, b"continue")

    async def kill(self) -> tuple[Leftover, ...]:
        if self.link.over and not self._let_go:
            return ()
        left: tuple[Leftover, ...] = ()
        if self._server.owned:
            left = await self._end()
        else:
            await self.let_go()
        self._listeners.clear()
        self.log.finish()
        return left

    async def _end(self) -> tuple[Leftover, ...]:
        self._killing = True
        try:
            left = await self._server.end(self.link, self.pid)
        except MuxError:
            # Its program may have ended without a notification.
            self._status.look_soon()
            raise
        finally:
            self._killing = False
        await self.link.close("the session was killed")
        self._forget()
        return left

    # -- called by the multiplexer

    async def begin(self, client: ControlClient, token: bytes, size: tuple[int, int]) -> None:
        """Initialize a pane that C{client} has just created, and wait until its program runs.

        @raise MuxError: the program could not be started; the pane is unusable.
        """
        self._status.cols, self._status.rows = size
        self._stream.know(token)
        started = self._starting = Deferred()
        self.link.take(client)
        keep = commands.set_option("token", token)
        blank_title = b"select-pane -t %b -T ''" % PANE
        self._channel.unawaited(self._set_up(size, blank_title, keep), "setting up a pane")
        word = await started.addTimeout(COMMAND_TIMEOUT, self._clock, _never_started)
        if word is not None and word.name == "failed":
            raise MuxError(os.strerror(word.argument))

    async def adopt(self, client: ControlClient) -> None:
        """Adopt a pane that existed before this service."""
        self.link.take(client)
        if not self._server.owned:
            await self._choose()
        state = await self._arm()
        self._stream.know(state.token, state.modes)
        await self._status.settle(state)

    async def let_go(self) -> None:
        """Detach this service; the pane keeps running. Returns once no client is left."""
        self._let_go = True
        if self._channel.awaits("modes"):
            await self._channel.attempt(self._store_modes(), "modes of a pane")
        self._forget()
        await self.link.close("the service has detached")

    # -- called by the link

    def link_attached(self) -> None:
        self._channel.unawaited(self._arm(), "reattaching to a pane")

    def link_output(self, output: PaneOutput) -> None:
        if output.pane == PANE:
            self._stream.feed(output.data)

    def link_notice(self, notice: Notice) -> None:
        match notice.name:
            case b"window-renamed":
                # The hook on a process's end renames its window; check if this was the cause.
                self._status.look_soon()
            case b"layout-change":
                if _LAYOUT.search(notice.rest):
                    self._look_soon()
            case b"window-close" | b"unlinked-window-close" if not self._server.owned:
                self._look_soon()

    def link_gap(self) -> None:
        self.log.gap()

    def link_heartbeat(self) -> None:
        self._channel.unawaited(self._look(), "querying a pane")

    def link_lost(self) -> None:
        self._forget()
        if not self._killing:
            self._listeners.lost()

    # -- internal

    async def _choose(self) -> None:
        """Find the pane on a server that the service does not own, and record it there."""
        blocks = await self.link.command(commands.PANES)
        pane = commands.chosen(blocks[0].lines, self.session_id)
        if pane is None:
            raise MuxError("the tmux session has no pane")
        self.link.follow(pane)
        keep = commands.set_option(commands.HELD.decode(), self.session_id.encode())
        await self._channel.send(keep, 1)

    def _look_soon(self) -> None:
        if self._server.owned:
            self._status.look_soon()
        else:
            self._channel.unawaited(self._look(), "querying a pane")

    async def _look(self) -> None:
        if not self._server.owned and not await self._is_there():
            return
        await self._status.look()

    async def _is_there(self) -> bool:
        """Return true if the pane exists, on a server where others may run on without it."""
        try:
            await self._channel.send(commands.IS_THERE, 1)
        except PaneGone:
            if not self.link.over:
                await self.link.close("its pane is gone")
                self.link_lost()
            return False
        return True

    async def _set_paused(self, paused: bool, verb: bytes) -> None:
        if paused == self.paused:
            return
        await self._channel.send(b"refresh-client -A '%b:%b'" % (PANE, verb), 1)
        self.paused = paused
        self.log.gap()

    async def _set_up(self, size: tuple[int, int], *first: bytes) -> None:
        state = await self._arm(*first)
        if state.version < (3, 3):
            # A control client's session starts with 80 columns there, regardless of the requested
            # size.
            await self.resize(*size)

    async def _arm(self, *first: bytes) -> PaneState:
        """Run the commands that every new client needs, then query the pane."""
        pause = (b"refresh-client -A '%b:pause'" % PANE,) if self.paused else ()
        # On a server that the service does not own, the other clients are not ours either.
        clients = commands.CLIENTS if self._server.owned else ()
        line = (*first, *clients, *pause)
        if not line:
            return await self._status.look()
        blocks = await self._channel.send(join(*line), len(line))
        for orphan in _orphans(blocks[len(first) : len(first) + len(clients)]):
            self._log.warn("killing the client {pid} of an earlier service", pid=orphan)
            await self._channel.send(b"run-shell -b 'kill -9 %d'" % orphan, 1)
        return await self._status.look()

    def _heard(self, word: Word) -> None:
        match word.name:
            case "started" if not self._told_start:
                # Accepted once: the program could send it as often as it likes.
                self._told_start = True
                self._status.pid = word.argument
                keep = commands.set_option("pid", b"%d" % word.argument)
                self._channel.unawaited(self._channel.send(keep, 1), "storing a process id")
            case "exit" | "signal" if self._killing:
                pass  # the caller of kill knows
            case "exit":
                self._status.ended(status=word.argument, signal=None)
            case "signal":
                name = commands.signal_name(word.argument)
                self._status.ended(status=None, signal=name)
        self._begun(word)

    def _begun(self, word: Word | None) -> None:
        starting, self._starting = self._starting, None
        if starting is not None:
            starting.callback(word)

    def _keep_modes(self) -> None:
        self._channel.later("modes", MODES_DELAY, self._store_modes)

    async def _store_modes(self) -> None:
        keep = commands.set_option("modes", self._stream.modes.value)
        await self._channel.send(keep, 1)

    async def _ask_glyphs(self) -> tuple[GlyphRun, ...]:
        asked = commands.known_characters(glyphs.CHARACTERS)
        try:
            blocks = await self._channel.send(join(*asked), len(asked))
            known = glyphs.read_known(blocks[1].lines)
            [widths] = await self._channel.send(commands.widths_of(known), 1)
        except CommandRefused as error:
            self._log.info("{id}: no widths: {error}", id=self.session_id, error=error)
            return ()
        return glyphs.read_widths(known, widths.lines)

    def _was_asked(self, question: ModeQuestion) -> None:
        # On a server that the service does not own, the owner's terminal replies.
        if not self._server.owned or len(self._questions) >= MOST:
            return
        self._questions.append(question)
        if not self._answering:
            self._answering = True
            self._channel.unawaited(self._answer(), "answering a program")

    async def _answer(self) -> None:
        try:
            while self._questions:
                state = await self._status.look()
                questions, self._questions = self._questions, []
                watched = self._stream.modes.numbers
                answers = [
                    answer_mode(each, state.flags, watched, *self._around(each.at))
                    for each in questions
                    if is_ours(each, state.version)
                ]
                if answers:
                    await self._keyboard.answer(b"".join(answers))
        finally:
            self._questions = []
            self._answering = False

    def _around(self, offset: int) -> tuple[bytes, bytes]:
        """Return the output before C{offset} and since, limited to L{LOOK_BACK} bytes each."""
        log = self.log
        if not log.holds(offset):
            return b"", b""
        start = max(log.start, offset - LOOK_BACK)
        return log.read(start, offset - start), log.read(offset, LOOK_BACK)

    def _look_at_title(self) -> None:
        self._channel.later("title", TITLE_DELAY, self._status.look)

    def _forget(self) -> None:
        self._status.pid = None
        self._channel.stop()
        self._begun(None)


def _orphans(answers: Sequence[Block]) -> Sequence[int]:
    return commands.orphans(answers) if answers else ()


def _never_started(why: object, timeout: float) -> NoReturn:
    raise MuxTimeout(f"the program did not start within {timeout:g} s")
