"""Waits for a literal text in a session's output (protocol-wait-output)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import cancel_call
from tservice.mux.interface import IPane, IPaneListener, MuxError, PaneExit
from tservice.sessions.waits.signal_waits import WaitSlots
from tservice.terminal.frames.ansi import plain_text
from tservice.terminal.frames.wrapped_lines import get_screen_rows, numbered_lines
from tservice.terminal.stream_matcher import (
    TAIL,
    NeedleMatch,
    SearchNeedle,
    StreamMatcher,
    take_tail,
)

CHUNK = 64 * 1024
SETTLED = 0.15
"""Seconds without output after which the screen is also searched. Programs with a full-screen
interface write blanks as cursor moves, which a search of the output misses.
"""


@frozen(kw_only=True)
class OutputOutcome:
    """Outcome of a wait for output.

    @ivar match: the match; C{None} if the text was not printed.
    @ivar ended: true if the process ended, or the session was deleted, before the text was printed.
    """

    match: NeedleMatch | None
    waited_ms: int
    immediate: bool = False
    ended: bool = False


@implementer(IPaneListener)
class ParkedOutputWait:
    """Call that is held until a text is printed. It reads the pane's log separately."""

    _log = Logger()

    def __init__(
        self, pane: IPane, needle: SearchNeedle, clock: IReactorTime, over: Callable[[], None]
    ) -> None:
        self.done: Deferred[OutputOutcome] = Deferred(lambda _: self._release_wait_resources())
        self._pane = pane
        self._needle = needle
        self._clock = clock
        self._over = over
        self._started = get_unix_ms(clock)
        self._matcher = StreamMatcher(needle)
        self._offset = pane.log.end
        self._before: Counter[str] | None = None
        self._quiet: IDelayedCall | None = None
        self._timeout: IDelayedCall | None = None
        self._ends = (pane.log.subscribe(self._match_new_output), pane.add_listener(self))
        self._released = False

    def start_waiting(self, timeout_ms: int, *, searched: bool) -> None:
        """Wait for at most C{timeout_ms}. Remember the current text of the screen, which does not
        count.

        @param searched: true if a search just found no match on the screen. In this case, all text
            on the screen counts, including text printed since.
        """
        self._timeout = self._clock.callLater(timeout_ms / 1000, self._finish_wait, None)
        if searched:
            self._before = Counter()
            self._start_screen_match()
            return
        spawn_logged(self._remember_initial_matches(), self._log, "reading the screen")

    def end_after_last_match(self) -> None:
        """End the wait, because the session was deleted or detached."""
        self._finish_wait(None, ended=True)

    # -- callbacks of the pane

    def pane_exited(self, ending: PaneExit) -> None:
        spawn_logged(self._match_screen_and_end(), self._log, "reading the last screen")

    def pane_lost(self) -> None:
        self._finish_wait(None, ended=True)

    def pane_resized(self, cols: int, rows: int) -> None:
        """Do nothing, because the program repaints its screen by itself."""

    def pane_titled(self, title: str) -> None:
        """Do nothing, because a title is not output."""

    # -- internals

    def _match_new_output(self) -> None:
        log = self._pane.log
        if not log.has_offset(self._offset):
            self._offset = log.start
            self._matcher = StreamMatcher(self._needle)
        while self._offset < log.end:
            data = log.read(self._offset, CHUNK)
            self._offset += len(data)
            match = self._matcher.feed(data)
            if match is not None:
                self._finish_wait(match)
                return
        self._schedule_screen_match()

    def _schedule_screen_match(self) -> None:
        if self._quiet is not None and self._quiet.active():
            self._quiet.reset(SETTLED)
        else:
            self._quiet = self._clock.callLater(SETTLED, self._start_screen_match)

    def _start_screen_match(self) -> None:
        spawn_logged(self._match_screen(), self._log, "matching the screen")

    async def _remember_initial_matches(self) -> None:
        texts = await find_screen_texts(self._pane, self._needle)
        if texts is not None:
            self._before = Counter(texts)

    async def _match_screen_and_end(self) -> None:
        await self._match_screen()
        self._finish_wait(None, ended=True)

    async def _match_screen(self) -> None:
        """Search the rows and lines of the screen that were not there at the start of the wait."""
        texts = await find_screen_texts(self._pane, self._needle)
        if texts is None or self._before is None:
            return
        old = Counter(self._before)
        for text in texts:
            if old[text] <= 0:
                self._finish_wait(self._needle.find_match(text))
                return
            old[text] -= 1

    def _finish_wait(self, match: NeedleMatch | None, *, ended: bool = False) -> None:
        if self._released:
            return
        self._release_wait_resources()
        waited = get_unix_ms(self._clock) - self._started
        self.done.callback(OutputOutcome(match=match, waited_ms=waited, ended=ended))

    def _release_wait_resources(self) -> None:
        self._released = True
        for end in self._ends:
            end()
        for timer in (self._quiet, self._timeout):
            cancel_call(timer)
        self._over()


