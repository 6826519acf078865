"""Session object with methods to type, wait, read, and follow output."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Literal, NamedTuple, TypeVar, cast

from tservice.client.errors import ApiError
from tservice.client.link.caller import ResponseLost
from tservice.client.link.stream import Event, ProcessEnded, RedrawReceived
from tservice.client.requests import ApiRequests
from tservice.client.retrying import PAUSES, retry_lost
from tservice.client.terminal.safe import safe_text
from tservice.client.typed.approvals import (
    AnswerBody,
    ApprovalAnsweredResponse,
    ApprovalItemResponse,
)
from tservice.client.typed.events import SessionAnswer
from tservice.client.typed.terminal import (
    BufferedInputResponse,
    DeliveryResponse,
    InputBody,
    InputWaitResponse,
    SignalWaitState,
)
from tservice.client.wait_limits import LONGEST_MS, Signal

CLEAR = b"\x1b[H\x1b[2J\x1b[3J"
"""Escape sequence that precedes a redraw in a stream of bytes, and clears the terminal."""

YesNo = Literal["approve", "deny"]
T = TypeVar("T")
Until = Signal | Sequence[Signal]


class SentInput(NamedTuple):
    """Result of typing a prompt.

    @ivar again: true if an earlier attempt had already typed it, and its response was lost.
    @ivar signal: signal that ended the requested wait, or C{None} if there was none.
    @ivar opened: C{picker} if the input opened a list to choose from.
    @ivar buffered: true if the session's host is offline. The input is typed when the host is back.
    @ivar dropped: true if the host is offline and the input could not be kept.
    """

    again: bool
    signal: str | None
    opened: str | None
    buffered: bool = False
    dropped: bool = False


class OutputPosition(NamedTuple):
    """Position in a session's output (protocol-websocket)."""

    epoch: str | None
    offset: int


class _InputLane:
    """Client id with a sequence number, for inputs that are sent one after the other.

    Concurrent inputs use separate lanes.
    """

    def __init__(self) -> None:
        self.client_id = f"py-{uuid.uuid4().hex}"
        self.seq = 0


