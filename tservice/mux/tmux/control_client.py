"""Control-mode client process: takes commands, and returns answers and the pane's bytes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Protocol

from attrs import define, evolve, field
from twisted.internet.defer import Deferred, fail
from twisted.internet.error import ProcessExitedAlready
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.internet.protocol import ProcessProtocol
from twisted.logger import Logger
from twisted.python.failure import Failure

from tservice.core.net.immediate_write import write_immediately
from tservice.core.timers import cancel_call
from tservice.mux.interface import COMMAND_TIMEOUT, MuxBusy, MuxError, MuxTimeout
from tservice.mux.preamble import ShellPreamble
from tservice.mux.tmux.commands import PANE
from tservice.mux.tmux.control_parser import (
    MAX_BLOCK,
    AnswerBlock,
    ControlNotice,
    ControlParser,
    EndlessAnswer,
    Event,
    LineOverrun,
    PaneOutput,
)

MAX_WAITING = 256
"""Maximum number of commands that wait for an answer; a line is below 4 KB except for a paste."""

CLOSE_TIMEOUT = 0.5
"""Seconds to read the last bytes of a client whose process has ended."""

MAX_ERROR_TEXT = 2000
"""Bytes of the process's standard error, or of an answer, that are kept for error messages."""

ODD_EVENTS = 1000
ODD_SECONDS = 1.0
"""Seconds in which L{ODD_EVENTS} notices and unrequested answers are a flood, which tmux never
sends. A pane's bytes do not count. The server may belong to its user, who can replace it by
anything.
"""
OF_A_COMMAND = 4
"""Notices that one of our commands may cause, such as the layouts after a resize; they are not part
of a flood.
"""
MANY_LINES, SLICE = 4096, 4096
"""A read with more lines than C{MANY_LINES} is parsed in slices of C{SLICE} bytes, so that a flood
can be stopped before its end."""

FREE = b"tservice-free"
"""Notice that precedes the start of a remote server: no other server of that session runs there."""


class ClientGone(MuxError):
    """The client has ended and nothing was sent; a new client may send it."""


class CommandRefused(MuxError):
    """tmux answered with an error; the text is its own."""


class ClientEvents(Protocol):
    """Receiver of a client's events, in the order of the stream."""

    def client_output(self, client: ControlClient, output: PaneOutput) -> None:
        """Handle output of a pane."""

    def client_notice(self, client: ControlClient, notice: ControlNotice) -> None:
        """Handle any other notice of tmux."""

    def client_overrun(self, client: ControlClient) -> None:
        """Handle a possible loss of pane bytes."""

    def client_stalled(self, client: ControlClient) -> None:
        """Handle a command that ran out of time. Its answer may still come."""

    def client_ended(self, client: ControlClient, why: str) -> None:
        """Handle the end of the process."""


