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

from tservice.mux import glyph_widths
from tservice.mux.interface import (
    COMMAND_TIMEOUT,
    GlyphRun,
    InputMark,
    IPane,
    IPaneListener,
    Liveness,
    MuxError,
    MuxTimeout,
    PaneCapture,
    PaneExit,
    PaneGone,
    ScreenGuard,
    TerminalColours,
)
from tservice.mux.listeners import PaneListeners
from tservice.mux.mode_queries import LOOK_BACK, MOST, ModeQuery, build_mode_reply, needs_reply
from tservice.mux.outputlog import OutputLog
from tservice.mux.process_family import LeftoverProcess
from tservice.mux.tmux import commands
from tservice.mux.tmux.capture import AT_ONCE, capture_pane
from tservice.mux.tmux.commands import PANE, WINDOW, PaneState, join_commands
from tservice.mux.tmux.control_client import CommandRefused, ControlClient
from tservice.mux.tmux.control_parser import AnswerBlock, ControlNotice, PaneOutput
from tservice.mux.tmux.keyboard import PaneKeyboard
from tservice.mux.tmux.pane_channel import PaneChannel
from tservice.mux.tmux.server import TmuxServer
from tservice.mux.tmux.server_link import ServerLink
from tservice.mux.tmux.status import PaneStatus
from tservice.mux.tmux.stream import PaneStream
from tservice.mux.tmux.stream_parsers import KeeperMessage

PROBE_TIMEOUT = 2.0
"""Seconds after which a check of the process returns L{Liveness.UNKNOWN}."""

MODES_DELAY = 0.5
"""Seconds after a mode change until the mode is stored on the server, for a later service.

Only modes that tmux does not report are stored.
"""

TITLE_DELAY = 0.1
"""Seconds from a title sequence in the output to the query for the new title. A tmux subscription
would take 1 s.
"""

_LAYOUT = re.compile(rb"[0-9a-f]{4},([0-9]{1,5})x([0-9]{1,5}),")


