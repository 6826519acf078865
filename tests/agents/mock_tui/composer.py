"""The line in which a person writes a prompt, as Claude Code keeps it."""

from __future__ import annotations

import re

from attrs import define, field

INLINE_LINES = 3
"""A paste of more lines is shown as a placeholder."""

INLINE_CHARS = 800
"""A paste of more characters is shown as a placeholder, and so is typed text
that arrives in one read."""

_PLACEHOLDER = re.compile(r"\[Pasted text #(\d+)(?: \+\d+ lines)?\]")


@define
class MockComposer:
    """Text with placeholders for long pastes.

    @ivar shown: what is on the screen.
    @ivar count: pastes that got a placeholder in this session.
    """

    shown: str = ""
    count: int = 0
    _pastes: dict[int, str] = field(factory=dict)

    def type(self, text: str) -> None:
        """Add typed characters."""
        if len(text) > INLINE_CHARS:
            self.paste(text)
        else:
            self.shown += text

    def paste(self, text: str) -> None:
        """Add a paste; an inline one loses one line end at its end."""
        lines = text.count("\n")
        if lines < INLINE_LINES and len(text) <= INLINE_CHARS:
            self.shown += text.removesuffix("\n")
            return
        self.count += 1
        self._pastes[self.count] = text
        more = f" +{lines} lines" if lines else ""
        self.shown += f"[Pasted text #{self.count}{more}]"

    def backspace(self) -> None:
        """Remove the last character, or the last placeholder whole."""
        found = list(_PLACEHOLDER.finditer(self.shown))
        if found and found[-1].end() == len(self.shown):
            self.shown = self.shown[: found[-1].start()]
        else:
            self.shown = self.shown[:-1]

    def clear(self) -> None:
        """Empty it; the paste counter goes on."""
        self.shown = ""
        self._pastes.clear()

    def take(self) -> str:
        """The prompt with its pastes in full; the composer is empty afterwards."""
        whole = _PLACEHOLDER.sub(lambda m: self._pastes.get(int(m[1]), m[0]), self.shown)
        self.clear()
        return whole
