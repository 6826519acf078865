"""A client that raises dialogs and takes their keys as Claude Code does (lab: 2.3)."""

from __future__ import annotations

from attrs import define, field

from tests.unit.agents.harness import COMPOSER, RULE, SPINNER, ScriptedScreen

FREE = "Type something."
BUSY = SPINNER
CHAT = "Chat about this"
KEYS = {b"\r": "Enter", b"\x1b": "Escape", b"\x1b[A": "Up", b"\x1b[B": "Down", b"\x1b[C": "Right"}


@define
class DialogPage:
    """One dialog, or one page of a question.

    @ivar tab: the question's tab; C{None}: a permission dialog.
    @ivar name: names it in the log of keys.
    """

    name: str
    labels: list[str]
    question: str = "Do you want to proceed?"
    tab: str | None = None
    multi: bool = False
    selected: int = 1
    ticked: set[int] = field(factory=set)
    typed: str = ""
    answer: str | None = None

    @property
    def free(self) -> int:
        """The number of the option with a field; 0 without one."""
        return 0 if self.tab is None else len(self.labels) + 1

    @property
    def last(self) -> int:
        return len(self.labels) if self.tab is None else len(self.labels) + 2


def permission_page(command: str = "touch made.txt", labels: list[str] | None = None) -> DialogPage:
    """A permission dialog about C{command}."""
    return DialogPage(command, labels or ["Yes", "Yes, and don’t ask again for: touch *", "No"])


def question_page(tab: str, *labels: str, multi: bool = False) -> DialogPage:
    """A question with options."""
    return DialogPage(f"ask {tab}", list(labels), f"Which {tab.lower()} shall it be?", tab, multi)


class DialogClient(ScriptedScreen):
    """Dialogs one after another.

    @ivar log: each key with the name of the dialog that it reached; C{None}: the composer.
    @ivar answers_given: the name of each dialog that was left, and how.
    @ivar deaf: ignores keys.
    """

    def __init__(self) -> None:
        super().__init__()
        self.queue: list[list[DialogPage]] = []
        self.at = 0
        self.review = False
        self.log: list[tuple[str | None, str]] = []
        self.left: list[tuple[str, str]] = []
        self.deaf = False
        self.after = COMPOSER
        self.confirms = False

    # -- what a test does

    def ask(self, *pages: DialogPage) -> None:
        """Raise a dialog, behind those that wait already."""
        self.queue.append(list(pages))
        if len(self.queue) == 1:
            self.begin()

    def begin(self) -> None:
        self.at, self.review = 0, False
        self.draw()

    def leave(self, how: str) -> None:
        """The dialog ends: by a key, or by something that nobody pressed."""
        self.left.append((self.name or "", how))
        self.queue.pop(0)
        if self.queue:
            self.begin()
        else:
            self.draw()

    @property
    def page(self) -> DialogPage | None:
        return self.queue[0][self.at] if self.queue and not self.review else None

    @property
    def name(self) -> str | None:
        if not self.queue:
            return None
        return "review" if self.review else self.queue[0][self.at].name

    # -- keys

    def input_received(self, data: bytes) -> None:
        key = KEYS.get(data, data.decode("utf-8", "replace"))
        self.pressed.append(data)
        self.log.append((self.name, key))
        if data in self.answers:
            self.show(self.answers[data])
        elif not self.deaf and self.queue:
            self.take(key)
        elif not self.queue:
            self.echo(data)

    def take(self, key: str) -> None:
        if key == "Escape":
            return self.leave("escape")
        if self.review:
            return self.leave("submitted" if key in ("1", "Enter") else "cancelled")
        page = self.queue[0][self.at]
        if page.tab is not None and page.selected == page.free and not key.isdigit():
            self.type_free(page, key)
        elif key.isdigit() and 1 <= int(key) <= page.last:
            self.digit(page, int(key))
        elif key in ("Up", "Down"):
            step = 1 if key == "Down" else -1
            page.selected = (page.selected - 1 + step) % page.last + 1
            self.draw()
        elif key == "Enter":
            self.digit(page, page.selected, enter=True)
        elif key == "Right" and page.tab is not None:
            self.forward(page, ",".join(map(str, sorted(page.ticked))))
        return None

    def type_free(self, page: DialogPage, key: str) -> None:
        if key == "Enter":
            self.forward(page, page.typed)
        else:
            page.typed += key.replace("\x1b[200~", "").replace("\x1b[201~", "")
            self.draw()

    def digit(self, page: DialogPage, number: int, enter: bool = False) -> None:
        if page.multi and number <= len(page.labels):
            page.ticked ^= {number}
            self.draw()
        elif number == page.free or (self.confirms and not enter):
            page.selected = number
            self.draw()
        elif page.tab is None:
            self.leave(str(number))
        else:
            self.forward(page, str(number))

    def forward(self, page: DialogPage, answer: str) -> None:
        page.answer = answer
        pages = self.queue[0]
        if len(pages) == 1 and not page.multi:
            self.leave(answer)
        elif self.at + 1 < len(pages):
            self.at += 1
            self.draw()
        else:
            self.review = True
            self.draw()

    # -- the screen

    def draw(self) -> None:
        if not self.queue:
            self.show(self.after)
        elif self.review:
            self.show(
                f"{RULE}\n{self.tabs()}\n\nReview your answers\n\n{self.answered()}\n"
                "Ready to submit your answers?\n\n❯ 1. Submit answers\n  2. Cancel"
            )
        else:
            page = self.queue[0][self.at]
            self.show(self.permission(page) if page.tab is None else self.asking(page))

    def tabs(self) -> str:
        pages = self.queue[0]
        if len(pages) == 1 and not pages[0].multi:
            return f" ☐ {pages[0].tab}"
        boxes = (f"{'☒' if p.answer or p.ticked else '☐'} {p.tab}" for p in pages)
        return f"←  {'  '.join(boxes)}  ✔ Submit  →"

    def answered(self) -> str:
        return "".join(f" ● {p.question}\n   → {p.answer}\n\n" for p in self.queue[0] if p.answer)

    def permission(self, page: DialogPage) -> str:
        rows = "\n".join(self.rows(page, " "))
        enter = "Enter to confirm · " if self.confirms else ""
        return (
            f"{RULE}\n Bash command\n\n   {page.name}\n\n {page.question}\n{rows}\n\n"
            f" {enter}Esc to cancel · Tab to amend · ctrl+e to explain"
        )

    def asking(self, page: DialogPage) -> str:
        *rows, chat = self.rows(page, "")
        listed = "\n".join(rows)
        return (
            f"{RULE}\n{self.tabs()}\n\n{page.question}\n\n{listed}\n{RULE}\n{chat}\n\n"
            "Enter to select · ↑/↓ to navigate · Esc to cancel"
        )

    def rows(self, page: DialogPage, indent: str) -> list[str]:
        labels = list(page.labels)
        if page.tab is not None:
            labels += [page.typed or FREE, CHAT]
        found = []
        for n, label in enumerate(labels, 1):
            box = ""
            if page.multi and n < len(labels):
                box = "[✔] " if n in page.ticked else "[ ] "
            found.append(f"{indent}{'❯' if n == page.selected else ' '} {n}. {box}{label}")
        return found


__all__ = ["BUSY", "COMPOSER", "DialogClient", "DialogPage", "permission_page", "question_page"]
