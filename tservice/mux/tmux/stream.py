"""What a pane prints: its bytes for the log, and what can be told from them."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from tservice.mux.outputlog import OutputLog
from tservice.mux.questions import ModeQuestion, QuestionWatch
from tservice.mux.tmux.words import KeeperWords, ModeWatch, TitleWatch, Word


class PaneStream:
    """Divides a pane's output.

    @ivar modes: those that tmux does not tell.
    """

    def __init__(
        self,
        log: OutputLog,
        *,
        heard: Callable[[Word], None],
        modes_changed: Callable[[], None],
        title_changed: Callable[[], None],
        asked: Callable[[ModeQuestion], None],
    ) -> None:
        """
        @param asked: the program asked for a mode; its question ends there in the log.
        @param heard: the keeper said something.
        @param title_changed: the program may have set its title.
        """
        self.modes = ModeWatch()
        self._log = log
        self._heard = heard
        self._modes_changed = modes_changed
        self._title_changed = title_changed
        self._asked = asked
        self._questions = QuestionWatch()
        self._words = KeeperWords(b"")
        self._titles = TitleWatch()

    def know(self, token: bytes, modes: bytes = b"") -> None:
        """Listen to the keeper with that token from now on.

        @param modes: L{ModeWatch.value} as an earlier service kept it.
        """
        self._words = KeeperWords(token)
        self.modes = ModeWatch(modes)

    def feed(self, data: bytes) -> None:
        """Take a piece of output."""
        for part in self._words.feed(data):
            if isinstance(part, Word):
                self._heard(part)
                continue
            self._log.append(part)
            for question in self._questions.feed(part):
                start = self._log.end - len(part)
                self._asked(evolve(question, at=start + question.at))
            if self.modes.feed(part):
                self._modes_changed()
            if self._titles.feed(part):
                self._title_changed()