class ParkedOutputWaits:
    """Registry of parked waits for output. They count against the same caps as waits for
    signals.
    """

    def __init__(self, clock: IReactorTime, slots: WaitSlots) -> None:
        self._clock = clock
        self._slots = slots
        self._parked: dict[str, dict[ParkedOutputWait, None]] = {}

    def hold_call_until_output(
        self,
        pane: IPane,
        needle: SearchNeedle,
        timeout_ms: int,
        owner: str,
        *,
        searched: bool = False,
    ) -> ParkedOutputWait:
        """Hold a call until C{needle} is printed, C{timeout_ms} has passed, or the call is
        cancelled.

        @param owner: name whose number of waits is limited.
        @param searched: true if L{search_recent_output} has just found no match.
        @raise ServiceError: a cap is reached; the call is not held.
        """
        give_back = self._slots.reserve_slots([pane.session_id], owner)

        def handle_over() -> None:
            give_back()
            waits = self._parked[pane.session_id]
            del waits[wait]
            if not waits:
                del self._parked[pane.session_id]

        wait = ParkedOutputWait(pane, needle, self._clock, handle_over)
        self._parked.setdefault(pane.session_id, {})[wait] = None
        wait.start_waiting(timeout_ms, searched=searched)
        return wait

    def has_wait(self, session_id: str) -> bool:
        """Return true if a wait needs every output byte of that session."""
        return session_id in self._parked

    def end_session_waits(self, session_id: str) -> None:
        """End the waits on a session that was deleted or detached."""
        for wait in tuple(self._parked.get(session_id, ())):
            wait.end_after_last_match()


async def search_recent_output(pane: IPane, needle: SearchNeedle) -> NeedleMatch | None:
    """Return the first match in the last 256 KB that the pane printed, or on its screen.

    Text with blanks that are cursor moves is only found on the screen. So is output that was
    printed while flood mode read no bytes.
    """
    log = pane.log
    start = max(log.start, log.end - TAIL)
    match = StreamMatcher(needle).feed(take_tail(log.read(start, TAIL)))
    if match is not None:
        return match
    texts = await find_screen_texts(pane, needle)
    return needle.find_match(texts[0]) if texts else None


async def find_screen_texts(pane: IPane, needle: SearchNeedle) -> list[str] | None:
    """Return the rows and lines of the screen that contain the text; C{None} if the terminal does
    not answer.

    A line of several rows is only returned if none of its rows contains the text. The rest of such
    a line may change while the row with the text stays the same.
    """
    try:
        capture = await pane.capture_content(0)
    except MuxError:
        return None
    rows, wrapped = get_screen_rows(capture)
    found: list[str] = []
    for first, line in numbered_lines(rows, wrapped):
        texts = [plain_text(row) for row in _line_rows(rows, wrapped, first)]
        holding = [text for text in texts if needle.find_match(text)]
        found += holding or [text for text in (plain_text(line),) if needle.find_match(text)]
    return found


def _line_rows(rows: Sequence[bytes], wrapped: Collection[int], first: int) -> Sequence[bytes]:
    """Return the rows of the line that begins in row C{first}.

    @param wrapped: indices of the rows that continue in the next row.
    """
    last = first
    while last in wrapped and last + 1 < len(rows):
        last += 1
    return rows[first : last + 1]
