"""Writes a pane's output to its log, and reports the events found in it."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from tservice.mux.mode_queries import ModeQuery, ModeQueryDetector
from tservice.mux.outputlog import OutputLog
from tservice.mux.tmux.stream_parsers import (
    KeeperMessage,
    KeeperMessageParser,
    ModeTracker,
    TitleDetector,
)


class PaneStream:
    """Parser that writes a pane's output to the log and reports the events in it.

    @ivar modes: tracker of the modes that tmux does not report.
    """

    def __init__(
        self,
        log: OutputLog,
        *,
        heard: Callable[[KeeperMessage], None],
        modes_changed: Callable[[], None],
        title_changed: Callable[[], None],
        asked: Callable[[ModeQuery], None],
    ) -> None:
        """@param asked: called when the program queried a mode. The query contains its end as an
            offset of
            the log.
        @param heard: called with each control message of the keeper.
        @param modes_changed: called when a mode changed that tmux does not report.
        @param title_changed: called when the program may have set its title.
        """
        self.modes = ModeTracker()
        self._log = log
        self._heard = heard
        self._modes_changed = modes_changed
        self._title_changed = title_changed
        self._asked = asked
        self._questions = ModeQueryDetector()
        self._words = KeeperMessageParser(b"")
        self._titles = TitleDetector()

    def set_token(self, token: bytes, modes: bytes = b"") -> None:
        """Parse control messages of the keeper that carry C{token} from now on.

        @param modes: L{ModeTracker.stored_value} as an earlier run of the service stored it.
        """
        self._words = KeeperMessageParser(token)
        self.modes = ModeTracker(modes)

    def feed(self, data: bytes) -> None:
        """Process the next piece of output."""
        for part in self._words.feed(data):
            if isinstance(part, KeeperMessage):
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
