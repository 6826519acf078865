"""Relay that sends speech from the web page to a speech service, and text back (protocol-voice)."""

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

from tservice.core.kernel.timers import NamedTimers
from tservice.core.net.egress import EgressRefused
from tservice.http.websockets.interface import UNSUPPORTED, ISocket, ISocketHandler
from tservice.http.websockets.upgrade import NO_SUCH, TOO_MANY
from tservice.voice.model import (
    MAX_TEXT_LENGTH,
    QUEUE_BYTES,
    STREAM_SECONDS,
    DictatedText,
    SpeechSource,
    UnavailableReason,
    sanitize_error,
)
from tservice.voice.service import VoiceService
from tservice.voice.speech_dialects import CLOSE_STREAM, DIALECTS, KEEP_ALIVE, KEEP_ALIVE_SECONDS
from tservice.voice.upstream import UpstreamConnection, UpstreamConnectRequest

OPEN_SECONDS = 10.0
"""Seconds in which the speech service must complete the handshake."""
REST_SECONDS = 3.0
"""Seconds to wait for the rest of the text after the end of the speech."""
STALL_SECONDS = 20.0
"""Seconds for which the speech service may accept no speech before the dictation is ended."""
CONTROL_CHARACTERS = 1024


class ConnectionOpener(Protocol):
    """Function that opens a connection to a speech service
    (L{tservice.voice.upstream.UpstreamConnector.connect}).
    """

    def __call__(self, request: UpstreamConnectRequest, listener: Any) -> Deferred[Any]: ...


@frozen(kw_only=True)
class DictationDependencies:
    """Dependencies of a dictation.

    @ivar opens: opens the connection to the speech service.
    @ivar username: account that dictates.
    @ivar language: language of the speech. C{None} means the language in the settings. The same
        holds for C{keyterms}.
    """

    clock: IReactorTime
    voice: VoiceService
    opens: ConnectionOpener
    source: SpeechSource
    username: str
    language: str | None = None
    keyterms: Sequence[str] | None = None


