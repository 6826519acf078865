"""Parser of tmux's control mode: consumes bytes and returns events.

Lines end in LF alone. Bytes of the pane come as C{%output}. The answer to a command comes between
C{%begin} and C{%end} or C{%error} with the same time and number. Every other line is a notice.

No input can raise an exception. The parser keeps at most L{MAX_LINE} of an unfinished line outside
of an answer. It keeps at most L{MAX_BLOCK} each of an unfinished answer and of its last line.
"""

from __future__ import annotations

import re
from codecs import escape_decode

from attrs import field, frozen

MAX_LINE = 1024 * 1024
"""Maximum bytes of one line outside of an answer; tmux stays below 40 KB for output."""

MAX_BLOCK = 64 * 1024 * 1024
"""Maximum bytes of one answer. A pane with 100,000 rows takes about 10 MB, which may be a single
line.
"""

MAX_DROPPED = MAX_BLOCK
"""Maximum bytes beyond L{MAX_BLOCK} that are read of one answer and discarded."""

LINE_COST = 64
"""Bytes added to the length of each line, so that an answer of empty lines has a limit too."""

_OUTPUT = b"%output "
_BEGIN = re.compile(rb"%begin ([0-9]{1,20}) ([0-9]{1,20}) ([0-9]{1,20})")
_NO_ESCAPE = re.compile(rb"\\(?![0-3][0-7]{2})")
_OCTAL = re.compile(rb"\\([0-3][0-7]{2})")


@frozen
class PaneOutput:
    """Bytes that a pane printed; consecutive output of a pane in one C{feed} is one event."""

    pane: bytes
    data: bytes


@frozen
class AnswerBlock:
    """Answer to one command.

    @ivar is_success: true for C{%end}, false for C{%error}.
    @ivar is_ours: true if the answer belongs to a line that this client sent; false for the attach
        or a hook.
    @ivar is_complete: false if the answer exceeded a limit. It then has no lines.
    @ivar size: the size of the lines in bytes, with L{LINE_COST} added for each line.
    """

    time: int
    number: int
    is_success: bool
    is_ours: bool
    lines: tuple[bytes, ...]
    is_complete: bool = True
    size: int = field(default=0, eq=False)


@frozen
class ControlNotice:
    """Line that is neither output nor part of an answer.

    C{name} is the first word without its C{%}. The rest of the line follows after one blank.
    """

    name: bytes
    rest: bytes


@frozen
class DroppedLine:
    """Event: a line longer than L{MAX_LINE} was dropped. It may have contained a pane's output."""


@frozen
class EndlessAnswer:
    """Event: an answer exceeded its limit by more than L{MAX_DROPPED} bytes. tmux never sends
    this.
    """


Event = PaneOutput | AnswerBlock | ControlNotice | DroppedLine | EndlessAnswer


