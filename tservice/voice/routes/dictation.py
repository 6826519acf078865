"""Dictation: relay of speech from a page to a speech service, and of its text back
(protocol-voice).
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from attrs import frozen
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure
from zope.interface import implementer

from tservice.core.net.egress import EgressRefused
from tservice.core.timers import NamedTimers
from tservice.http.websockets.connection import UNSUPPORTED, ISocket, ISocketHandler
from tservice.http.websockets.upgrade import NO_SUCH, TOO_MANY
from tservice.voice.dialects import CLOSE_STREAM, DIALECTS, KEEP_ALIVE, KEEP_ALIVE_SECONDS
from tservice.voice.model import (
    QUEUE_BYTES,
    STREAM_SECONDS,
    TEXT_MOST,
    Reason,
    Source,
    Transcript,
    shown_error,
)
from tservice.voice.service import Voice
from tservice.voice.upstream import Line, LineRequest

OPEN_SECONDS = 10.0
"""Seconds for the speech service to answer the handshake."""
REST_SECONDS = 3.0
"""Seconds for the rest of the text."""
STALL_SECONDS = 20.0
"""Seconds that the speech service may accept no speech."""
CONTROL_CHARACTERS = 1024


class Opens(Protocol):
    """Opener of connections (L{tservice.voice.upstream.Upstreams.open})."""

    def __call__(self, request: LineRequest, listener: Any) -> Deferred[Any]: ...


@frozen(kw_only=True)
class DictationDependencies:
    """Dependencies of a dictation.

    @ivar opens: opens the connection.
    @ivar username: account of the dictation.
    @ivar language: C{None}: taken from the settings; likewise C{keyterms}.
    """

    clock: IReactorTime
    voice: Voice
    opens: Opens
    source: Source
    username: str
    language: str | None = None
    keyterms: Sequence[str] | None = None


@implementer(ISocketHandler)
class Dictation:
    """Relay of one dictation with bounded buffers.

    Speech that the speech service does not accept waits here, up to L{QUEUE_BYTES} and one read;
    then reading from the page pauses.  If the page does not accept text, only the last one is kept,
    as each has the whole text, and reading from the speech service pauses.
    """

    _log = Logger()

    def __init__(self, deps: DictationDependencies) -> None:
        self._deps = deps
        self._timers = NamedTimers(deps.clock)
        self._dialect = DIALECTS[deps.source.provider]
        self._forget: Callable[[], None] = lambda: None
        self._socket: ISocket | None = None
        self._making: Deferred[Any] | None = None
        self._line: Line | None = None
        self._open = self._full = self._paused = self._unshown = False
        self._finishing = self._asked = self._over = False
        self._queue: deque[bytes] = deque()
        self._queued = 0
        self._said = Transcript()

    # # Called by the page's socket

    def socket_opened(self, socket: ISocket) -> None:
        self._socket = socket
        if not self._deps.voice.enter(self, self._deps.username):
            self._release()
            socket.close(TOO_MANY, "too many dictations at a time; try again later")
            return
        self._timers.schedule_call("length", STREAM_SECONDS, self._finish)
        self._timers.schedule_call(
            "open", OPEN_SECONDS, self._fail, "the speech service does not answer"
        )
        deps = self._deps
        request, self._forget = deps.voice.request(deps.source, deps.language, deps.keyterms)
        try:
            making = self._making = deps.opens(request, self)
        except EgressRefused as refused:
            self._fail(f"the address of the speech service {refused}")
            return
        making.addCallbacks(self._made, self._unmade)
        making.addErrback(lambda why: self._log.failure("a dictation failed", why))

    def text_received(self, data: str) -> None:
        if self._over:
            return
        what = _control(data)
        if what == "finalize":
            self._finalize()
        elif what == "stop":
            self._say({"t": "closed"})
            self._close(1000)
        else:
            self._close(UNSUPPORTED, "text must be a control frame")

    def binary_received(self, data: bytes) -> None:
        if self._over or self._finishing or not data:
            return
        self._queue.append(data)
        self._queued += len(data)
        self._pump()
        if self._queued >= QUEUE_BYTES:
            self._peer.pause_reading()

    def sending_paused(self) -> None:
        self._paused = True
        if self._line is not None and not self._over:
            self._line.hold()

    def sending_resumed(self) -> None:
        self._paused = False
        if self._over:
            return
        if self._unshown:
            self._show(final=False)
        if self._line is not None:
            self._line.release()

    def socket_closed(self, code: int) -> None:
        self._release()

    # # Called by the upstream connection

    def line_opened(self, line: Line) -> None:
        if self._over:
            return
        self._line, self._open = line, True
        self._timers.cancel_timer("open")
        self._keep_alive()
        self._say({"t": "ready"})
        self._pump()

    def line_said(self, message: bytes) -> None:
        heard = self._dialect.heard(message)
        if self._over or heard is None:
            return
        if heard.error is not None:
            self._say({"t": "error", "message": shown_error(heard.error, self._deps.source.secret)})
            return
        before, self._said = self._said, self._said.after(heard)
        if len(self._said.text) > TEXT_MOST:
            self._fail("the speech service sends too much text")
        elif self._paused:
            self._unshown = True
        elif heard.ends or self._said != before:
            self._show(final=heard.ends)

    def line_filled(self) -> None:
        self._full = True
        self._timers.schedule_call(
            "stall", STALL_SECONDS, self._fail, "the speech service accepts no speech"
        )

    def line_drained(self) -> None:
        self._full = False
        self._timers.cancel_timer("stall")
        if not self._over:
            self._pump()

    def line_ended(self, clean: bool) -> None:
        self._line = None
        if self._over:
            return
        if self._finishing or (self._open and clean):
            self._finish()
        else:
            lost = "was lost" if self._open else "refused the dictation"
            self._fail(f"the speech service {lost}")

    # # Called by the service

    def switched_off(self) -> None:
        """End immediately, as no more data may be sent to the speech service."""
        if not self._over:
            self._close(NO_SUCH, Reason.DISABLED.value)

    # -- inside

    @property
    def _peer(self) -> ISocket:
        assert self._socket is not None, "no data arrives before the socket is opened"  # noqa: S101
        return self._socket

    def _made(self, line: Line) -> None:
        self._making = None
        if self._over:
            line.cut()
        elif not self._open:
            self._line = line

    def _unmade(self, why: Failure) -> None:
        self._making = None
        if self._over or why.check(CancelledError):
            return
        self._log.info("cannot connect to the speech service: {why}", why=why.getErrorMessage())
        refused = why.check(EgressRefused)
        told = why.getErrorMessage() if refused else "could not be reached"
        self._fail(f"the speech service {told}")

    def _pump(self) -> None:
        """Forward queued speech as far as it is accepted."""
        while self._open and self._line is not None and self._queue and not self._full:
            sound = self._queue.popleft()
            self._queued -= len(sound)
            self._line.send_sound(sound)
        if self._queued < QUEUE_BYTES:
            self._peer.resume_reading()
        if self._finishing and self._open and not self._queue:
            self._ask_for_rest()

    def _finalize(self) -> None:
        if not self._finishing:
            self._finishing = True
            if self._open:
                self._timers.schedule_call("rest", REST_SECONDS, self._finish)
            self._pump()

    def _ask_for_rest(self) -> None:
        if self._line is not None and not self._asked:
            self._asked = True
            self._timers.schedule_call("rest", REST_SECONDS, self._finish)
            self._line.send_text(CLOSE_STREAM)

    def _keep_alive(self) -> None:
        if self._line is not None and not self._full:
            self._line.send_text(KEEP_ALIVE)
        self._timers.schedule_call("alive", KEEP_ALIVE_SECONDS, self._keep_alive)

    def _show(self, *, final: bool) -> None:
        self._unshown = False
        self._say({"t": "transcript", "text": self._said.text, "final": final})

    def _finish(self) -> None:
        """End normally: send the whole text, and the notice that it is complete."""
        self._show(final=True)
        self._say({"t": "closed"})
        self._close(1000)

    def _fail(self, message: str) -> None:
        self._say({"t": "error", "message": message})
        self._close(NO_SUCH, message)

    def _say(self, frame: dict[str, object]) -> None:
        self._peer.send_text(json.dumps(frame, ensure_ascii=False))

    def _close(self, code: int, reason: str = "") -> None:
        self._release()
        self._peer.close(code, reason)

    def _release(self) -> None:
        """Release everything except the page's socket."""
        if self._over:
            return
        self._over = True
        self._timers.cancel_all()
        self._queue.clear()
        self._queued = 0
        self._deps.voice.leave(self)
        self._forget()
        if self._making is not None:
            self._making.cancel()
        if self._line is not None:
            self._line.cut()


def _control(data: str) -> str | None:
    """Return the type of a control frame; C{None} if it is invalid."""
    if len(data) > CONTROL_CHARACTERS:
        return None
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    word = found.get("t") if isinstance(found, dict) else None
    return word if isinstance(word, str) else None
