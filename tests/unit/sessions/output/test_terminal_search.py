"""Looking for a text in a long history (protocol-search)."""

from __future__ import annotations

from typing import Any, NoReturn, cast

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tservice.core.kernel.errors import ServiceError
from tservice.mux.interface import IPane, MuxBusy, MuxError, MuxTimeout
from tservice.sessions.output.reading import AT_ONCE, search_terminal


@frozen
class HistoryPane:
    """A pane that shows C{lines}, and the capture of it."""

    lines: tuple[bytes, ...]
    history: int = 0
    history_rows: int = 0
    history_size: int = 0
    wrapped: frozenset[int] = frozenset()
    alternate_screen: bool = False

    async def capture_content(self, history: int | None) -> HistoryPane:
        return self


@frozen
class FailingPane:
    """A pane that nothing can be read of."""

    error: MuxError

    async def capture_content(self, history: int | None) -> NoReturn:
        raise self.error


class TerminalSearchServiceTests(SynchronousTestCase):
    def search(self, *lines: bytes, limit: int = 10, nocase: bool = False) -> Deferred[Any]:
        self.clock = Clock()
        pane = cast(IPane, HistoryPane(lines))
        work = search_terminal(self.clock, pane, "here", limit, nocase=nocase)
        return Deferred.fromCoroutine(work)

    def test_search_yields_between_pieces(self) -> None:
        empty = [b"x"] * AT_ONCE
        searching = self.search(b"here", *empty, *empty, b"so here")
        self.assertNoResult(searching)
        self.clock.pump([0, 0])
        found = self.successResultOf(searching)
        places = [(each["line"], each["offset"]) for each in found["matches"]]
        self.assertEqual(([(0, 0), (2 * AT_ONCE + 1, 3)], False), (places, found["truncated"]))

    def test_wrapped_line_is_searched_as_one(self) -> None:
        lines = (b"first", b"is it he", b"re or is it not", b"and here")
        history = HistoryPane(lines, wrapped=frozenset({1}))
        work = search_terminal(Clock(), cast(IPane, history), "here", 10, nocase=False)
        found = self.successResultOf(Deferred.fromCoroutine(work))["matches"]
        whole = "is it here or is it not"
        self.assertEqual([(1, 6, whole), (2, 4, "and here")], [
            (each["line"], each["offset"], each["text"]) for each in found
        ])  # fmt: skip

    def test_result_limit_covers_all_pieces(self) -> None:
        for last, truncated in ((b"here", True), (b"x", False)):
            searching = self.search(b"here", *[b"x"] * AT_ONCE, last, limit=1)
            self.clock.pump([0])
            found = self.successResultOf(searching)
            self.assertEqual((1, truncated), (len(found["matches"]), found["truncated"]))

    def test_incomplete_capture_is_reported_as_truncated(self) -> None:
        pane = cast(IPane, HistoryPane((b"here",), history=1, history_size=2))
        work = search_terminal(Clock(), pane, "here", 10, nocase=False)
        found = self.successResultOf(Deferred.fromCoroutine(work))
        self.assertEqual((1, True), (len(found["matches"]), found["truncated"]))

    def test_busy_pane_gives_its_error(self) -> None:
        for error, status in ((MuxBusy("256 wait"), 429), (MuxTimeout("none"), 422)):
            pane = cast(IPane, FailingPane(error))
            work = search_terminal(Clock(), pane, "here", 10, nocase=False)
            failure = self.failureResultOf(Deferred.fromCoroutine(work), ServiceError)
            self.assertEqual(status, failure.value.status)

    def test_search_ignores_case_on_request(self) -> None:
        found = self.successResultOf(self.search(b"HERE", b"there", b"x", nocase=True))
        self.assertEqual([0, 1], [each["line"] for each in found["matches"]])