class ControlParser:
    """Parser of one client's standard output.

    Splitting the input differently gives the same events, except for the boundaries of
    L{PaneOutput} events.
    """

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._held_size = 0
        self._block: _OpenBlock | None = None
        self._pane = b""
        self._outputs: list[bytes] = []

    def feed(self, data: bytes) -> list[Event]:
        """Process the next bytes and return the events that they complete."""
        lines = data.split(b"\n")
        rest = lines.pop()
        if not lines:
            self._hold_part(rest)
            return []
        events: list[Event] = []
        if self._held_size:
            self._hold_part(lines[0])
            lines[0] = b"".join(self._held)
            if self._held_size > self._max_line_length:
                self._handle_long_line(events)
                del lines[0]
            self._held, self._held_size = [], 0
        for line in lines:
            self._parse_line(line, events)
        self._flush_output(events)
        self._hold_part(rest)
        return events

    def finish(self) -> list[Event]:
        """Handle the end of the stream. Return the output in an unfinished line as events."""
        line = b"".join(self._held)
        self._held, self._held_size = [], 0
        events: list[Event] = []
        if self._block is None and line.startswith(_OUTPUT):
            # An escape without its digits is dropped.
            self._parse_output(re.sub(rb"\\[0-7]{0,2}\Z", b"", line))
            self._flush_output(events)
        return events

    def drop_open_answer(self) -> None:
        """Discard an unfinished answer, because no caller waits for it."""
        if self._block is not None:
            self._block.drop_content()

    @property
    def _max_line_length(self) -> int:
        """Maximum bytes of a line in the current state."""
        return MAX_LINE if self._block is None else max(MAX_LINE, MAX_BLOCK)

    def _hold_part(self, part: bytes) -> None:
        if not part:
            return
        self._held_size += len(part)
        if self._held_size > self._max_line_length:
            self._held = []
        else:
            self._held.append(part)

    def _parse_line(self, line: bytes, events: list[Event]) -> None:
        if len(line) > self._max_line_length:
            self._handle_long_line(events)
        elif self._block is not None:
            ended = self._block.add_line(line)
            if isinstance(ended, AnswerBlock):
                self._block = None
            if ended is not None:
                events.append(ended)
        elif line.startswith(_OUTPUT):
            pane = self._parse_output(line)
            if pane != self._pane:
                last = self._outputs.pop()
                self._flush_output(events)
                self._pane, self._outputs = pane, [last]
        else:
            self._flush_output(events)
            self._parse_other_line(line, events)

    def _parse_output(self, line: bytes) -> bytes:
        pane, _, data = line[len(_OUTPUT) :].partition(b" ")
        self._outputs.append(decode_output(data))
        return pane

    def _parse_other_line(self, line: bytes, events: list[Event]) -> None:
        begin = _BEGIN.fullmatch(line)
        if begin is not None:
            self._block = _OpenBlock(line, *(int(group) for group in begin.groups()))
            return
        name, _, rest = line.partition(b" ")
        events.append(ControlNotice(name.removeprefix(b"%"), rest))

    def _handle_long_line(self, events: list[Event]) -> None:
        if self._block is not None:
            self._block.drop_content()
            return
        self._flush_output(events)
        events.append(DroppedLine())

    def _flush_output(self, events: list[Event]) -> None:
        if self._outputs:
            events.append(PaneOutput(self._pane, b"".join(self._outputs)))
            self._outputs = []


class _OpenBlock:
    """Answer whose end was not received yet."""

    def __init__(self, begin: bytes, time: int, number: int, flags: int) -> None:
        guard = begin.removeprefix(b"%begin")
        self._end = b"%end" + guard
        self._error = b"%error" + guard
        self._head = (time, number)
        self._ours = bool(flags & 1)
        self._lines: list[bytes] = []
        self._size = 0
        self._whole = True

    def add_line(self, line: bytes) -> AnswerBlock | EndlessAnswer | None:
        """Add a line. Return the answer if this line ends it, otherwise C{None}.

        If the answer is far beyond its limit, return L{EndlessAnswer}.
        """
        if line.startswith(b"%e") and line in (self._end, self._error):
            ok = line == self._end
            lines = tuple(self._lines)
            size = self._size if self._whole else 0
            return AnswerBlock(*self._head, ok, self._ours, lines, self._whole, size)
        self._size += len(line) + LINE_COST
        if not self._whole:
            return EndlessAnswer() if self._size > MAX_DROPPED else None
        self._lines.append(line)
        if self._size > MAX_BLOCK:
            self.drop_content()
        return None

    def drop_content(self) -> None:
        """Discard the content, because it exceeds a limit or is not needed."""
        self._whole, self._size = False, 0
        self._lines.clear()


def decode_output(data: bytes) -> bytes:
    r"""Decode the escapes C{\ooo}, which tmux writes for every backslash and every byte below
    0x20.
    """
    if b"\\" not in data:
        return data
    if _NO_ESCAPE.search(data):
        # Not written by tmux: text that is no octal escape stays unchanged.
        return _OCTAL.sub(lambda found: bytes([int(found[1], 8)]), data)
    return escape_decode(data)[0]
