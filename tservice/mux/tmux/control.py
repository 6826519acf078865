"""tmux's control mode, read: bytes in, events out.  Pure; knows no process and no clock.

Lines end in LF alone.  Bytes of the pane come as C{%output}, the answer to a command between
C{%begin} and C{%end} or C{%error} that carry the same time and number, all else is a notice.
Nothing that arrives can raise, and nothing makes it keep more than L{MAX_LINE} of an unfinished
line outside of an answer, and L{MAX_BLOCK} each of an unfinished answer and of its last line.
"""

from __future__ import annotations

import re
from codecs import escape_decode

from attrs import field, frozen

MAX_LINE = 1024 * 1024
"""Bytes of one line outside of an answer; tmux stays below 40 KB for output."""

MAX_BLOCK = 64 * 1024 * 1024
"""Bytes of one answer; 100,000 rows of a pane are about 10 MB.  It may be a single line: one that
is wrapped over all of these rows."""

MAX_DROPPED = MAX_BLOCK
"""Bytes of an answer that are read beyond its bound and thrown away."""

LINE_COST = 64
"""Bytes that a line takes beyond its own: an answer of empty lines has a bound too."""

_OUTPUT = b"%output "
_BEGIN = re.compile(rb"%begin ([0-9]{1,20}) ([0-9]{1,20}) ([0-9]{1,20})")
_NO_ESCAPE = re.compile(rb"\\(?![0-3][0-7]{2})")
_OCTAL = re.compile(rb"\\([0-3][0-7]{2})")


@frozen
class PaneOutput:
    """Bytes that a pane printed; what one C{feed} brings for a pane in a row is one event."""

    pane: bytes
    data: bytes


@frozen
class Block:
    """The answer to one command.

    @ivar ok: C{%end}; false for C{%error}.
    @ivar ours: it answers a line that this client sent, not the attach or a hook.
    @ivar whole: false when it went beyond a bound: then there are no lines.
    @ivar size: what the lines take, by L{LINE_COST}.
    """

    time: int
    number: int
    ok: bool
    ours: bool
    lines: tuple[bytes, ...]
    whole: bool = True
    size: int = field(default=0, eq=False)


@frozen
class Notice:
    """Any other line: C{name} without its C{%}, and the rest after one blank."""

    name: bytes
    rest: bytes


@frozen
class Overrun:
    """A line beyond L{MAX_LINE} was dropped; it may have held a pane's bytes."""


@frozen
class Endless:
    """An answer went on for L{MAX_DROPPED} beyond its bound: no tmux gives such a one."""


Event = PaneOutput | Block | Notice | Overrun | Endless


class ControlParser:
    """Reads one client's standard output.

    The events do not depend on how the bytes are cut, but for where a run of one pane's output
    is divided into L{PaneOutput}s.
    """

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._held_size = 0
        self._block: _OpenBlock | None = None
        self._pane = b""
        self._outputs: list[bytes] = []

    def feed(self, data: bytes) -> list[Event]:
        """Take what was read."""
        lines = data.split(b"\n")
        rest = lines.pop()
        if not lines:
            self._hold(rest)
            return []
        events: list[Event] = []
        if self._held_size:
            self._hold(lines[0])
            lines[0] = b"".join(self._held)
            if self._held_size > self._longest:
                self._too_long(events)
                del lines[0]
            self._held, self._held_size = [], 0
        for line in lines:
            self._line(line, events)
        self._flush(events)
        self._hold(rest)
        return events

    def finish(self) -> list[Event]:
        """The stream has ended: what an output line that was cut short still tells."""
        line = b"".join(self._held)
        self._held, self._held_size = [], 0
        events: list[Event] = []
        if self._block is None and line.startswith(_OUTPUT):
            # An escape that lost its digits says nothing.
            self._output(re.sub(rb"\\[0-7]{0,2}\Z", b"", line))
            self._flush(events)
        return events

    def drop_open(self) -> None:
        """Keep nothing of an answer whose end has not come: nobody waits for it any more."""
        if self._block is not None:
            self._block.drop()

    @property
    def _longest(self) -> int:
        """Bytes that a line may have here."""
        return MAX_LINE if self._block is None else max(MAX_LINE, MAX_BLOCK)

    def _hold(self, part: bytes) -> None:
        if not part:
            return
        self._held_size += len(part)
        if self._held_size > self._longest:
            self._held = []
        else:
            self._held.append(part)

    def _line(self, line: bytes, events: list[Event]) -> None:
        if len(line) > self._longest:
            self._too_long(events)
        elif self._block is not None:
            ended = self._block.take(line)
            if isinstance(ended, Block):
                self._block = None
            if ended is not None:
                events.append(ended)
        elif line.startswith(_OUTPUT):
            pane = self._output(line)
            if pane != self._pane:
                last = self._outputs.pop()
                self._flush(events)
                self._pane, self._outputs = pane, [last]
        else:
            self._flush(events)
            self._other(line, events)

    def _output(self, line: bytes) -> bytes:
        pane, _, data = line[len(_OUTPUT) :].partition(b" ")
        self._outputs.append(decode(data))
        return pane

    def _other(self, line: bytes, events: list[Event]) -> None:
        begin = _BEGIN.fullmatch(line)
        if begin is not None:
            self._block = _OpenBlock(line, *(int(group) for group in begin.groups()))
            return
        name, _, rest = line.partition(b" ")
        events.append(Notice(name.removeprefix(b"%"), rest))

    def _too_long(self, events: list[Event]) -> None:
        if self._block is not None:
            self._block.drop()
            return
        self._flush(events)
        events.append(Overrun())

    def _flush(self, events: list[Event]) -> None:
        if self._outputs:
            events.append(PaneOutput(self._pane, b"".join(self._outputs)))
            self._outputs = []


class _OpenBlock:
    """An answer whose end has not come yet."""

    def __init__(self, begin: bytes, time: int, number: int, flags: int) -> None:
        guard = begin.removeprefix(b"%begin")
        self._end = b"%end" + guard
        self._error = b"%error" + guard
        self._head = (time, number)
        self._ours = bool(flags & 1)
        self._lines: list[bytes] = []
        self._size = 0
        self._whole = True

    def take(self, line: bytes) -> Block | Endless | None:
        """Add a line; the answer once this was its last."""
        if line.startswith(b"%e") and line in (self._end, self._error):
            ok = line == self._end
            lines = tuple(self._lines)
            size = self._size if self._whole else 0
            return Block(*self._head, ok, self._ours, lines, self._whole, size)
        self._size += len(line) + LINE_COST
        if not self._whole:
            return Endless() if self._size > MAX_DROPPED else None
        self._lines.append(line)
        if self._size > MAX_BLOCK:
            self.drop()
        return None

    def drop(self) -> None:
        """It is beyond a bound: what is there is of no use."""
        self._whole, self._size = False, 0
        self._lines.clear()


def decode(data: bytes) -> bytes:
    r"""Undo tmux's C{\ooo}: it writes every backslash and every byte below 0x20 so."""
    if b"\\" not in data:
        return data
    if _NO_ESCAPE.search(data):
        # Not from tmux: whatever is no octal escape stays as it is.
        return _OCTAL.sub(lambda found: bytes([int(found[1], 8)]), data)
    return escape_decode(data)[0]