class Session:
    """Session of the service.

    As a context manager it ends the session, if L{Client.new} created it.

    @ivar id: id of the session.
    @ivar record: session record as last received. L{refresh} fetches it again.
    """

    def __init__(self, api: ApiRequests, record: SessionAnswer, *, ours: bool = False) -> None:
        """Create an object for an existing session.

        @param ours: true if this program created the session.
        """
        self.id, self.record = record["id"], record
        self._api, self._ours = api, ours
        self._lanes: list[_InputLane] = []

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._ours:
            await self.end()

    async def refresh(self) -> SessionAnswer:
        """Fetch the current session record, and return it."""
        self.record = await self._retry_lost(lambda: self._api.get_sessions_id(self.id))
        return self.record

    async def send(
        self,
        text: str,
        *,
        wait: Until | bool = False,
        timeout: float = 60.0,
        raw: bool = False,
    ) -> SentInput:
        """Type a prompt and press Enter, exactly once even if connections are lost.

        @param wait: C{True} to wait for the signal that ends the turn, or the signals to wait for.
        @param timeout: maximum time to wait in seconds.
        @param raw: true to type exactly these characters, without Enter.
        @raise ApiError: the service refused. The input was not typed unless the error says so.
        @raise Lost: no response arrived at any attempt. The input may have been typed.
        """
        budget = _to_milliseconds(timeout)
        lane = self._lanes.pop() if self._lanes else _InputLane()
        lane.seq += 1
        body: InputBody = {"input": text, "useMux": not raw}
        body["clientId"], body["seq"] = lane.client_id, lane.seq
        if wait:
            body["wait"] = True if wait is True else _list_signals(wait)
            body["waitTimeout"] = min(budget, LONGEST_MS)
        try:
            found = await self._retry_lost(lambda: self._api.post_sessions_id_input(self.id, body))
        finally:
            self._lanes.append(lane)
        return await self._build_result(found, wait, budget)

    async def press(self, key: str) -> None:
        """Press a key, such as C{Enter}, C{Escape} or C{C-c} (protocol-keys).

        The request is not retried if its response is lost.
        """
        await self._api.post_sessions_id_send_key(self.id, {"key": key})

    async def wait(
        self, until: Until = (), *, timeout: float = 60.0, fresh: bool = False
    ) -> str | None:
        """Wait for a signal and return it; C{None} if there was none in time (protocol-signals).

        @param until: signals to wait for. An empty value means the end of a turn.
        @param timeout: maximum time to wait in seconds.
        @param fresh: true to ignore signals that were given before the call.
        """
        budget, signals = _to_milliseconds(timeout), _list_signals(until)
        while budget > 0:
            part = min(budget, LONGEST_MS)
            found = await self._retry_lost(
                lambda part=part: self._api.get_sessions_id_wait(  # type: ignore[misc]
                    self.id, until=signals or None, timeout=part, fresh=fresh
                )
            )
            signal = _get_signal(found["wait"])
            if signal is not None:
                return signal
            budget -= part
        return None

    async def wait_output(
        self, match: str, *, timeout: float = 60.0, earlier: bool = True
    ) -> str | None:
        """Wait until the session prints a text.

        @param match: text to wait for, not a pattern.
        @param timeout: maximum time to wait in seconds.
        @param earlier: true if text that is already on the screen counts.
        @return: the text with its surroundings, or C{None} if it was not printed in time.
        """
        budget = _to_milliseconds(timeout)
        while budget > 0:
            part = min(budget, LONGEST_MS)
            found = await self._retry_lost(
                lambda part=part: self._api.get_sessions_id_wait_output(  # type: ignore[misc]
                    self.id, match=match, from_="buffer" if earlier else "now", timeout=part
                )
            )
            state = found["wait"]
            if state["matched"]:
                return state["snippet"] or match
            if state["ended"]:
                return None
            budget -= part
        return None

    async def screen(self, lines: int | None = None) -> str:
        """Return the contents of the screen as text without escape sequences.

        @param lines: number of last lines of the history to return instead of the screen.
        """
        found = await self._retry_lost(
            lambda: self._api.get_sessions_id_terminal(
                self.id, full=True if lines else None, lines=str(lines) if lines else None
            )
        )
        text = safe_text(found["terminalBuffer"].replace("\r", "")).rstrip()
        shown = [line.rstrip() for line in text.split("\n")]
        return "\n".join(shown[-lines:] if lines else shown)

    async def last(self) -> str:
        """Return the agent's last answer, as found in its transcript."""
        found = await self._retry_lost(lambda: self._api.get_sessions_id_last_response(self.id))
        return found["text"]

    async def approvals(self) -> list[ApprovalItemResponse]:
        """Return the dialogs of this session that wait for an answer."""
        found = await self._retry_lost(self._api.get_approvals)
        return [item for item in found["approvals"] if item["sessionId"] == self.id]

    async def answer(
        self, item: ApprovalItemResponse, choice: AnswerBody | YesNo = "approve"
    ) -> ApprovalAnsweredResponse:
        """Answer a dialog, unless it has changed since C{item} was read.

        @param choice: C{approve}, C{deny}, or a complete request body.
        """
        given: AnswerBody = {"action": choice} if isinstance(choice, str) else choice
        body: AnswerBody = {"expectFrame": item["frame"], **given}
        return await self._api.post_approvals_item_answer(item["id"], body)

    async def place(self) -> OutputPosition:
        """Return the current position in the output, from which L{stream} can begin."""
        found = await self._retry_lost(lambda: self._api.get_sessions_id_terminal(self.id))
        return OutputPosition(found["epoch"], found["offset"])

    async def stream(self, since: OutputPosition | None = None) -> AsyncIterator[bytes]:
        """Yield the output until the process ends. Lost connections are reopened.

        If output is no longer available, the whole screen is sent instead, after a sequence that
        clears the terminal.

        @param since: position to begin at. C{None} begins with the screen.
        """
        async for event in self.events(since):
            if isinstance(event, ProcessEnded):
                return
            yield CLEAR + event.data if isinstance(event, RedrawReceived) else event.data

    async def events(self, since: OutputPosition | None = None) -> AsyncIterator[Event]:
        """Yield the output as events, with separate events for redraws and the end.

        @param since: position to begin at. C{None} begins with the screen.
        @raise Lost: no connection could be opened at any attempt.
        @raise Unusable: the stream has ended permanently. The same holds for C{ApiError}.
        """
        wire = self._api.wire
        epoch, offset = since or (None, None)
        stream = wire.open_stream(self.id, epoch, None if epoch is None else offset)
        try:
            while True:
                if stream.socket is None:
                    await retry_lost(lambda: wire.connect_stream(stream), wire.sleep)
                try:
                    await wire.wait_ready(stream)
                    if stream.socket is not None:
                        stream.socket.flush()
                    for event in stream.receive_events():
                        yield event
                        if isinstance(event, ProcessEnded):
                            return
                except ResponseLost:
                    stream.close()
                    await wire.sleep(PAUSES[0])
        finally:
            stream.close()

    async def end(self) -> None:
        """End the program and remove the session, if it still exists."""
        try:
            await self._retry_lost(lambda: self._api.delete_sessions_id(self.id))
        except ApiError as error:
            if error.status != 404:
                raise

    async def _build_result(
        self,
        found: DeliveryResponse | BufferedInputResponse | InputWaitResponse,
        wait: Until | bool,
        budget: int,
    ) -> SentInput:
        if "buffered" in found:
            return SentInput(False, None, None, buffered=True, dropped=bool(found.get("dropped")))
        typed = cast(DeliveryResponse, found)
        repeated, opened = bool(typed.get("duplicate")), typed.get("opened")
        if "wait" not in found:
            return SentInput(repeated, None, opened)
        signal = _get_signal(cast(InputWaitResponse, found)["wait"])
        # A repeated input was answered from the state at that time, without a wait.
        rest = budget if repeated else budget - min(budget, LONGEST_MS)
        if signal is None and rest > 0:
            signal = await self.wait(() if isinstance(wait, bool) else wait, timeout=rest / 1000)
        return SentInput(repeated, signal, opened)

    async def _retry_lost(self, work: Callable[[], Awaitable[T]]) -> T:
        return await retry_lost(work, self._api.wire.sleep)


def _get_signal(state: SignalWaitState) -> str | None:
    """Return the signal that ended a wait. A session that was removed during the wait counts as
    exited.
    """
    found = state["signal"]
    return "exit" if found is None and state["ended"] else found


def _list_signals(until: Until | bool) -> list[str]:
    if isinstance(until, bool):
        return []
    return [until] if isinstance(until, str) else list(until)


def _to_milliseconds(seconds: float) -> int:
    """Convert seconds to milliseconds, at least the minimum of one second (protocol-waits)."""
    return max(1000, round(seconds * 1000))
