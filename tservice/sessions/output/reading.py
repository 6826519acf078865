"""Reads a session's terminal (protocol-terminal) and searches its history (protocol-search)."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

from attrs import asdict, evolve, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_failure_error
from tservice.mux.interface import IPane, MuxBusy, MuxError, PaneCapture, PaneGone
from tservice.sessions.interfaces import SavedScreen
from tservice.sessions.output.last_screen import CapturedScreen, LastScreen
from tservice.sessions.record.model import Session
from tservice.terminal.frames.ansi import plain_text
from tservice.terminal.frames.snapshot import move_to_caret
from tservice.terminal.frames.wrapped_lines import (
    find_continued_rows,
    join_wrapped,
    self_contained_lines,
)
from tservice.terminal.line_search import TextOccurrence, search_lines
from tservice.terminal.text_tail import keep_tail

BUFFER_BOUND = 32 * 1024 * 1024
"""Maximum characters of C{terminalBuffer} (protocol-terminal)."""

AT_ONCE, BYTES_AT_ONCE = 1000, 512 * 1024
"""Maximum lines of a history, and bytes, that are searched or styled in one reactor turn."""

# Longer numbers are above every limit.
_COUNT = re.compile(r"[0-9]{1,9}")


@frozen(kw_only=True)
class TerminalReadRequest:
    """Request to read a terminal.

    @ivar history: number of rows above the screen; C{None}: the screen only.
    @ivar tail: maximum number of characters, counted from the end; C{None}: no limit.
    """

    history: int | None = None
    tail: int | None = None


@frozen(kw_only=True)
class TerminalReading:
    """Result of reading a terminal.

    @ivar data: the payload of protocol-terminal.
    @ivar capture_ms: duration of the capture in milliseconds.
    @ivar render_ms: duration of rendering the text in milliseconds.
    """

    data: dict[str, Any]
    capture_ms: float = 0.0
    render_ms: float = 0.0


def count_history_rows(full: bool, lines: str | None, limit: int) -> int | None:
    """Return the number of rows above the screen to read (protocol-terminal).

    @param full: true to read the history too; false reads the screen only.
    @param lines: the query parameter; anything but an integer of at least 1 means C{limit}.
    @param limit: maximum number of rows.
    """
    if not full:
        return None
    asked = int(lines) if lines is not None and _COUNT.fullmatch(lines) else 0
    return min(asked, limit) if asked >= 1 else limit


async def read_terminal(
    clock: IReactorTime,
    session: Session,
    pane: IPane | None,
    request: TerminalReadRequest,
    last: LastScreen | None = None,
) -> TerminalReading:
    """Return the terminal's text, which is empty without a process (protocol-terminal).

    @param last: receives the captured screen; C{None} to skip this.
    @raise ServiceError: 422: the pane does not answer; 429: too many commands wait for the pane.
    """
    begun = clock.seconds()
    capture = None if pane is None else await _capture_pane(pane, request.history or 0)
    captured = clock.seconds()
    if capture is None:
        return TerminalReading(data=_empty_payload(session, request))
    if last is not None and request.history is None:
        last.record_capture(capture)
    lines: list[bytes] = []
    async for piece in _iterate_batches(clock, self_contained_lines(capture)):
        lines += piece
    data = _make_payload(session, capture, lines, request)
    return TerminalReading(
        data=data,
        capture_ms=(captured - begun) * 1000,
        render_ms=(clock.seconds() - captured) * 1000,
    )


def make_last_screen_reading(
    session: Session, seen: CapturedScreen | None, kept: SavedScreen | None, tail: int | None
) -> TerminalReading:
    """Return the last screen of a session whose host is out of reach, marked with its time.

    @param seen: the last capture of this service; C{None} without one.
    @param kept: the screen that an earlier run of the service saved; C{None} without one.
    @param tail: maximum number of characters, counted from the end.
    """
    request = TerminalReadRequest(tail=tail)
    if seen is not None:
        lines = [*self_contained_lines(seen.capture)]
        data = _make_payload(session, seen.capture, lines, request)
        return TerminalReading(data={**data, "stale": True, "staleAt": seen.at})
    data = _empty_payload(session, request)
    if kept is not None:
        # A line takes one row or more, so these lines cover at least the screen.
        lines = kept.lines.split(b"\r\n")[-session.rows :]
        text = b"\r\n".join(lines).decode("utf-8", "replace")
        shown, reason = _cut_to_tail(text, tail)
        told = {"truncated": reason is not None, "truncationReason": reason}
        data |= {"terminalBuffer": shown, "fullSize": len(text), **told, "staleAt": kept.at}
    return TerminalReading(data={**data, "stale": True})


async def search_terminal(
    clock: IReactorTime, pane: IPane | None, needle: str, limit: int, *, nocase: bool
) -> dict[str, Any]:
    """Return occurrences of C{needle} in the pane's history and screen, oldest first.

    @raise ServiceError: 422: the pane does not answer; 429: too many commands wait for the pane.
    """
    capture = None if pane is None else await _capture_pane(pane, None)
    if capture is None:
        return {"matches": [], "truncated": False}
    cut = capture.history_rows < capture.history_size
    found: list[TextOccurrence] = []
    more = False
    at = 0
    async for lines in _iterate_batches(
        clock, join_wrapped(capture.lines, find_continued_rows(capture))
    ):
        here, more = search_lines(map(plain_text, lines), needle, limit - len(found), nocase=nocase)
        found += [evolve(each, line=at + each.line) for each in here]
        at += len(lines)
        if more:
            break
    return {"matches": [asdict(match) for match in found], "truncated": more or cut}


async def _capture_pane(pane: IPane, history: int | None) -> PaneCapture | None:
    try:
        return await pane.capture_content(history)
    except PaneGone:
        return None
    except MuxBusy as error:
        raise ServiceError(ErrorCode.RATE_LIMITED, f"{error}: try again") from error
    except MuxError as error:
        raise make_failure_error(f"the terminal does not answer: {error}") from error


async def _iterate_batches(
    clock: IReactorTime, lines: Iterator[bytes]
) -> AsyncIterator[list[bytes]]:
    """Yield C{lines} in batches of L{AT_ONCE}, so that a long history does not block the
    reactor.
    """
    piece: list[bytes] = []
    size = 0
    for line in lines:
        piece.append(line)
        size += len(line)
        if len(piece) >= AT_ONCE or size >= BYTES_AT_ONCE:
            yield piece
            await wait_seconds(clock, 0)
            piece, size = [], 0
    yield piece


def _make_payload(
    session: Session, capture: PaneCapture, lines: list[bytes], request: TerminalReadRequest
) -> dict[str, Any]:
    full = request.history is not None
    text = b"\r\n".join(lines).decode("utf-8", "replace")
    if full:
        text += move_to_caret(capture).decode()
    shown, reason = _cut_to_tail(text, request.tail)
    if reason is None and capture.history_rows < min(request.history or 0, capture.history_size):
        # The capture reached its limit.
        reason = "capped"
    return {
        "terminalBuffer": shown,
        "status": session.status,
        "source": "full-history" if full else "visible",
        "captureCols": capture.cols,
        "captureRows": capture.rows,
        "cursor": {"x": capture.cursor_x, "y": capture.cursor_y},
        "alternateScreen": capture.alternate_screen,
        "fullSize": len(text),
        "truncated": reason is not None,
        "truncationReason": reason,
        "offset": capture.offset,
        "epoch": capture.epoch,
    }


def _cut_to_tail(text: str, tail: int | None) -> tuple[str, str | None]:
    if tail is not None and tail < len(text) and tail <= BUFFER_BOUND:
        return keep_tail(text, tail), "tail"
    if len(text) > BUFFER_BOUND:
        return keep_tail(text, BUFFER_BOUND), "capped"
    return text, None


def _empty_payload(session: Session, request: TerminalReadRequest) -> dict[str, Any]:
    return {
        "terminalBuffer": "",
        "status": session.status,
        "source": "visible" if request.history is None else "full-history",
        "captureCols": session.cols,
        "captureRows": session.rows,
        "cursor": {"x": 0, "y": 0},
        "alternateScreen": False,
        "fullSize": 0,
        "truncated": False,
        "truncationReason": None,
        "offset": 0,
        "epoch": None,
    }
