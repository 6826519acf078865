"""Parser of tmux's control mode: takes bytes and returns events. Pure: no process, no clock.

Lines end in LF alone. Bytes of the pane come as C{%output}. The answer to a command comes between
C{%begin} and C{%end} or C{%error} with the same time and number. Every other line is a notice.

No input can raise. The parser keeps at most L{MAX_LINE} of an unfinished line outside of an answer.
It keeps at most L{MAX_BLOCK} each of an unfinished answer and of its last line.
"""

from __future__ import annotations

import re
from codecs import escape_decode

from attrs import field, frozen

MAX_LINE = 1024 * 1024
"""Maximum bytes of one line outside of an answer; tmux stays below 40 KB for output."""

MAX_BLOCK = 64 * 1024 * 1024
"""Maximum bytes of one answer; 100,000 rows of a pane are about 10 MB. It may be a single line that
is wrapped over all of these rows.
"""

MAX_DROPPED = MAX_BLOCK
"""Maximum bytes of an answer that are read beyond its limit and discarded."""

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

    @ivar ok: true for C{%end}, false for C{%error}.
    @ivar ours: it answers a line that this client sent, not the attach or a hook.
    @ivar whole: false if it exceeded a limit; then there are no lines.
    @ivar size: the size of the lines, counting L{LINE_COST}.
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
    """Any other line: C{name} without its C{%}, and the rest after one blank."""

    name: bytes
    rest: bytes


@frozen
class LineOverrun:
    """Event: a line beyond L{MAX_LINE} was dropped; it may have contained a pane's bytes."""


@frozen
class EndlessAnswer:
    """Event: an answer continued for L{MAX_DROPPED} beyond its limit; no tmux sends this."""


Event = PaneOutput | AnswerBlock | ControlNotice | LineOverrun | EndlessAnswer


class ControlParser:
    """Parser of one client's standard output.

    The events do not depend on how the bytes are split, except for the boundaries of
    L{PaneOutput}s.
    """

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._held_size = 0
        self._block: _OpenBlock | None = None
        self._pane = b""
        self._outputs: list[bytes] = []

    def feed(self, data: bytes) -> list[Event]:
        """Consume bytes and return the completed events."""
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
        """Handle the end of the stream: return the content of an unfinished output line."""
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
        events.append(LineOverrun())

    def _flush_output(self, events: list[Event]) -> None:
        if self._outputs:
            events.append(PaneOutput(self._pane, b"".join(self._outputs)))
            self._outputs = []


class _OpenBlock:
    """Answer whose end has not come yet."""

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
        """Add a line; return the answer if this line ends it."""
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
    r"""Decode tmux's C{\ooo}, which it writes for every backslash and every byte below 0x20."""
    if b"\\" not in data:
        return data
    if _NO_ESCAPE.search(data):
        # Not written by tmux: text that is no octal escape stays unchanged.
        return _OCTAL.sub(lambda found: bytes([int(found[1], 8)]), data)
    return escape_decode(data)[0]
