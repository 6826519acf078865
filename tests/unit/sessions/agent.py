"""An agent's TUI as far as input goes: a composer between two rules, drawn at the bottom."""

from __future__ import annotations

from tservice.mux.fake import Tty

_PASTE, _PASTED = b"\x1b[200~", b"\x1b[201~"
_RULE = "─" * 60


class ComposerAgent:
    """Takes pastes and keys into a composer; CR submits what stands there.

    @ivar prompts: what was submitted, in order.
    @ivar deaf: how many coming CRs get lost, as they do too soon after a paste.
    @ivar drawn: false: the composer is not to be seen (a dialog has its place).
    """

    def __init__(self, deaf: int = 0) -> None:
        self.prompts: list[str] = []
        self.deaf = deaf
        self.drawn = True
        self._text = ""
        self._pasting = False

    def started(self, tty: Tty) -> None:
        self._tty = tty
        tty.emit(b"\x1b[?2004h")
        self.draw()

    def received(self, data: bytes) -> None:
        for part in _split(data):
            if part in (_PASTE, _PASTED):
                self._pasting = part == _PASTE
            elif part == b"\r" and not self._pasting:
                self._enter()
            else:
                self._text += part.decode()
        self.draw()

    def show(self, drawn: bool) -> None:
        """Let a dialog take the composer's place, or go again."""
        self.drawn = drawn
        self.draw()

    def clear(self) -> None:
        """Lose what stands in the composer."""
        self._text = ""

    def resized(self, cols: int, rows: int) -> None:
        """The next drawing fits."""

    def draw(self) -> None:
        """Paint the screen."""
        rows = [f"❯ {prompt}" for prompt in self.prompts[-5:]]
        if self.drawn:
            lines = self._text.split("\n")
            rows += [_RULE, "❯\xa0" + lines[0], *("  " + line for line in lines[1:]), _RULE]
            rows.append("  ? for shortcuts")
        else:
            rows += [" Do you want to proceed?", " ❯ 1. Yes", "   2. No"]
        self._tty.emit(b"\x1b[H\x1b[2J" + "\r\n".join(rows).encode())

    def _enter(self) -> None:
        if self.deaf:
            self.deaf -= 1
        elif self._text:
            self.prompts.append(self._text)
            self._text = ""


def _split(data: bytes) -> list[bytes]:
    """Paste brackets, CRs, and what is between them."""
    parts: list[bytes] = []
    rest = data
    while rest:
        stops = [(rest.find(stop), stop) for stop in (_PASTE, _PASTED, b"\r") if stop in rest]
        if not stops:
            parts.append(rest)
            break
        at, stop = min(stops)
        parts += [rest[:at]] if at else []
        parts.append(stop)
        rest = rest[at + len(stop) :]
    return parts
