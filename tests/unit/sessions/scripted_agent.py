"""An agent's TUI as far as input goes: a composer between two rules, drawn at the bottom."""

from __future__ import annotations

from tests.fakes.multiplexer.multiplexer import FakeTty

_PASTE, _PASTED = b"\x1b[200~", b"\x1b[201~"
_HOME, _END, _STASH, _WIPE, _CUT = b"\x1b[1~", b"\x1b[4~", b"\x13", b"\x15", b"\x0b"
_BACK = b"\x7f"
_TO_START, _TO_END = (_HOME, b"\x01"), (_END, b"\x05")
CARET_KEYS = (*_TO_START, *_TO_END)
"""What moves the caret."""
_KEYS = (*CARET_KEYS, _STASH, _WIPE, _CUT, _BACK)
_RULE = "─" * 60


class ComposerAgent:
    """Takes pastes and keys into a composer; CR submits what stands there.

    @ivar prompts: what was submitted, in order.
    @ivar deaf: how many coming CRs get lost, as they do too soon after a paste.
    @ivar ends_line: the next CR is a line end.
    @ivar kept: how many coming prompts stay in the composer though they were submitted.
    @ivar numb: its caret does not move.
    @ivar plain: of the keys that edit it knows none but the one that takes a letter back.
    @ivar keeps_rows: the key that wipes a row joins none, as in Gemini CLI.
    @ivar stands_still: it reads nothing; what was typed waits.
    @ivar pickers: texts for which a picker takes the composer's place instead of a turn.
    @ivar half_drawn: for a moment there is no composer on its screen, nor anything else.
    @ivar height: rows that its screen has at least; then its composer grows upwards.
    @ivar drawn: false: the composer is not to be seen (a dialog has its place).
    @ivar page: the rows of what has its place then.
    @ivar text: what stands in the composer.
    @ivar behind: what stands there behind the caret.
    """

    def __init__(self, deaf: int = 0) -> None:
        self.prompts: list[str] = []
        self.deaf = deaf
        self.ends_line = False
        self.kept = 0
        self.numb = False
        self.plain = False
        self.keeps_rows = False
        self.stands_still = False
        self.pickers: set[str] = set()
        self.drawn = True
        self.page = [" Do you want to proceed?", " ❯ 1. Yes", "   2. No"]
        self.half_drawn = False
        self.height = 0
        self.text = ""
        self.behind = ""
        self._stash = ""
        self._at_start = False
        self._pasting = False
        self._unread = b""

    def pane_started(self, tty: FakeTty) -> None:
        self._tty = tty
        tty.emit_output(b"\x1b[?2004h")
        self.draw()

    def go_on(self) -> None:
        """Read what was typed while it stood still."""
        self.stands_still = False
        data, self._unread = self._unread, b""
        self.input_received(data)

    def input_received(self, data: bytes) -> None:
        if self.stands_still:
            self._unread += data
            return
        for part in _split(data):
            if part in (_PASTE, _PASTED):
                self._pasting = part == _PASTE
            elif part == b"\r" and not self._pasting:
                self._enter()
            elif part in _KEYS and not self._pasting:
                self._key(part)
            else:
                self._insert(part.decode())
        self.draw()

    def _insert(self, text: str) -> None:
        if self._at_start:
            self.text, self.behind, self._at_start = "", self.text + self.behind, False
        self.text += text

    def _key(self, key: bytes) -> None:
        if self.plain and key != _BACK:
            return
        if key in CARET_KEYS:
            self._at_start = key in _TO_START and not self.numb
        elif key == _STASH:
            self.text, self._stash = self._stash, self.text
            self._at_start = False
        elif key == _CUT:
            self.behind = ""
        elif key == _BACK:
            self.text = self.text[:-1]
        elif not self._at_start:
            before, end, row = self.text.rpartition("\n")
            self.text = before + end if row or self.keeps_rows else before

    def show(self, drawn: bool) -> None:
        """Let a dialog take the composer's place, or go again."""
        self.drawn = drawn
        self.draw()

    def clear(self) -> None:
        """Lose what stands in the composer."""
        self.text = ""

    def pane_resized(self, cols: int, rows: int) -> None:
        """The next drawing fits."""

    def draw(self) -> None:
        """Paint the screen."""
        rows = [row for prompt in self.prompts[-5:] for row in f"❯ {prompt}".split("\n")]
        if self.half_drawn:
            caret = (1, 1)
        elif self.drawn:
            lines, drawn = (
                each.replace("\t", "    ").split("\n") for each in (self.text, self._composed())
            )
            rows = [""] * (self.height - len(rows) - len(lines)) + rows
            caret = (len(rows) + 1 + len(lines), 3 if self._at_start else 3 + len(lines[-1]))
            rows += [_RULE, "❯\xa0" + drawn[0], *("  " + line for line in drawn[1:]), _RULE]
            rows.append("  ? for shortcuts")
        else:
            rows += self.page
            caret = (1, 1)
        placed = b"\x1b[%d;%dH" % caret
        self._tty.emit_output(b"\x1b[H\x1b[2J" + "\r\n".join(rows).encode() + placed)

    def _composed(self) -> str:
        """What stands in the composer, its caret drawn on what is behind it."""
        before, behind = ("", self.text) if self._at_start else (self.text, "")
        behind += self.behind
        return f"{before}\x1b[7m{behind[:1]}\x1b[0m{behind[1:]}" if behind.strip() else before

    def _enter(self) -> None:
        if self.ends_line:
            self.ends_line = False
            self.text += "\n"
        elif self.deaf:
            self.deaf -= 1
        elif self.text in self.pickers:
            self.text, self.drawn = "", False
        elif self.text:
            self.prompts.append(self.text + self.behind)
            self.behind = ""
            if self.kept:
                self.kept -= 1
            else:
                self.text, self._stash = self._stash, ""


class HomeAgent(ComposerAgent):
    """Draws a bar beside its composer, and a hint in it until its first screen has gone."""

    home = True

    def leave_home(self) -> None:
        """Go to the conversation; what stands in the composer goes with the screen."""
        self.home, self.text = False, ""
        self.draw()

    def draw(self) -> None:
        """Paint the screen."""
        said = [] if self.home else [f"  ┃  {prompt}" for prompt in self.prompts[-5:]]
        hint = 'Ask anything… "Fix a TODO"' if self.home else ""
        lines = self.text.split("\n")
        rows = [
            *said,
            "",
            "  ┃",
            *(f"  ┃  {line}" for line in (lines if self.text else [hint])),
        ]
        caret = (len(rows), 6 + (0 if self._at_start else len(lines[-1])))
        rows += ["  ┃", "  ┃  Build · Stub Model", "  ╹" + "▀" * 40]
        self._tty.emit_output(
            b"\x1b[H\x1b[2J" + "\r\n".join(rows).encode() + b"\x1b[%d;%dH" % caret
        )


def _split(data: bytes) -> list[bytes]:
    """Paste brackets, CRs, and what is between them."""
    parts: list[bytes] = []
    rest = data
    while rest:
        stops = [(rest.find(stop), stop) for stop in (_PASTE, _PASTED, b"\r", *_KEYS)]
        stops = [stop for stop in stops if stop[0] >= 0]
        if not stops:
            parts.append(rest)
            break
        at, stop = min(stops)
        parts += [rest[:at]] if at else []
        parts.append(stop)
        rest = rest[at + len(stop) :]
    return parts
