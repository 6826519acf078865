"""A session as an object: type, wait, read, follow."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Literal, NamedTuple, TypeVar, cast

from tservice.client.again import PAUSES, again
from tservice.client.errors import ApiError
from tservice.client.link.caller import Lost
from tservice.client.link.stream import Ended, Event, Redraw
from tservice.client.requests import Requests
from tservice.client.terminal.safe import safe_text
from tservice.client.typed.approvals import AnswerBody, AnsweredAnswer, ItemAnswer
from tservice.client.typed.events import SessionAnswer
from tservice.client.typed.terminal import (
    BufferedAnswer,
    DeliveryAnswer,
    InputBody,
    InputWaitAnswer,
    SignalState,
)

LONGEST_MS = 600_000
"""The service holds one wait so long at most; a longer one is asked for again."""
CLEAR = b"\x1b[H\x1b[2J\x1b[3J"
"""Before a redraw in a stream of bytes, as for a terminal."""

Signal = Literal["exit", "blocked", "stop", "idle", "working"]
YesNo = Literal["approve", "deny"]
T = TypeVar("T")
Until = Signal | Sequence[Signal]


class Sent(NamedTuple):
    """What became of an input.

    @ivar again: an earlier try had typed it, whose answer was lost.
    @ivar signal: what ended the wait that was asked for; C{None}: none came.
    @ivar opened: C{picker} where it opened a list to choose from.
    @ivar buffered: its host is away: it is typed once that is back.
    @ivar dropped: or it is not, for there was no room for it.
    """

    again: bool
    signal: str | None
    opened: str | None
    buffered: bool = False
    dropped: bool = False


class OutputPosition(NamedTuple):
    """A place in a session's output (protocol-websocket)."""

    epoch: str | None
    offset: int


class _Lane:
    """One client id and its numbers: of the sends of a lane one is under way at most."""

    def __init__(self) -> None:
        self.client_id = f"py-{uuid.uuid4().hex}"
        self.seq = 0


