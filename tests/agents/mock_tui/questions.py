"""Claude Code's AskUserQuestion dialog: one question, several, and the review page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import define, field

from tests.agents.mock_tui.keys import Key, KeyPress, PastedText, TypedText

DECLINED = "declined"
CHAT = "chat"


@define
class QuestionPage:
    """One question with the state of its answer."""

    header: str
    text: str
    multiple: bool
    options: Sequence[tuple[str, str]]
    selected: int = 0
    ticked: set[int] = field(factory=set)
    chosen: str | None = None
    typed: str = ""

    @classmethod
    def of(cls, question: dict[str, Any]) -> QuestionPage:
        """From the tool's input."""
        options = [(each["label"], each["description"]) for each in question["options"]]
        return cls(question["header"], question["question"], question["multiSelect"], options)

    @property
    def free(self) -> int:
        """The row of free text."""
        return len(self.options)

    @property
    def last(self) -> int:
        """The last row: "Chat about this", behind Submit or Next where ticks are."""
        return len(self.options) + (2 if self.multiple else 1)

    def answer(self) -> str | None:
        """The answer as the tool reports it."""
        if not self.multiple:
            return self.chosen
        labels = [self.options[number][0] for number in sorted(self.ticked)]
        return ", ".join(labels) if labels else None


@define
class QuestionsDialog:
    """The dialog; its answer is a mapping, L{DECLINED} or L{CHAT}."""

    pages: Sequence[QuestionPage]
    at: int = 0
    review: int = 0

    @property
    def tabbed(self) -> bool:
        """Whether there is a row of tabs with a review page at its end."""
        return len(self.pages) > 1 or self.pages[0].multiple

    def press(self, keys: list[Key]) -> object | None:
        """Act on the keys of one read; Enter takes what was marked before it."""
        before = self._mark()
        for key in keys:
            if isinstance(key, KeyPress) and key.name == "escape":
                return DECLINED
            if isinstance(key, KeyPress) and key.name == "enter":
                return self._enter(before)
            answer = self._one(key)
            if answer is not None:
                return answer
        return None

    def _mark(self) -> int:
        return self.review if self.at == len(self.pages) else self.pages[self.at].selected

    def _one(self, key: Key) -> object | None:
        if isinstance(key, TypedText):
            return self._characters(key.text)
        if isinstance(key, PastedText):
            self._paste(key.text)
        if isinstance(key, KeyPress):
            self._named(key.name)
        return None

    def _named(self, name: str) -> None:
        if name in ("right", "tab") and self.tabbed:
            self.at = min(self.at + 1, len(self.pages))
        elif name in ("left", "backtab"):
            self.at = max(self.at - 1, 0)
        elif name in ("up", "down"):
            self._move(1 if name == "down" else -1)
        elif name == "backspace" and self.at < len(self.pages):
            page = self.pages[self.at]
            page.typed = page.typed[:-1]

    def _move(self, step: int) -> None:
        if self.at == len(self.pages):
            self.review = (self.review + step) % 2
            return
        page = self.pages[self.at]
        page.selected = (page.selected + step) % (page.last + 1)

    def _characters(self, text: str) -> object | None:
        if self.at == len(self.pages):
            return self._finish(int(text[0]) - 1) if text[0] in "12" else None
        page = self.pages[self.at]
        if page.selected == page.free:
            page.typed += text
            return None
        if text[0] == " " and page.multiple:
            return self._choose(page, page.selected)
        if not text[0].isdigit() or not 1 <= int(text[0]) <= self._digits(page):
            return None
        return self._choose(page, self._row(page, int(text[0])))

    def _paste(self, text: str) -> None:
        """Into the field; nothing else takes a paste."""
        if self.at < len(self.pages) and self.pages[self.at].selected == self.pages[self.at].free:
            self.pages[self.at].typed += text

    def _digits(self, page: QuestionPage) -> int:
        return len(page.options) + 2

    def _row(self, page: QuestionPage, digit: int) -> int:
        """The row of a digit: Submit and Next have none."""
        return page.last if digit == self._digits(page) else digit - 1

    def _enter(self, row: int) -> object | None:
        if self.at == len(self.pages):
            return self._finish(row)
        page = self.pages[self.at]
        if row == page.free and page.typed:
            page.chosen = page.typed
            return self._advance()
        if page.multiple and row == page.last - 1:
            return self._advance()
        return self._choose(page, row)

    def _choose(self, page: QuestionPage, row: int) -> object | None:
        if row == page.last:
            return CHAT
        if row == page.free:
            page.selected = row
            return None
        if page.multiple:
            page.ticked ^= {row}
            return None
        page.selected, page.chosen = row, page.options[row][0]
        return self._advance()

    def _advance(self) -> object | None:
        self.at += 1
        return None if self.tabbed else self._answers()

    def _finish(self, row: int) -> object:
        return self._answers() if row == 0 else DECLINED

    def _answers(self) -> dict[str, str]:
        return {page.text: page.answer() or "" for page in self.pages}

    def rows(self, columns: int) -> list[str]:
        """The page that is open."""
        rule = "─" * columns
        if self.at == len(self.pages):
            return ["", rule, self._tabs(), "", *self._review()]
        page = self.pages[self.at]
        head = self._tabs() if self.tabbed else f" ☐ {page.header}"
        move = "Tab/Arrow keys" if len(self.pages) > 1 else "↑/↓"
        chat = f"{len(page.options) + 2}. Chat about this"
        return [
            rule,
            head,
            "",
            page.text,
            "",
            *self._options(page),
            rule,
            f"{self._point(page, page.last)} {chat}",
            "",
            f"Enter to select · {move} to navigate · Esc to cancel",
        ]

    def _tabs(self) -> str:
        boxes = [f"{'☒' if page.answer() else '☐'} {page.header}" for page in self.pages]
        return f"←  {'  '.join(boxes)}  ✔ Submit  →"

    def _point(self, page: QuestionPage, row: int) -> str:
        return "❯" if page.selected == row else " "

    def _options(self, page: QuestionPage) -> list[str]:
        rows = []
        for number, (label, about) in enumerate(page.options):
            box = f"[{'✔' if number in page.ticked else ' '}] " if page.multiple else ""
            rows.append(f"{self._point(page, number)} {number + 1}. {box}{label}")
            rows.append(f"{'  ' if page.multiple else '     '}{about}")
        empty = "[ ] Type something" if page.multiple else "Type something."
        shown = page.typed or empty
        rows.append(f"{self._point(page, page.free)} {page.free + 1}. {shown}")
        if page.multiple:
            name = "Submit" if page is self.pages[-1] else "Next"
            rows.append(f"{self._point(page, page.last - 1)}    {name}")
        return rows

    def _review(self) -> list[str]:
        rows = ["Review your answers", ""]
        for page in self.pages:
            rows += [f" ● {page.text}", f"   → {page.answer() or '(no answer)'}"]
        marks = ["❯" if self.review == row else " " for row in range(2)]
        labels = [f"{marks[0]} 1. Submit answers", f"{marks[1]} 2. Cancel"]
        return [*rows, "", "Ready to submit your answers?", "", *labels]
