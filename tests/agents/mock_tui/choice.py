"""Dialogs in which one of a few options is marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, field

from tests.agents.mock_tui.keys import Key, KeyPress, TypedText
from tests.agents.mock_tui.terminal import folded

ESCAPED = -1
"""The answer of a dialog that was left with Escape."""

_LIT, _DARK, _PLAIN = "\x1b[48;2;245;167;66m", "\x1b[38;2;10;10;10m", "\x1b[0m"

RULES = ("─", "╌", "▄", "▀")
"""Rows of one such sign are drawn over the whole width."""


@define
class ChoiceList:
    """A list of options.

    @ivar above: the rows over the options.
    @ivar marker: what stands before the marked option, without its blank.
    @ivar indent: blanks before the marker.
    @ivar numbered: digits stand before the labels, and a digit answers at once.
    @ivar letters: further keys that answer at once, with their option.
    @ivar wraps: the marker goes from the last option to the first.
    @ivar below: the rows under the options.
    """

    above: Sequence[str]
    options: Sequence[str]
    below: Sequence[str] = ()
    marker: str = "❯"
    indent: int = 1
    numbered: bool = True
    letters: Mapping[str, int] = field(factory=dict)
    wraps: bool = True
    selected: int = 0

    def press(self, keys: list[Key]) -> int | None:
        """The chosen option from 0, L{ESCAPED}, or L{None} while open."""
        before = self.selected
        for key in keys:
            if isinstance(key, TypedText):
                found = self._typed(key.text)
                if found is not None:
                    return found
            elif isinstance(key, KeyPress):
                if key.name == "enter":
                    # The screen has not been drawn since the read began.
                    return before
                if key.name == "escape":
                    return ESCAPED
                self._move(key.name)
        return None

    def _typed(self, text: str) -> int | None:
        for character in text:
            if self.numbered and character.isdigit() and 1 <= int(character) <= len(self.options):
                return int(character) - 1
            if character in self.letters:
                return self.letters[character]
            self._move({"j": "down", "k": "up"}.get(character, ""))
        return None

    def _move(self, name: str) -> None:
        step = {"down": 1, "up": -1}.get(name, 0)
        moved = self.selected + step
        if self.wraps:
            self.selected = moved % len(self.options)
        else:
            self.selected = min(max(moved, 0), len(self.options) - 1)

    def option_rows(self, columns: int) -> list[str]:
        """The options with their marker and numbers; a label that is too long goes on below."""
        blank = " " * len(self.marker)
        rows = []
        for number, label in enumerate(self.options):
            mark = self.marker if number == self.selected else blank
            digit = f"{number + 1}. " if self.numbered else ""
            lead = f"{' ' * self.indent}{mark} {digit}"
            if len(lead) + len(label) <= columns:
                rows.append(f"{lead}{label}")
            else:
                rows += folded(label, columns, lead, " " * len(lead))
        return rows

    def rows(self, columns: int) -> list[str]:
        """The whole dialog, with C{above} folded to the screen and rules drawn."""
        above = [row for text in self.above for row in _drawn(text, columns)]
        return [*above, *self.option_rows(columns), *self.below]


def _drawn(text: str, columns: int) -> list[str]:
    """A row, folded; a single sign of a rule stands for a whole one."""
    if text in RULES:
        return [text * columns]
    lead = " " * (len(text) - len(text.lstrip(" ")))
    return folded(text.lstrip(" "), columns - len(lead), lead, lead)


@define
class ChoiceRow(ChoiceList):
    """Options side by side, the marked one on a light ground (opencode)."""

    def press(self, keys: list[Key]) -> int | None:
        """As in a list, with Left and Right for Up and Down and no digits."""
        turned = {"right": "down", "left": "up", "down": "", "up": ""}
        mapped: list[Key] = []
        for key in keys:
            if isinstance(key, KeyPress):
                mapped.append(KeyPress(turned.get(key.name, key.name)))
        return ChoiceList.press(self, mapped)

    def option_rows(self, columns: int) -> list[str]:
        """One row; the highlight is colour only."""
        shown = [
            f"{_LIT} {_DARK}{label}{_PLAIN} " if number == self.selected else f" {label} "
            for number, label in enumerate(self.options)
        ]
        keys = "ctrl+f fullscreen  ⇆ select  enter confirm"
        return [f"  ┃  {' '.join(shown)}   {keys}"]