@implementer(ISocketHandler)
class DictationRelay:
    """Relay between the web page and the speech service for one dictation, with bounded buffers.

    Speech that the speech service does not accept is queued, up to L{QUEUE_BYTES} and one read.
    Reading from the page then pauses. If the page does not accept text, reading from the speech
    service pauses. Only the last text is kept, because it contains the earlier ones.
    """

    _log = Logger()

    def __init__(self, deps: DictationDependencies) -> None:
        self._deps = deps
        self._timers = NamedTimers(deps.clock)
        self._dialect = DIALECTS[deps.source.provider]
        self._forget: Callable[[], None] = lambda: None
        self._socket: ISocket | None = None
        self._making: Deferred[Any] | None = None
        self._upstream: UpstreamConnection | None = None
        self._open = self._is_upstream_full = self._paused = self._has_unsent_text = False
        self._finishing = self._has_requested_rest = self._has_ended = False
        self._queue: deque[bytes] = deque()
        self._queued = 0
        self._transcript = DictatedText()

    # # Called by the page's socket

    def socket_opened(self, socket: ISocket) -> None:
        self._socket = socket
        if not self._deps.voice.register_dictation(self, self._deps.username):
            self._release_resources()
            socket.close(TOO_MANY, "too many dictations at a time; try again later")
            return
        self._timers.schedule_call("length", STREAM_SECONDS, self._complete_dictation)
        self._timers.schedule_call(
            "open", OPEN_SECONDS, self._close_with_error, "the speech service does not answer"
        )
        deps = self._deps
        request, self._forget = deps.voice.build_request(deps.source, deps.language, deps.keyterms)
        try:
            making = self._making = deps.opens(request, self)
        except EgressRefused as refused:
            self._close_with_error(f"the address of the speech service {refused}")
            return
        making.addCallbacks(self._handle_connected, self._handle_connect_error)
        making.addErrback(lambda why: self._log.failure("a dictation failed", why))

    def text_received(self, data: str) -> None:
        if self._has_ended:
            return
        what = _parse_control(data)
        if what == "finalize":
            self._finish_after_queued_speech()
        elif what == "stop":
            self._send_frame({"t": "closed"})
            self._close_socket(1000)
        else:
            self._close_socket(UNSUPPORTED, "text must be a control frame")

    def binary_received(self, data: bytes) -> None:
        if self._has_ended or self._finishing or not data:
            return
        self._queue.append(data)
        self._queued += len(data)
        self._send_queued_speech()
        if self._queued >= QUEUE_BYTES:
            self._page_socket.pause_reading()

    def sending_paused(self) -> None:
        self._paused = True
        if self._upstream is not None and not self._has_ended:
            self._upstream.pause_reading()

    def sending_resumed(self) -> None:
        self._paused = False
        if self._has_ended:
            return
        if self._has_unsent_text:
            self._send_transcript(final=False)
        if self._upstream is not None:
            self._upstream.resume_reading()

    def socket_closed(self, code: int) -> None:
        self._release_resources()

    # # Called by the upstream connection

    def connection_opened(self, line: UpstreamConnection) -> None:
        if self._has_ended:
            return
        self._upstream, self._open = line, True
        self._timers.cancel_timer("open")
        self._send_keep_alive()
        self._send_frame({"t": "ready"})
        self._send_queued_speech()

    def message_received(self, message: bytes) -> None:
        heard = self._dialect.parse_update(message)
        if self._has_ended or heard is None:
            return
        if heard.error is not None:
            self._send_frame(
                {"t": "error", "message": sanitize_error(heard.error, self._deps.source.secret)}
            )
            return
        before, self._transcript = self._transcript, self._transcript.apply_update(heard)
        if len(self._transcript.text) > MAX_TEXT_LENGTH:
            self._close_with_error("the speech service sends too much text")
        elif self._paused:
            self._has_unsent_text = True
        elif heard.is_final or self._transcript != before:
            self._send_transcript(final=heard.is_final)

    def buffer_filled(self) -> None:
        self._is_upstream_full = True
        self._timers.schedule_call(
            "stall", STALL_SECONDS, self._close_with_error, "the speech service accepts no speech"
        )

    def buffer_drained(self) -> None:
        self._is_upstream_full = False
        self._timers.cancel_timer("stall")
        if not self._has_ended:
            self._send_queued_speech()

    def connection_ended(self, clean: bool) -> None:
        self._upstream = None
        if self._has_ended:
            return
        if self._finishing or (self._open and clean):
            self._complete_dictation()
        else:
            lost = "was lost" if self._open else "refused the dictation"
            self._close_with_error(f"the speech service {lost}")

    # # Called by the service

    def cancel(self) -> None:
        """End the dictation immediately, because no more data may be sent to the speech service."""
        if not self._has_ended:
            self._close_socket(NO_SUCH, UnavailableReason.DISABLED.value)

    # -- inside

    @property
    def _page_socket(self) -> ISocket:
        assert self._socket is not None, "no data arrives before the socket is opened"  # noqa: S101
        return self._socket

    def _handle_connected(self, line: UpstreamConnection) -> None:
        self._making = None
        if self._has_ended:
            line.abort_connection()
        elif not self._open:
            self._upstream = line

    def _handle_connect_error(self, why: Failure) -> None:
        self._making = None
        if self._has_ended or why.check(CancelledError):
            return
        self._log.info("cannot connect to the speech service: {why}", why=why.getErrorMessage())
        refused = why.check(EgressRefused)
        told = why.getErrorMessage() if refused else "could not be reached"
        self._close_with_error(f"the speech service {told}")

    def _send_queued_speech(self) -> None:
        """Send queued speech, as much as the speech service accepts."""
        while (
            self._open and self._upstream is not None and self._queue and not self._is_upstream_full
        ):
            sound = self._queue.popleft()
            self._queued -= len(sound)
            self._upstream.send_audio(sound)
        if self._queued < QUEUE_BYTES:
            self._page_socket.resume_reading()
        if self._finishing and self._open and not self._queue:
            self._request_final_text()

    def _finish_after_queued_speech(self) -> None:
        if not self._finishing:
            self._finishing = True
            if self._open:
                self._timers.schedule_call("rest", REST_SECONDS, self._complete_dictation)
            self._send_queued_speech()

    def _request_final_text(self) -> None:
        if self._upstream is not None and not self._has_requested_rest:
            self._has_requested_rest = True
            self._timers.schedule_call("rest", REST_SECONDS, self._complete_dictation)
            self._upstream.send_text(CLOSE_STREAM)

    def _send_keep_alive(self) -> None:
        if self._upstream is not None and not self._is_upstream_full:
            self._upstream.send_text(KEEP_ALIVE)
        self._timers.schedule_call("alive", KEEP_ALIVE_SECONDS, self._send_keep_alive)

    def _send_transcript(self, *, final: bool) -> None:
        self._has_unsent_text = False
        self._send_frame({"t": "transcript", "text": self._transcript.text, "final": final})

    def _complete_dictation(self) -> None:
        """End the dictation normally: send the complete text, and a message that it is complete."""
        self._send_transcript(final=True)
        self._send_frame({"t": "closed"})
        self._close_socket(1000)

    def _close_with_error(self, message: str) -> None:
        self._send_frame({"t": "error", "message": message})
        self._close_socket(NO_SUCH, message)

    def _send_frame(self, frame: dict[str, object]) -> None:
        self._page_socket.send_text(json.dumps(frame, ensure_ascii=False))

    def _close_socket(self, code: int, reason: str = "") -> None:
        self._release_resources()
        self._page_socket.close(code, reason)

    def _release_resources(self) -> None:
        """Release everything except the page's WebSocket."""
        if self._has_ended:
            return
        self._has_ended = True
        self._timers.cancel_all()
        self._queue.clear()
        self._queued = 0
        self._deps.voice.unregister_dictation(self)
        self._forget()
        if self._making is not None:
            self._making.cancel()
        if self._upstream is not None:
            self._upstream.abort_connection()


def _parse_control(data: str) -> str | None:
    """Return the type of a control message from the page, or C{None} if the message is invalid."""
    if len(data) > CONTROL_CHARACTERS:
        return None
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    word = found.get("t") if isinstance(found, dict) else None
    return word if isinstance(word, str) else None
