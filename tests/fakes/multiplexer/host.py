"""Fake machine: panes and programs that keep running after their clients have ended."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import Protocol, TypeVar

from attrs import define, field, frozen
from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from tests.fakes.multiplexer.grid import FakeGrid
from tservice.core.kernel.clock import get_unix_ms
from tservice.mux.interface import (
    COMMAND_TIMEOUT,
    DARK,
    InputMark,
    LeftoverProcess,
    MuxError,
    MuxTimeout,
    PaneExit,
    PaneGone,
    PaneSpec,
    TerminalColours,
)

_T = TypeVar("_T")

_ASKED = re.compile(rb"\x1b\](1[01]);\?(\x07|\x1b\\)")


class FakeProgram(Protocol):
    """Program that runs in a fake pane."""

    def pane_started(self, tty: FakeTty) -> None:
        """Handle the start of the pane."""

    def input_received(self, data: bytes) -> None:
        """Handle C{data} that was typed into the pane."""

    def pane_resized(self, cols: int, rows: int) -> None:
        """Handle a new size of the pane."""


class FakeTty(Protocol):
    """Terminal of a fake pane, as its program sees it."""

    spec: PaneSpec

    def emit_output(self, data: bytes) -> None:
        """Print C{data}."""

    def exit_program(self, status: int | None = 0, signal: str | None = None) -> None:
        """End the program. Earlier output arrives before the exit."""


class EchoShell:
    """Simple shell that echoes typed text and runs each entered line.

    @ivar run: returns the output of a line. By default, C{echo} works and every other command is
        not found.
    @ivar lines: every line that was entered.
    """

    prompt = b"$ "

    def __init__(self, run: Callable[[str], bytes] | None = None) -> None:
        self.run = run or _run_builtin
        self.lines: list[str] = []
        self._line = bytearray()

    def pane_started(self, tty: FakeTty) -> None:
        self._tty = tty
        tty.emit_output(b"\x1b[?2004h" + self.prompt)

    def input_received(self, data: bytes) -> None:
        data = data.replace(b"\x1b[200~", b"").replace(b"\x1b[201~", b"")
        for byte in data:
            self._handle_byte(byte)

    def pane_resized(self, cols: int, rows: int) -> None:
        """Ignore the size."""

    def _handle_byte(self, byte: int) -> None:
        match byte:
            case 13:
                self._run_line()
            case 3:
                self._line.clear()
                self._tty.emit_output(b"^C\r\n" + self.prompt)
            case 4 if not self._line:
                self._tty.exit_program()
            case 127:
                self._erase_last_byte()
            case _:
                self._line.append(byte)
                self._tty.emit_output(b"\r\n" if byte == 10 else bytes([byte]))

    def _erase_last_byte(self) -> None:
        if self._line:
            self._line.pop()
            self._tty.emit_output(b"\b \b")

    def _run_line(self) -> None:
        line = self._line.decode("utf-8", "replace")
        self._line.clear()
        self.lines.append(line)
        self._tty.emit_output(b"\r\n")
        word, _, rest = line.partition(" ")
        if word == "exit":
            self._tty.exit_program(int(rest or 0))
            return
        self._tty.emit_output(self.run(line) + self.prompt)


def _run_builtin(line: str) -> bytes:
    word, _, rest = line.strip().partition(" ")
    if not word:
        return b""
    if word == "echo":
        return rest.encode() + b"\r\n"
    return word.encode() + b": not found\r\n"


def _build_colour_reply(asked: re.Match[bytes], colours: TerminalColours) -> bytes:
    value = colours.foreground if asked[1] == b"10" else colours.background
    parts = (value[at : at + 2] * 2 for at in (1, 3, 5))
    return b"\x1b]%b;rgb:%b%b" % (asked[1], "/".join(parts).encode(), asked[2])


class AttachedClient(Protocol):
    """Receiver of a hosted pane's events."""

    def output_printed(self, data: bytes) -> None: ...
    def process_exited(self, ending: PaneExit) -> None: ...
    def server_lost(self) -> None: ...
    def size_changed(self, cols: int, rows: int) -> None: ...
    def title_changed(self, title: str) -> None: ...


@frozen
class _InjectedFault:
    operation: str
    error: MuxError
    skip: int
    effect: bool