@implementer(IPane)
class TmuxPane:
    """Pane on a tmux server. Output goes into a log, and commands go through a L{ServerLink}."""

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
            clock, self._channel, log, self._listeners, over=lambda: self._finish_start_wait(None)
        )
        self._keyboard = PaneKeyboard(clock, self._channel, log, self._status)
        self._stream = PaneStream(
            log,
            heard=self._handle_keeper_message,
            modes_changed=self._schedule_mode_storage,
            title_changed=self._query_title_later,
            asked=self._handle_mode_query,
        )
        self._questions: list[ModeQuery] = []
        self._answering = False
        self._glyphs: tuple[GlyphRun, ...] | None = None
        # Concurrent captures of long history would run out of time waiting for each other's pages.
        self._histories = DeferredLock()
        self._starting: Deferred[KeeperMessage | None] | None = None
        self._has_reported_start = False
        self._killing = False
        self._is_detached = False

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

    def add_listener(self, listener: IPaneListener) -> Callable[[], None]:
        return self._listeners.add(listener)

    async def write_bytes(self, data: bytes, mark: InputMark | None = None) -> None:
        await self._keyboard.write_bytes(data, mark)

    async def send_key(self, name: str, mark: InputMark | None = None) -> None:
        await self._keyboard.send_key(name, mark)

    async def paste(self, text: str, mark: InputMark | None = None) -> None:
        await self._keyboard.paste(text, mark)

    async def guard_screen(self) -> ScreenGuard:
        return await self._keyboard.guard_screen(self._stream.modes.sequences)

    async def press_if(
        self, key: str, guard: ScreenGuard, rows: Sequence[int], times: int = 1
    ) -> bool:
        return await self._keyboard.press_if(key, guard, rows, times)

    async def paste_if(self, text: str, guard: ScreenGuard, rows: Sequence[int]) -> bool:
        return await self._keyboard.paste_if(text, guard, rows)

    async def read_last_mark(self) -> InputMark | None:
        return await self._keyboard.read_last_mark()

    async def resize(self, cols: int, rows: int) -> None:
        line = b"resize-window -t %b -x %d -y %d" % (WINDOW, cols, rows)
        if not self._server.owned:
            line = commands.request_client_size(cols, rows)
        size = commands.print_format("#{pane_width},#{pane_height}")
        blocks = await self._channel.send_line(join_commands(line, size), 2)
        wide, _, high = b"".join(blocks[1].lines).partition(b",")
        self._status.record_size(*commands.parse_size(wide, high))

    async def set_colours(self, colours: TerminalColours) -> None:
        if self._server.owned:
            await self._channel.send_line(commands.set_colours(colours), 1)

    async def get_glyph_runs(self) -> tuple[GlyphRun, ...]:
        if self._glyphs is None:
            self._glyphs = await self._query_glyph_runs()
        return self._glyphs

    async def capture_content(self, history: int | None = 0) -> PaneCapture:
        extra, version = self._stream.modes.sequences, await self._status.get_version()
        read = partial(capture_pane, self._channel.send_line, self.log, history, extra)
        if history is not None and history <= AT_ONCE:
            return await read(not self.paused, version)
        async with self._histories:
            return await read(not self.paused, version)

    async def probe_process(self) -> Liveness:
        if self.ending is not None:
            return Liveness.DEAD
        try:
            state = await self._status.query_state(PROBE_TIMEOUT)
        except PaneGone:
            return Liveness.UNKNOWN if self._is_detached else Liveness.DEAD
        except MuxError:
            return Liveness.UNKNOWN
        return Liveness.DEAD if state.dead else Liveness.ALIVE

    async def pause_output(self) -> None:
        await self._set_paused(True, b"pause")

    async def resume_output(self) -> None:
        await self._set_paused(False, b"continue")

    async def kill(self) -> tuple[LeftoverProcess, ...]:
        if self.link.is_closed and not self._is_detached:
            return ()
        left: tuple[LeftoverProcess, ...] = ()
        if self._server.owned:
            left = await self._end_server()
        else:
            await self.detach_service()
        self._listeners.clear()
        self.log.finish()
        return left

    async def _end_server(self) -> tuple[LeftoverProcess, ...]:
        self._killing = True
        try:
            left = await self._server.end_server(self.link, self.pid)
        except MuxError:
            # Its program may have ended without a notification.
            self._status.request_state_query()
            raise
        finally:
            self._killing = False
        await self.link.close("the session was killed")
        self._stop_tracking()
        return left

    # -- called by the multiplexer

    async def wait_until_started(
        self, client: ControlClient, token: bytes, size: tuple[int, int]
    ) -> None:
        """Initialize a pane that C{client} has just created, and wait until its program runs.

        @param token: unguessable word that authenticates the keeper's messages.
        @param size: columns and rows of the pane.
        @raise MuxError: the program could not be started; the pane is unusable.
        """
        self._status.cols, self._status.rows = size
        self._stream.set_token(token)
        started = self._starting = Deferred()
        self.link.set_client(client)
        keep = commands.set_option("token", token)
        blank_title = b"select-pane -t %b -T ''" % PANE
        self._channel.run_in_background(
            self._initialize_pane(size, blank_title, keep), "setting up a pane"
        )
        word = await started.addTimeout(COMMAND_TIMEOUT, self._clock, _raise_start_timeout)
        if word is not None and word.name == "failed":
            raise MuxError(os.strerror(word.argument))

    async def adopt_existing(self, client: ControlClient) -> None:
        """Adopt a pane that existed before this service."""
        self.link.set_client(client)
        if not self._server.owned:
            await self._choose_pane()
        state = await self._initialize_client()
        self._stream.set_token(state.token, state.modes)
        await self._status.wait_for_exit_details(state)

    async def detach_service(self) -> None:
        """Detach this service from the pane, which keeps running. Return once no client is left."""
        self._is_detached = True
        if self._channel.is_scheduled("modes"):
            await self._channel.run_logging_errors(self._store_modes(), "modes of a pane")
        self._stop_tracking()
        await self.link.close("the service has detached")

    # -- called by the link

    def handle_attached(self) -> None:
        self._channel.run_in_background(self._initialize_client(), "reattaching to a pane")

    def handle_output(self, output: PaneOutput) -> None:
        if output.pane == PANE:
            self._stream.feed(output.data)

    def handle_notice(self, notice: ControlNotice) -> None:
        match notice.name:
            case b"window-renamed":
                # The hook on a process's end renames its window; check if this was the cause.
                self._status.request_state_query()
            case b"layout-change":
                if _LAYOUT.search(notice.rest):
                    self._query_soon()
            case b"window-close" | b"unlinked-window-close" if not self._server.owned:
                self._query_soon()

    def handle_output_gap(self) -> None:
        self.log.add_gap()

    def handle_heartbeat(self) -> None:
        self._channel.run_in_background(self._query_pane(), "querying a pane")

    def handle_lost_server(self) -> None:
        self._stop_tracking()
        if not self._killing:
            self._listeners.notify_lost()

    # -- internal

    async def _choose_pane(self) -> None:
        """Choose the pane on a server that the service does not own, and record the choice on the
        server.
        """
        blocks = await self.link.send_command(commands.PANES)
        pane = commands.choose_pane(blocks[0].lines, self.session_id)
        if pane is None:
            raise MuxError("the tmux session has no pane")
        self.link.set_pane_id(pane)
        keep = commands.set_option(commands.HELD.decode(), self.session_id.encode())
        await self._channel.send_line(keep, 1)

    def _query_soon(self) -> None:
        if self._server.owned:
            self._status.request_state_query()
        else:
            self._channel.run_in_background(self._query_pane(), "querying a pane")

    async def _query_pane(self) -> None:
        if not self._server.owned and not await self._does_pane_exist():
            return
        await self._status.query_state()

    async def _does_pane_exist(self) -> bool:
        """Return true if the pane still exists. A server that others own may outlive the pane."""
        try:
            await self._channel.send_line(commands.IS_THERE, 1)
        except PaneGone:
            if not self.link.is_closed:
                await self.link.close("its pane is gone")
                self.handle_lost_server()
            return False
        return True

    async def _set_paused(self, paused: bool, verb: bytes) -> None:
        if paused == self.paused:
            return
        await self._channel.send_line(b"refresh-client -A '%b:%b'" % (PANE, verb), 1)
        self.paused = paused
        self.log.add_gap()

    async def _initialize_pane(self, size: tuple[int, int], *first: bytes) -> None:
        state = await self._initialize_client(*first)
        if state.version < (3, 3):
            # A control client's session starts with 80 columns there, regardless of the requested
            # size.
            await self.resize(*size)

    async def _initialize_client(self, *first: bytes) -> PaneState:
        """Run the commands that every new client needs, then query the state of the pane.

        @param first: commands to run before these.
        """
        pause = (b"refresh-client -A '%b:pause'" % PANE,) if self.paused else ()
        # On a server that the service does not own, the other clients are not ours either.
        clients = commands.CLIENTS if self._server.owned else ()
        line = (*first, *clients, *pause)
        if not line:
            return await self._status.query_state()
        blocks = await self._channel.send_line(join_commands(*line), len(line))
        for orphan in _find_orphans(blocks[len(first) : len(first) + len(clients)]):
            self._log.warn("killing the client {pid} of an earlier service", pid=orphan)
            await self._channel.send_line(b"run-shell -b 'kill -9 %d'" % orphan, 1)
        return await self._status.query_state()

    def _handle_keeper_message(self, word: KeeperMessage) -> None:
        match word.name:
            case "started" if not self._has_reported_start:
                # Accepted once: the program could send it as often as it likes.
                self._has_reported_start = True
                self._status.pid = word.argument
                keep = commands.set_option("pid", b"%d" % word.argument)
                self._channel.run_in_background(
                    self._channel.send_line(keep, 1), "storing a process id"
                )
            case "exit" | "signal" if self._killing:
                pass  # the caller of kill knows
            case "exit":
                self._status.record_exit(status=word.argument, signal=None)
            case "signal":
                name = commands.name_signal(word.argument)
                self._status.record_exit(status=None, signal=name)
        self._finish_start_wait(word)

    def _finish_start_wait(self, word: KeeperMessage | None) -> None:
        starting, self._starting = self._starting, None
        if starting is not None:
            starting.callback(word)

    def _schedule_mode_storage(self) -> None:
        self._channel.schedule_command("modes", MODES_DELAY, self._store_modes)

    async def _store_modes(self) -> None:
        keep = commands.set_option("modes", self._stream.modes.stored_value)
        await self._channel.send_line(keep, 1)

    async def _query_glyph_runs(self) -> tuple[GlyphRun, ...]:
        asked = commands.print_known_characters(glyph_widths.CHARACTERS)
        try:
            blocks = await self._channel.send_line(join_commands(*asked), len(asked))
            known = glyph_widths.parse_known_characters(blocks[1].lines)
            [widths] = await self._channel.send_line(commands.print_widths(known), 1)
        except CommandRefused as error:
            self._log.info("{id}: no widths: {error}", id=self.session_id, error=error)
            return ()
        return glyph_widths.parse_widths(known, widths.lines)

    def _handle_mode_query(self, question: ModeQuery) -> None:
        # On a server that the service does not own, the owner's terminal replies.
        if not self._server.owned or len(self._questions) >= MOST:
            return
        self._questions.append(question)
        if not self._answering:
            self._answering = True
            self._channel.run_in_background(self._reply_to_queries(), "answering a program")

    async def _reply_to_queries(self) -> None:
        try:
            while self._questions:
                state = await self._status.query_state()
                questions, self._questions = self._questions, []
                watched = self._stream.modes.numbers
                answers = [
                    build_mode_reply(each, state.flags, watched, *self._read_output_around(each.at))
                    for each in questions
                    if needs_reply(each, state.version)
                ]
                if answers:
                    await self._keyboard.type_reply(b"".join(answers))
        finally:
            self._questions = []
            self._answering = False

    def _read_output_around(self, offset: int) -> tuple[bytes, bytes]:
        """Return the output before C{offset} and the output after it, at most L{LOOK_BACK} bytes
        each.
        """
        log = self.log
        if not log.has_offset(offset):
            return b"", b""
        start = max(log.start, offset - LOOK_BACK)
        return log.read(start, offset - start), log.read(offset, LOOK_BACK)

    def _query_title_later(self) -> None:
        self._channel.schedule_command("title", TITLE_DELAY, self._status.query_state)

    def _stop_tracking(self) -> None:
        self._status.pid = None
        self._channel.cancel_scheduled()
        self._finish_start_wait(None)


def _find_orphans(answers: Sequence[AnswerBlock]) -> Sequence[int]:
    return commands.parse_orphan_pids(answers) if answers else ()


def _raise_start_timeout(why: object, timeout: float) -> NoReturn:
    raise MuxTimeout(f"the program did not start within {timeout:g} s")
