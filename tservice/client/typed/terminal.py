"""Terminal: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from tservice.client.calling import Calling, held_ms, quoted


class BufferedAnswer(TypedDict):
    """The session's host is away: the input is typed once that is back, unless there was no room
    for it (C{dropped}).
    """

    buffered: NotRequired[Literal[True]]
    dropped: NotRequired[bool]


class CursorAnswer(TypedDict):
    """Where the caret is, counted from 0."""

    x: int
    y: int


class DeliveryAnswer(TypedDict):
    """What became of an input."""

    delivered: bool
    duplicate: NotRequired[bool]
    opened: NotRequired[str]
    putAside: NotRequired[bool]


class InputBody(TypedDict):
    """Something to be typed, and what to wait for afterwards. The length of C{input} is checked
    apart: it is a 413. C{wait} is C{true} for the default signals, a comma list or a list of
    signals; C{null}, C{false} and an empty text mean none.
    """

    input: str
    useMux: NotRequired[bool | None]
    clientId: NotRequired[str | None]
    seq: NotRequired[int | None]
    wait: NotRequired[bool | str | list[str] | None]
    waitTimeout: NotRequired[int | None]


class InputWaitAnswer(TypedDict):
    """What became of the input, and how the wait ended."""

    wait: SignalState
    waitedMs: int
    status: str
    limitPaused: bool
    immediate: bool
    delivered: bool
    duplicate: bool
    opened: NotRequired[str]
    putAside: NotRequired[bool]


class KeyBody(TypedDict):
    """A named key."""

    key: str


class MatchAnswer(TypedDict):
    """One occurrence: 0-based line of the history, and offset in it. C{start}: of a long line,
    where in it C{text} begins.
    """

    line: int
    text: str
    offset: int
    start: NotRequired[int]


class ResizeBody(TypedDict):
    """A size, and what kind of screen asks for it."""

    cols: int
    rows: int
    viewportType: NotRequired[Literal["mobile", "tablet", "desktop"] | None]
    force: NotRequired[bool | None]


class SearchAnswer(TypedDict):
    """Occurrences, oldest first; C{truncated}: there are more."""

    matches: list[MatchAnswer]
    truncated: bool


class SignalState(TypedDict):
    """How a wait for one session ended; C{signal} is null where none came."""

    timedOut: bool
    timeoutMs: int
    until: list[Literal["exit", "blocked", "stop", "idle", "working"]]
    ended: bool
    signal: Literal["exit", "blocked", "stop", "idle", "working"] | None


class SizeAnswer(TypedDict):
    """The size that holds now."""

    cols: int
    rows: int


class TerminalAnswer(TypedDict):
    """A terminal read (protocol-terminal); without a process empty, C{offset} 0 and C{epoch}
    null. C{stale}: the host is out of reach, and this is what was there at C{staleAt}.
    """

    terminalBuffer: str
    status: Literal["idle", "busy", "stopped", "error"]
    source: str
    captureCols: int
    captureRows: int
    cursor: CursorAnswer
    alternateScreen: bool
    fullSize: int
    truncated: bool
    truncationReason: str | None
    offset: int
    epoch: str | None
    stale: NotRequired[bool]
    staleAt: NotRequired[int]


class Terminal(Calling):
    """Terminal."""

    async def post_sessions_id_send_key(self, id: str, body: KeyBody) -> dict[str, Any]:
        """Press one named key."""
        found: dict[str, Any] = await self.call(
            "POST", f"/sessions/{quoted(id)}/send-key", body=body
        )
        return found

    async def post_sessions_id_resize(self, id: str, body: ResizeBody) -> SizeAnswer:
        """Ask for a size; answers the one that holds."""
        found: SizeAnswer = await self.call("POST", f"/sessions/{quoted(id)}/resize", body=body)
        return found

    async def get_sessions_id_terminal(
        self,
        id: str,
        *,
        full: bool | None = None,
        tail: int | None = None,
        lines: str | None = None,
    ) -> TerminalAnswer:
        """The screen, or with full=1 the history too."""
        found: TerminalAnswer = await self.call(
            "GET",
            f"/sessions/{quoted(id)}/terminal",
            query={"full": full, "tail": tail, "lines": lines},
        )
        return found

    async def get_sessions_id_search(
        self, id: str, *, q: str, limit: int | None = None, nocase: bool | None = None
    ) -> SearchAnswer:
        """Find a literal in the pane's history."""
        found: SearchAnswer = await self.call(
            "GET",
            f"/sessions/{quoted(id)}/search",
            query={"q": q, "limit": limit, "nocase": nocase},
        )
        return found

    async def post_sessions_id_input(
        self, id: str, body: InputBody
    ) -> DeliveryAnswer | BufferedAnswer | InputWaitAnswer:
        """Type something, as a prompt or as raw bytes, and wait if asked to."""
        found: DeliveryAnswer | BufferedAnswer | InputWaitAnswer = await self.call(
            "POST",
            f"/sessions/{quoted(id)}/input",
            body=body,
            wait_ms=held_ms(body.get("waitTimeout")) if body.get("wait") else 0,
        )
        return found