@define
class HostedPane:
    """Fake pane and its server, independent of the service that is attached.

    @ivar typed: every byte that the program received.
    @ivar keys: every named key that was pressed, in order.
    @ivar pastes: every text that was pasted, as the program received it.
    @ivar mark: the mark of the last input that was typed with a mark.
    @ivar copy_mode: set by a test; the next typed byte leaves copy mode.
    @ivar is_gone: true once the server has ended.
    @ivar prints: the number of times that the program printed.
    @ivar screen_changes: set by a test; one entry for each coming guarded key, true if the screen
        changes before the key.
    @ivar leftovers: set by a test; the processes that outlive the pane.
    @ivar colours: the colours that the terminal reports.
    @ivar is_never_quiet: set by a test; guards compare rows only, as for a screen that is never
        quiet.
    """

    spec: PaneSpec
    program: FakeProgram
    clock: IReactorTime
    pid: int | None
    grid: FakeGrid
    cols: int
    rows: int
    typed: bytearray = field(factory=bytearray)
    keys: list[str] = field(factory=list)
    pastes: list[str] = field(factory=list)
    mark: InputMark | None = None
    copy_mode: bool = False
    ending: PaneExit | None = None
    is_gone: bool = False
    prints: int = 0
    screen_changes: deque[bool] = field(factory=deque)
    leftovers: tuple[LeftoverProcess, ...] = ()
    is_never_quiet: bool = False
    clients: dict[int, AttachedClient] = field(factory=dict)
    _faults: list[_InjectedFault] = field(factory=list)
    _held: deque[Callable[[], None]] | None = None
    _title: str = ""
    colours: TerminalColours = DARK

    # -- scripted by a test

    def emit_output(self, data: bytes) -> None:
        """Print C{data} as output of the program."""
        if self.ending is not None or self.is_gone:
            return
        self.prints += 1
        self.grid.feed(data)
        for asked in _ASKED.finditer(data):
            # tmux itself replies, independent of the attached clients.
            self.send_reply(_build_colour_reply(asked, self.colours))
        for client in tuple(self.clients.values()):
            client.output_printed(data)
        if self.grid.title != self._title:
            self._title = self.grid.title
            for client in tuple(self.clients.values()):
                client.title_changed(self._title)

    def send_reply(self, data: bytes) -> None:
        """Send the program the terminal's reply to its query."""
        self.typed += data
        self.program.input_received(data)

    def exit_program(self, status: int | None = 0, signal: str | None = None) -> None:
        """End the program. The server keeps the pane, as tmux does with C{remain-on-exit}."""
        if self.ending is not None or self.is_gone:
            return
        self.pid = None
        self.ending = PaneExit(status=status, signal=signal, at=get_unix_ms(self.clock))
        for client in tuple(self.clients.values()):
            client.process_exited(self.ending)

    def lose_server(self) -> None:
        """End the server and the pane. The exit status of the program stays unknown."""
        if self.is_gone:
            return
        self.is_gone, self.pid = True, None
        self.resume_answering()
        for client in tuple(self.clients.values()):
            client.server_lost()

    def inject_fault(
        self, operation: str, error: MuxError, *, skip: int = 0, effect: bool = False
    ) -> None:
        """Make a coming call of the L{IPane} method C{operation} raise C{error}, once.

        A write counts as one call for each piece of 1,000 bytes.

        @param skip: the number of calls that succeed before the failing one.
        @param effect: true if the pane performs the call before C{error} is raised, as if only the
            answer was lost.
        """
        self._faults.append(_InjectedFault(operation, error, skip, effect))

    def stop_answering(self) -> None:
        """Stop answering. Commands wait and run out of time."""
        self._held = self._held if self._held is not None else deque()

    def resume_answering(self) -> None:
        """Answer again. Waiting commands are performed now, even those that ran out of time."""
        held, self._held = self._held or deque(), None
        for run in held:
            run()

    @property
    def is_stopped(self) -> bool:
        """True while the server does not answer."""
        return self._held is not None

    # -- called by panes

    def run_command(self, operation: str, effect: Callable[[], _T]) -> Deferred[_T]:
        """Run one command on the server, once the server answers.

        @param operation: name of the L{IPane} method, for injected faults.
        @param effect: performs the command and returns its result.
        """
        if self._held is None:
            return self._run_effect(operation, effect)
        done: Deferred[_T] = Deferred()
        timer = self.clock.callLater(COMMAND_TIMEOUT, _fail_timed_out, done, operation)
        self._held.append(lambda: self._run_late(operation, effect, done, timer))
        return done

    def _run_late(
        self,
        operation: str,
        effect: Callable[[], _T],
        done: Deferred[_T],
        timer: IDelayedCall,
    ) -> None:
        answer = self._run_effect(operation, effect)
        if timer.active():
            timer.cancel()
            answer.chainDeferred(done)
        else:
            answer.addErrback(lambda _: None)

    def _run_effect(self, operation: str, effect: Callable[[], _T]) -> Deferred[_T]:
        if self.is_gone:
            return fail(PaneGone(f"session {self.spec.session_id} has no pane"))
        fault = self._take_fault(operation)
        if fault is not None and not fault.effect:
            return fail(fault.error)
        try:
            result = effect()
        except MuxError as error:
            return fail(error)
        return succeed(result) if fault is None else fail(fault.error)

    def _take_fault(self, operation: str) -> _InjectedFault | None:
        for index, fault in enumerate(self._faults):
            if fault.operation != operation:
                continue
            if fault.skip:
                self._faults[index] = _InjectedFault(
                    operation, fault.error, fault.skip - 1, fault.effect
                )
                return None
            return self._faults.pop(index)
        return None

    def type_bytes(self, data: bytes, mark: InputMark | None) -> None:
        """Type C{data} into the program and store C{mark}."""
        if self.ending is not None:
            raise PaneGone(f"the process of session {self.spec.session_id} has ended")
        self.copy_mode = False
        self.mark = mark if mark is not None else self.mark
        self.typed += data
        self.program.input_received(data)

    def resize(self, cols: int, rows: int) -> None:
        """Apply a size, and notify all clients if the size is new."""
        if (cols, rows) == (self.cols, self.rows):
            return
        self.cols, self.rows = cols, rows
        self.grid.resize(cols, rows)
        for client in tuple(self.clients.values()):
            client.size_changed(cols, rows)
        if self.ending is None:
            self.program.pane_resized(cols, rows)


