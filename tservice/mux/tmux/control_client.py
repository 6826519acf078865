"""Control-mode client process of tmux: sends commands, and receives answers and the pane's
output.
"""

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

from tservice.core.kernel.timers import cancel_call
from tservice.core.net.immediate_write import write_immediately
from tservice.mux.interface import COMMAND_TIMEOUT, MuxBusy, MuxError, MuxTimeout
from tservice.mux.preamble import ShellPreambleFilter
from tservice.mux.tmux.commands import PANE
from tservice.mux.tmux.control_parser import (
    MAX_BLOCK,
    AnswerBlock,
    ControlNotice,
    ControlParser,
    DroppedLine,
    EndlessAnswer,
    Event,
    PaneOutput,
)

MAX_WAITING = 256
"""Maximum number of command lines that wait for an answer. A line is below 4 KB except for a paste.
"""

CLOSE_TIMEOUT = 0.5
"""Seconds to read the remaining output of a client whose process has ended."""

MAX_ERROR_TEXT = 2000
"""Bytes of standard error, or of an answer, that are kept for error messages."""

ODD_EVENTS = 1000
ODD_SECONDS = 1.0
"""Period in seconds. A client that sends L{ODD_EVENTS} notices and unrequested answers in it is
killed.

tmux never sends so many. Output of the pane does not count. The server may belong to its user, who
can replace it by any program.
"""
OF_A_COMMAND = 4
"""Number of notices that one command of the service may cause, such as the layouts after a resize.

These notices do not count towards L{ODD_EVENTS}.
"""
MANY_LINES, SLICE = 4096, 4096
"""A read with more lines than C{MANY_LINES} is parsed in slices of C{SLICE} bytes, so that a flood
can be stopped before its end."""

FREE = b"tservice-free"
"""Notice that a remote host sends before it starts a server. It means that no other server of the
session runs there.
"""


class ClientGone(MuxError):
    """Raised if the client has ended and the command was not sent. A new client may send it."""


class CommandRefused(MuxError):
    """Raised if tmux answered a command with an error. The text is tmux's own."""


class ClientEvents(Protocol):
    """Receiver of a control client's events, in the order of the stream."""

    def client_output(self, client: ControlClient, output: PaneOutput) -> None:
        """Handle output of a pane."""

    def client_notice(self, client: ControlClient, notice: ControlNotice) -> None:
        """Handle a notice of tmux that is not output."""

    def client_dropped_line(self, client: ControlClient) -> None:
        """Handle a dropped line, which may have contained output of the pane."""

    def client_stalled(self, client: ControlClient) -> None:
        """Handle a command that ran out of time. Its answer may still come."""

    def client_ended(self, client: ControlClient, why: str) -> None:
        """Handle the end of the client process.

        @param why: reason for the log.
        """


@define(eq=False)
class _PendingCommand:
    """Command line that was sent to tmux and waits for its answers.

    @ivar outstanding: the number of missing answers. Each command of the line has one answer.
    @ivar done: fires with the answers; C{None} once no caller waits.
    """

    outstanding: int
    done: Deferred[list[AnswerBlock]] | None
    timer: IDelayedCall | None = None
    blocks: list[AnswerBlock] = field(factory=list)
    size: int = 0

    def add_answer(self, block: AnswerBlock) -> None:
        """Add an answer. The total size of all answers is limited to L{MAX_BLOCK}."""
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
        """Raise an error in the caller, because the command was not performed or its result is
        unknown.
        """
        done = self.detach_caller()
        if done is not None:
            done.errback(error)

    def detach_caller(self) -> Deferred[list[AnswerBlock]] | None:
        """Stop answering the caller. The command keeps its position in the queue.

        @return: the caller's Deferred; C{None} if no caller waits.
        """
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        done, self.done = self.done, None
        return done


class ControlClient(ProcessProtocol):
    """Control-mode connection to one C{tmux -C} process.

    Answers come in the order of the commands. A command that ran out of time keeps its position, so
    that the answers of a slow server still match after it recovers.

    @ivar ready: fires with the answer to the client's own attach or new-session command. Fails with
        L{MuxError} if no answer comes.
    @ivar gone: fires once the process has ended.
    @ivar is_session_free: true if the remote host sent L{FREE}, so that this client started the
        session's server.
    @ivar pane: tmux id of the only pane whose output is reported, under the id L{PANE}.
    @ivar initial_input: bytes that the process reads before any command, if it is started remotely.
    @ivar preamble: filter for the login shell's output before tmux begins.
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
        self.preamble = ShellPreambleFilter()
        self.pane = PANE
        self.is_session_free = False

    @property
    def has_ended(self) -> bool:
        """True if the client process has ended."""
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

        @param answers: number of commands in the line.
        @param timeout: seconds to wait for the answers.
        @return: the answers. They are delivered at their position in the stream: the listener has
            received all output of the pane before them, and none after them.
        @raise CommandRefused: one of the commands failed; those after it were not run.
        @raise MuxTimeout: no answer came in time, or the client ended first.
        @raise MuxBusy: L{MAX_WAITING} other lines wait for an answer.
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
        """Detach from the server by closing the client's input. The client then exits."""
        if self._process is not None:
            self._process.closeStdin()

    def kill_process(self) -> None:
        """Kill the client process, even if it is stopped. The server is not affected."""
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
                self._count_unexpected_event()
                self._report_unexpected_event(event)

    def _report_unexpected_event(self, event: Event) -> None:
        match event:
            case AnswerBlock(is_ours=False):
                self._handle_attach_answer(event)
            case ControlNotice(name=name) if not self._started and name == FREE:
                self.is_session_free = True
            case ControlNotice(name=b"exit"):
                self._exit_text = event.rest[:MAX_ERROR_TEXT].decode("utf-8", "replace")
            case ControlNotice():
                self._events.client_notice(self, event)
            case DroppedLine():
                self._events.client_dropped_line(self)
            case _:
                self._log.debug("tmux sent an answer without a command")

    def _count_unexpected_event(self) -> None:
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

    def _handle_attach_answer(self, block: AnswerBlock) -> None:
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
    """Yield the events without output of other panes. Consecutive output is merged into one
    event.
    """
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