class Session:
    """One session.

    As a context manager it ends the session, if L{Client.new} has made it.

    @ivar id: its id.
    @ivar record: as the service told it last; L{refresh} asks for it anew.
    """

    def __init__(self, api: Requests, record: SessionAnswer, *, ours: bool = False) -> None:
        """@param ours: this program has started it."""
        self.id, self.record = record["id"], record
        self._api, self._ours = api, ours
        self._lanes: list[_Lane] = []

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._ours:
            await self.end()

    async def refresh(self) -> SessionAnswer:
        """The record as it is now."""
        self.record = await self._again(lambda: self._api.get_sessions_id(self.id))
        return self.record

    async def send(
        self,
        text: str,
        *,
        wait: Until | bool = False,
        timeout: float = 60.0,
        raw: bool = False,
    ) -> Sent:
        """Type a prompt and press Enter, exactly once, however often the connection breaks.

        @param wait: for the signal that ends the turn, or for these.
        @param timeout: seconds that the wait may take.
        @param raw: type these characters and nothing else.
        @raise ApiError: refused, and not typed unless it says so.
        @raise Lost: no answer came to many tries; it may have been typed.
        """
        budget = _milliseconds(timeout)
        lane = self._lanes.pop() if self._lanes else _Lane()
        lane.seq += 1
        body: InputBody = {"input": text, "useMux": not raw}
        body["clientId"], body["seq"] = lane.client_id, lane.seq
        if wait:
            body["wait"] = True if wait is True else _signals(wait)
            body["waitTimeout"] = min(budget, LONGEST_MS)
        try:
            found = await self._again(lambda: self._api.post_sessions_id_input(self.id, body))
        finally:
            self._lanes.append(lane)
        return await self._settled(found, wait, budget)

    async def press(self, key: str) -> None:
        """Press a key (protocol-keys): C{Enter}, C{Escape}, C{C-c}...; not repeated if lost."""
        await self._api.post_sessions_id_send_key(self.id, {"key": key})

    async def wait(
        self, until: Until = (), *, timeout: float = 60.0, fresh: bool = False
    ) -> str | None:
        """Wait for a signal (protocol-signals); C{None}: none came in time.

        @param until: those that count; none: the end of a turn, by the service's own choice.
        @param fresh: what is so already does not count.
        """
        budget, signals = _milliseconds(timeout), _signals(until)
        while budget > 0:
            part = min(budget, LONGEST_MS)
            found = await self._again(
                lambda part=part: self._api.get_sessions_id_wait(  # type: ignore[misc]
                    self.id, until=signals or None, timeout=part, fresh=fresh
                )
            )
            signal = _signal(found["wait"])
            if signal is not None:
                return signal
            budget -= part
        return None

    async def wait_output(
        self, match: str, *, timeout: float = 60.0, earlier: bool = True
    ) -> str | None:
        """Wait until the session prints a text; it with what stands around it, or C{None}.

        @param match: taken literally.
        @param earlier: what is on the screen already counts.
        """
        budget = _milliseconds(timeout)
        while budget > 0:
            part = min(budget, LONGEST_MS)
            found = await self._again(
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
        """What the terminal shows, as text without escape sequences.

        @param lines: so many last lines of the history in place of the screen.
        """
        found = await self._again(
            lambda: self._api.get_sessions_id_terminal(
                self.id, full=True if lines else None, lines=str(lines) if lines else None
            )
        )
        text = safe_text(found["terminalBuffer"].replace("\r", "")).rstrip()
        shown = [line.rstrip() for line in text.split("\n")]
        return "\n".join(shown[-lines:] if lines else shown)

    async def last(self) -> str:
        """The agent's last answer, from its transcript."""
        found = await self._again(lambda: self._api.get_sessions_id_last_response(self.id))
        return found["text"]

    async def approvals(self) -> list[ItemAnswer]:
        """The dialogs of this session that wait for an answer."""
        found = await self._again(self._api.get_approvals)
        return [item for item in found["approvals"] if item["sessionId"] == self.id]

    async def answer(
        self, item: ItemAnswer, choice: AnswerBody | YesNo = "approve"
    ) -> AnsweredAnswer:
        """Answer a dialog, if it is still the one that C{item} shows.

        @param choice: C{approve}, C{deny}, or a whole body.
        """
        given: AnswerBody = {"action": choice} if isinstance(choice, str) else choice
        body: AnswerBody = {"expectFrame": item["frame"], **given}
        return await self._api.post_approvals_item_answer(item["id"], body)

    async def place(self) -> OutputPosition:
        """Where the output is, for L{stream} to begin."""
        found = await self._again(lambda: self._api.get_sessions_id_terminal(self.id))
        return OutputPosition(found["epoch"], found["offset"])

    async def stream(self, since: OutputPosition | None = None) -> AsyncIterator[bytes]:
        """What the session prints, to the end of its process, over lost connections.

        What cannot be had any more is replaced by the whole screen, after a sequence that clears
        the one before.

        @param since: where to begin; none: with the screen.
        """
        async for event in self.events(since):
            if isinstance(event, Ended):
                return
            yield CLEAR + event.data if isinstance(event, Redraw) else event.data

    async def events(self, since: OutputPosition | None = None) -> AsyncIterator[Event]:
        """L{stream}, with redraws and the end told apart.

        @raise Lost: no connection came about for long.
        @raise Unusable: it is over for good; also C{ApiError}.
        """
        wire = self._api.wire
        epoch, offset = since or (None, None)
        stream = wire.stream(self.id, epoch, None if epoch is None else offset)
        try:
            while True:
                if stream.socket is None:
                    await again(lambda: wire.connect(stream), wire.sleep)
                try:
                    await wire.ready(stream)
                    if stream.socket is not None:
                        stream.socket.flush()
                    for event in stream.receive():
                        yield event
                        if isinstance(event, Ended):
                            return
                except Lost:
                    stream.close()
                    await wire.sleep(PAUSES[0])
        finally:
            stream.close()

    async def end(self) -> None:
        """End the program and remove the session; one that is gone already is fine."""
        try:
            await self._again(lambda: self._api.delete_sessions_id(self.id))
        except ApiError as error:
            if error.status != 404:
                raise

    async def _settled(
        self,
        found: DeliveryAnswer | BufferedAnswer | InputWaitAnswer,
        wait: Until | bool,
        budget: int,
    ) -> Sent:
        if "buffered" in found:
            return Sent(False, None, None, buffered=True, dropped=bool(found.get("dropped")))
        typed = cast(DeliveryAnswer, found)
        repeated, opened = bool(typed.get("duplicate")), typed.get("opened")
        if "wait" not in found:
            return Sent(repeated, None, opened)
        signal = _signal(cast(InputWaitAnswer, found)["wait"])
        # A repeated one was answered at once, from the state that there was.
        rest = budget if repeated else budget - min(budget, LONGEST_MS)
        if signal is None and rest > 0:
            signal = await self.wait(() if isinstance(wait, bool) else wait, timeout=rest / 1000)
        return Sent(repeated, signal, opened)

    async def _again(self, work: Callable[[], Awaitable[T]]) -> T:
        return await again(work, self._api.wire.sleep)


def _signal(state: SignalState) -> str | None:
    """A session that went away while it was waited for has exited."""
    found = state["signal"]
    return "exit" if found is None and state["ended"] else found


def _signals(until: Until | bool) -> list[str]:
    if isinstance(until, bool):
        return []
    return [until] if isinstance(until, str) else list(until)


def _milliseconds(seconds: float) -> int:
    """The service's least is a second (protocol-waits)."""
    return max(1000, round(seconds * 1000))