def _fail_timed_out(done: Deferred[_T], operation: str) -> None:
    done.errback(MuxTimeout(f"no answer to {operation} within {COMMAND_TIMEOUT:g} s"))


class FakeHost:
    """Fake machine whose panes outlive the services attached to them.

    @ivar panes: the panes by session id. A pane whose server died stays, like a stale socket.
    @ivar specs: every spec that was started, in order.
    @ivar start_error: set by a test; the next creation of a pane raises this error.
    """

    def __init__(
        self, clock: IReactorTime, program: Callable[[PaneSpec], FakeProgram] | None = None
    ) -> None:
        self.clock = clock
        self.program = program or (lambda spec: EchoShell())
        self.panes: dict[str, HostedPane] = {}
        self.specs: list[PaneSpec] = []
        self.start_error: MuxError | None = None
        self._pid = 4000
        self._epochs = 0

    def __getitem__(self, session_id: str) -> HostedPane:
        return self.panes[session_id]

    def start_pane(self, spec: PaneSpec, attach: Callable[[HostedPane], None]) -> HostedPane:
        """Start a pane.

        @param attach: called with the pane before its first output.
        @raise MuxError: a test injected an error, or a server of that session still runs.
        """
        refusal, self.start_error = self.start_error, None
        if refusal is not None:
            raise refusal
        before = self.panes.get(spec.session_id)
        if before is not None and not before.is_gone:
            raise MuxError(f"session {spec.session_id} still has a server")
        self._pid += 1
        grid = FakeGrid(spec.cols, spec.rows, spec.history_limit)
        program = self.program(spec)
        pane = HostedPane(spec, program, self.clock, self._pid, grid, spec.cols, spec.rows)
        self.panes[spec.session_id] = pane
        self.specs.append(spec)
        pane.colours = spec.colours
        attach(pane)
        if spec.preface:
            pane.emit_output(spec.preface)
        program.pane_started(pane)
        return pane

    def next_epoch(self) -> str:
        """Return a name that no other output log of this host has."""
        self._epochs += 1
        return f"epoch-{self._epochs}"

    def lose_server(self, session_id: str) -> None:
        """End the server of that session. The exit status of its program stays unknown."""
        self.panes.pop(session_id).lose_server()
