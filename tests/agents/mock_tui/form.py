"""Claude Code's form for an MCP server's questions."""

from __future__ import annotations

from attrs import define

from tests.agents.mock_tui.keys import Key, KeyPress, PastedText, TypedText

_ROWS = 4
"""Name, agree, and the two buttons."""

_DECLINE = 3


@define
class MockForm:
    """One text field, one switch, two buttons; the answer is C{(action, content)}."""

    server: str
    message: str
    at: int = 0
    name: str = ""
    agree: bool | None = None

    def press(self, keys: list[Key]) -> tuple[str, dict[str, object]] | None:
        """Act on the keys of one read."""
        before = self.at
        for key in keys:
            if isinstance(key, KeyPress) and key.name == "escape":
                return "cancel", {}
            if isinstance(key, KeyPress) and key.name == "enter":
                return self._enter(before)
            self._edit(key)
        return None

    def _edit(self, key: Key) -> None:
        if isinstance(key, KeyPress):
            self.at = (self.at + {"down": 1, "tab": 1, "up": -1}.get(key.name, 0)) % _ROWS
            if key.name == "backspace" and self.at == 0:
                self.name = self.name[:-1]
        elif isinstance(key, TypedText | PastedText) and self.at == 0:
            self.name += key.text
        elif self.at == 1:
            self.agree = not self.agree

    def _enter(self, row: int) -> tuple[str, dict[str, object]] | None:
        if row == _DECLINE:
            return "decline", {}
        if row < _DECLINE - 1 or not self.name:
            # Enter in a field goes on to the next; a required one holds Accept back.
            self.at = row + 1 if row < _DECLINE - 1 else 0
            return None
        content: dict[str, object] = {"name": self.name}
        if self.agree is not None:
            content["agree"] = self.agree
        return "accept", content

    def rows(self, columns: int) -> list[str]:
        """The form."""
        marks = ["❯" if self.at == row else " " for row in range(_ROWS)]
        field = f"✔ Name: {self.name}" if self.name else "* Name: Type something…"
        switch = {None: "not set", True: "yes", False: "no"}[self.agree]
        return [
            "─" * columns,
            f"  MCP server “{self.server}” requests your input",
            "",
            f"  {self.message}",
            "",
            f"  {marks[0]} {field}",
            "        Who is asking",
            "",
            f"  {marks[1]}   Agree: {switch}",
            "",
            f"  {marks[2]} Accept  {marks[3]} Decline",
            "",
            "  Esc to cancel · ↑/↓ to navigate · Backspace to unset",
        ]