@define(eq=False)
class _PendingCommand:
    """Line that was sent.

    @ivar left: the number of outstanding answers, one for each command of the line.
    @ivar done: C{None} once no caller waits.
    """

    outstanding: int
    done: Deferred[list[AnswerBlock]] | None
    timer: IDelayedCall | None = None
    blocks: list[AnswerBlock] = field(factory=list)
    size: int = 0

    def add_answer(self, block: AnswerBlock) -> None:
        """Add an answer; all answers together may take the space of one."""
        self.size += block.size
        if self.size > MAX_BLOCK or self.done is None:
            block = evolve(block, lines=(), is_complete=False)
        self.blocks.append(block)

    def return_answers(self) -> None:
        """Return all answers to the caller."""
        done = self.detach_caller()
        if done is not None:
            done.callback(self.blocks)

    def raise_error(self, error: MuxError) -> None:
        """Raise an error in the caller: the command was not done, or its result is unknown."""
        done = self.detach_caller()
        if done is not None:
            done.errback(error)

    def detach_caller(self) -> Deferred[list[AnswerBlock]] | None:
        """Detach the caller, if any, and return it. The command keeps its position in the queue."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        done, self.done = self.done, None
        return done


class ControlClient(ProcessProtocol):
    """Control-mode connection to one C{tmux -C} process.

    Answers come in the order of the commands. A command that ran out of time keeps its position, so
    that the answers of a slow server still match after it recovers.

    @ivar ready: fires with the answer to the client's own attach or new-session; fails with
        L{MuxError} if there is none.
    @ivar gone: fires once the process has ended.
    @ivar free: true if the remote end sent L{FREE}: the server of that session is this client's.
    @ivar pane: the only pane whose output is reported, under the name of L{PANE}.
    @ivar first: bytes that the process reads before any command, for one that is started remotely.
    @ivar preamble: the output of a remote process before tmux begins.
    """

    _log = Logger()

    def __init__(self, clock: IReactorTime, events: ClientEvents) -> None:
        self.ready: Deferred[AnswerBlock] = Deferred()
        self.gone: Deferred[None] = Deferred()
        self._clock = clock
        self._events = events
        self._parser = ControlParser()
        self._waiting: deque[_PendingCommand] = deque()
        self._started = False
        self._errors = b""
        self._exit_text = ""
        self._process: Any = None
        self._closing: IDelayedCall | None = None
        self._odd = 0
        self._odd_since = clock.seconds()
        self._cut = False
        self.initial_input = b""
        self.preamble = ShellPreamble()
        self.pane = PANE
        self.is_session_free = False

    @property
    def has_ended(self) -> bool:
        """True if the process has ended."""
        return self.gone.called

    @property
    def pending_count(self) -> int:
        """Number of lines that tmux has not answered yet, including those that ran out of time."""
        return len(self._waiting)

    @property
    def is_overdue(self) -> bool:
        """True while a line that ran out of time is unanswered."""
        return bool(self._waiting) and self._waiting[0].timer is None

    def send_command(
        self, line: bytes, answers: int = 1, timeout: float = COMMAND_TIMEOUT
    ) -> Deferred[list[AnswerBlock]]:
        """Send one line of C{answers} commands joined by C{;}.

        @return: the answers. They are delivered at their position in the stream: the listener has
            received all output of the pane before them, and none after them.
        @raise CommandRefused: one of the commands failed; those after it were not run.
        @raise MuxTimeout: no answer in time, or the client ended first.
        @raise MuxBusy: L{MAX_WAITING} others wait.
        @raise ClientGone: the client has ended.
        """
        if self._process is None:
            return fail(ClientGone("the tmux client has ended"))
        if len(self._waiting) >= MAX_WAITING:
            return fail(MuxBusy(f"{MAX_WAITING} commands are already waiting"))

        def handle_cancelled(_: Deferred[list[AnswerBlock]]) -> None:
            command.detach_caller()

        done: Deferred[list[AnswerBlock]] = Deferred(handle_cancelled)
        command = _PendingCommand(answers, done)
        command.timer = self._clock.callLater(timeout, self._handle_timeout, command, line, timeout)
        self._waiting.append(command)
        pipes = getattr(self._process, "pipes", {})
        write_immediately(self._process, pipes.get(0), line + b"\n")
        return done

    def detach(self) -> None:
        """Detach from the server: the client exits when its input ends."""
        if self._process is not None:
            self._process.closeStdin()

    def kill_process(self) -> None:
        """Kill the client process, even a stopped one; the server is not touched."""
        if self._process is not None:
            with suppress(ProcessExitedAlready):
                self._process.signalProcess("KILL")

    # -- ProcessProtocol

    def connectionMade(self) -> None:
        self._process = self.transport
        if self.initial_input:
            self._process.write(self.initial_input)

    def outReceived(self, data: bytes) -> None:
        data = self.preamble.strip_output(data)
        # A hostile server sends empty lines to keep the parser busy.
        step = SLICE if data.count(b"\n") > MANY_LINES else max(1, len(data))
        for at in range(0, len(data), step):
            if self._cut:
                return
            for event in _merge_output(self._parser.feed(data[at : at + step]), self.pane):
                self._dispatch_event(event)

    def errReceived(self, data: bytes) -> None:
        self._errors = self.preamble.strip_errors(self._errors + data)[-MAX_ERROR_TEXT:]

    def processExited(self, reason: Failure) -> None:
        # The server holds this client's pipes too, and does not close them while it is stalled.
        self._closing = self._clock.callLater(CLOSE_TIMEOUT, self._process.loseConnection)

    def processEnded(self, reason: Failure) -> None:
        cancel_call(self._closing)
        for event in self._parser.finish():
            self._dispatch_event(event)
        self._process = None
        why = self._describe_end(reason)
        if not self._started:
            self._started = True
            self.ready.errback(CommandRefused(why))
        waiting, self._waiting = self._waiting, deque()
        for command in waiting:
            command.raise_error(MuxTimeout(f"the tmux client ended before it answered: {why}"))
        self._events.client_ended(self, why)
        self.gone.callback(None)

    # -- internal

    def _describe_end(self, reason: Failure) -> str:
        text = self._errors.decode("utf-8", "replace").strip()
        said = self._exit_text or self.preamble.last_line
        return text or said or reason.getErrorMessage()

    def _dispatch_event(self, event: Event) -> None:
        if self._cut:
            return
        match event:
            case PaneOutput():
                self._events.client_output(self, event)
            case AnswerBlock(is_ours=True) if self._waiting:
                self._handle_answer(event)
            case EndlessAnswer():
                self._end_flood()
            case _:
                self._count_odd_event()
                self._handle_odd_event(event)

    def _handle_odd_event(self, event: Event) -> None:
        match event:
            case AnswerBlock(is_ours=False):
                self._handle_first_block(event)
            case ControlNotice(name=name) if not self._started and name == FREE:
                self.is_session_free = True
            case ControlNotice(name=b"exit"):
                self._exit_text = event.rest[:MAX_ERROR_TEXT].decode("utf-8", "replace")
            case ControlNotice():
                self._events.client_notice(self, event)
            case LineOverrun():
                self._events.client_overrun(self)
            case _:
                self._log.debug("tmux sent an answer without a command")

    def _count_odd_event(self) -> None:
        now = self._clock.seconds()
        if now - self._odd_since >= ODD_SECONDS:
            self._odd, self._odd_since = 0, now
        self._odd += 1
        if self._odd > ODD_EVENTS and not self._cut:
            self._end_flood()

    def _end_flood(self) -> None:
        self._log.warn("a tmux server flooded its client, which was ended")
        self._cut = True
        self._parser = ControlParser()
        self.kill_process()

    def _handle_first_block(self, block: AnswerBlock) -> None:
        # Later blocks that are not ours are answers to hooks.
        if self._started:
            return
        self._started = True
        if block.is_success:
            self.ready.callback(block)
        else:
            self.ready.errback(CommandRefused(_decode_block(block)))

    def _handle_answer(self, block: AnswerBlock) -> None:
        command = self._waiting[0]
        command.add_answer(block)
        command.outstanding -= 1
        if command.outstanding and block.is_success:
            return
        self._waiting.popleft()
        self._odd -= OF_A_COMMAND
        if not block.is_success:
            command.raise_error(CommandRefused(_decode_block(block)))
        elif all(answer.is_complete for answer in command.blocks):
            command.return_answers()
        else:
            command.raise_error(MuxError("the answer of tmux is too large"))

    def _handle_timeout(self, command: _PendingCommand, line: bytes, timeout: float) -> None:
        verb = line.split(b" ", 1)[0].decode("ascii", "replace")
        command.timer = None
        if self._waiting and self._waiting[0] is command:
            # An answer that is being received belongs to this command.
            self._parser.drop_open_answer()
        command.raise_error(MuxTimeout(f"tmux did not answer {verb} within {timeout:g} s"))
        self._events.client_stalled(self)


def _merge_output(events: Iterable[Event], pane: bytes) -> Iterator[Event]:
    """Yield the events without output of other panes, and with consecutive output merged."""
    held: list[bytes] = []
    for event in events:
        if isinstance(event, PaneOutput):
            if event.pane == pane:
                held.append(event.data)
            continue
        if held:
            yield PaneOutput(PANE, b"".join(held))
            held.clear()
        yield event
    if held:
        yield PaneOutput(PANE, b"".join(held))


def _decode_block(block: AnswerBlock) -> str:
    return b" ".join(block.lines[:MAX_ERROR_TEXT])[:MAX_ERROR_TEXT].decode("utf-8", "replace")
