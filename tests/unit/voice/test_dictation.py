"""One dictation, between a played page and a played speech service (protocol-voice)."""

from __future__ import annotations

import json
from typing import Any

from twisted.internet.defer import Deferred, fail
from twisted.internet.error import ConnectionRefusedError
from twisted.internet.task import Clock
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from tservice.core.net.egress import EgressRefused
from tservice.http.websockets.frames import SocketMessage
from tservice.http.websockets.interface import ISocket
from tservice.voice.model import (
    FRAME_BYTES,
    MAX_STREAMS,
    MAX_TEXT_LENGTH,
    QUEUE_BYTES,
    STREAM_SECONDS,
    SpeechProvider,
    SpeechSource,
)
from tservice.voice.routes.dictation import (
    OPEN_SECONDS,
    REST_SECONDS,
    STALL_SECONDS,
    DictationDependencies,
    DictationRelay,
)
from tservice.voice.speech_dialects import CLOSE_STREAM, KEEP_ALIVE, KEEP_ALIVE_SECONDS
from tservice.voice.upstream import UpstreamConnectRequest

SECRET = "sk-ant-secret"
READY = {"t": "ready"}
CLOSED = {"t": "closed"}


@implementer(ISocket)
class DictationPage:
    """An open WebSocket that keeps what it was sent, and how it was closed."""

    buffered = 0
    writable = True

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self.ended: tuple[int, str] | None = None
        self.held = False

    def send(self, message: SocketMessage) -> None:
        raise AssertionError("dictations send text")

    def send_text(self, text: str) -> None:
        assert self.ended is None, text
        self.told.append(json.loads(text))

    def send_binary(self, data: bytes) -> None:
        raise AssertionError("dictations send text")

    def pause_reading(self) -> None:
        self.held = True

    def resume_reading(self) -> None:
        self.held = False

    def close(self, code: int = 1000, reason: str = "") -> None:
        self.ended = self.ended or (code, reason)


class FarEnd:
    """A line to a speech service."""

    def __init__(self) -> None:
        self.sound = b""
        self.texts: list[str] = []
        self.held = self.gone = False

    def send_audio(self, sound: bytes) -> None:
        self.sound += sound

    def send_text(self, text: str) -> None:
        self.texts.append(text)

    def pause_reading(self) -> None:
        self.held = True

    def resume_reading(self) -> None:
        self.held = False

    def abort_connection(self) -> None:
        self.gone = True


class DictationService:
    """What a dictation asks the service for.

    @ivar known: secrets that are in use.
    """

    def __init__(self) -> None:
        self.under_way: set[Any] = set()
        self.known: list[str] = []

    def register_dictation(self, one: object, username: str) -> bool:
        if len(self.under_way) >= MAX_STREAMS:
            return False
        self.under_way.add(one)
        return True

    def unregister_dictation(self, one: object) -> None:
        self.under_way.discard(one)

    def build_request(self, source: SpeechSource, language: Any, keyterms: Any) -> Any:
        self.known.append(source.secret)
        asked = UpstreamConnectRequest(url="ws://far/", query=f"language={language}", headers={})
        return asked, lambda: self.known.remove(source.secret)


class DictationCase(SynchronousTestCase):
    provider = SpeechProvider.PRIMARY

    def setUp(self) -> None:
        self.clock = Clock()
        self.voice = DictationService()
        self.made: list[Deferred[Any]] = []
        self.refused: Exception | None = None
        self.at_once: Exception | None = None
        self.dictation, self.page, self.far = self.start()

    def opens(self, request: UpstreamConnectRequest, listener: Any) -> Deferred[Any]:
        if self.refused is not None:
            raise self.refused
        self.made.append(Deferred() if self.at_once is None else fail(self.at_once))
        return self.made[-1]

    def start(self) -> tuple[DictationRelay, DictationPage, FarEnd]:
        dictation = DictationRelay(
            DictationDependencies(
                clock=self.clock,
                voice=self.voice,  # type: ignore[arg-type]
                opens=self.opens,
                source=SpeechSource(provider=self.provider, secret=SECRET),
                username="ann",
                language="en",
            )
        )
        page = DictationPage()
        dictation.socket_opened(page)
        return dictation, page, FarEnd()

    def connect(self) -> None:
        self.made[-1].callback(self.far)
        self.dictation.connection_opened(self.far)

    def says(self, kind: str, **fields: str) -> None:
        self.dictation.message_received(json.dumps({"type": kind, **fields}).encode())

    def over(self, code: int, reason: str = "") -> None:
        """Ended so, with nothing left behind."""
        self.assertEqual((code, reason), self.page.ended)
        self.assertEqual([], self.clock.getDelayedCalls())
        self.assertEqual([], self.voice.known)
        self.assertEqual(set(), self.voice.under_way)
        self.dictation.socket_closed(code)


class DictationLifeTests(DictationCase):
    """From the first word to the end."""

    def test_dictation_runs_from_first_word_to_end(self) -> None:
        self.dictation.binary_received(b"ab")  # before anything is open
        self.assertEqual([], self.page.told)
        self.connect()
        self.assertEqual([READY], self.page.told)
        self.assertEqual((b"ab", [KEEP_ALIVE]), (self.far.sound, self.far.texts))
        self.dictation.binary_received(b"cd")
        self.says("TranscriptInterim", data="run the")
        self.says("TranscriptText", data="run the tests")
        self.says("TranscriptText", data="run the tests")
        self.says("TranscriptEndpoint")
        self.dictation.text_received('{"t": "finalize"}')
        self.dictation.text_received('{"t": "finalize"}')
        self.dictation.binary_received(b"too late")
        self.assertEqual((b"abcd", [KEEP_ALIVE, CLOSE_STREAM]), (self.far.sound, self.far.texts))
        self.says("TranscriptText", data="now")
        self.dictation.connection_ended(True)
        told = [(each.get("text"), each.get("final")) for each in self.page.told[1:-1]]
        self.assertEqual(
            [
                ("run the", False),
                ("run the tests", False),
                ("run the tests", True),
                ("run the tests now", False),
                ("run the tests now", True),
            ],
            told,
        )
        self.assertEqual(CLOSED, self.page.told[-1])
        self.over(1000)

    def test_remaining_text_is_awaited_for_a_limited_time(self) -> None:
        self.connect()
        self.says("TranscriptInterim", data="half")
        self.dictation.text_received('{"t":"finalize"}')
        self.clock.advance(REST_SECONDS - 0.1)
        self.assertIsNone(self.page.ended)
        self.clock.advance(0.1)
        self.assertEqual(
            [{"t": "transcript", "text": "half", "final": True}, CLOSED], self.page.told[-2:]
        )
        self.assertTrue(self.far.gone)
        self.over(1000)

    def test_dictation_finished_before_the_connection_opens_is_transcribed(self) -> None:
        """A short word and the key is up again: it is said all the same."""
        self.dictation.binary_received(b"ab")
        self.dictation.text_received('{"t":"finalize"}')
        self.clock.advance(REST_SECONDS + 1)
        self.assertIsNone(self.page.ended)
        self.connect()
        self.assertEqual((b"ab", [KEEP_ALIVE, CLOSE_STREAM]), (self.far.sound, self.far.texts))
        self.clock.advance(REST_SECONDS)
        self.over(1000)

    def test_stop_ends_the_dictation_immediately(self) -> None:
        self.connect()
        self.dictation.text_received('{"t":"stop"}')
        self.assertEqual([READY, CLOSED], self.page.told)
        self.assertTrue(self.far.gone)
        self.over(1000)

    def test_stop_before_the_connection_opens_cancels_it(self) -> None:
        self.dictation.text_received('{"t":"stop"}')
        self.assertTrue(self.made[0].called, "it is not tried any longer")
        self.assertEqual([CLOSED], self.page.told)
        self.over(1000)

    def test_dictation_ends_after_five_minutes(self) -> None:
        self.connect()
        self.says("TranscriptInterim", data="and so on")
        for _ in range(STREAM_SECONDS):
            self.clock.advance(1)
        told = self.page.told[-2:]
        self.assertEqual([{"t": "transcript", "text": "and so on", "final": True}, CLOSED], told)
        kept = [text for text in self.far.texts if text == KEEP_ALIVE]
        self.assertEqual(1 + (STREAM_SECONDS - 1) // KEEP_ALIVE_SECONDS, len(kept))
        self.over(1000)

    def test_closed_page_ends_the_dictation(self) -> None:
        self.connect()
        self.dictation.socket_closed(1006)
        self.assertTrue(self.far.gone)
        self.assertEqual(set(), self.voice.under_way)
        self.assertEqual([], self.clock.getDelayedCalls())
        self.dictation.connection_ended(False)
        self.dictation.sending_resumed()
        self.assertEqual([READY], self.page.told)

    def test_dictations_at_a_time_are_limited(self) -> None:
        for _ in range(MAX_STREAMS - 1):
            self.assertIsNone(self.start()[1].ended)
        _, page, _ = self.start()
        self.assertEqual((4008, "too many dictations at a time; try again later"), page.ended)
        self.assertEqual(MAX_STREAMS, len(self.made))
        self.dictation.text_received('{"t":"stop"}')
        self.assertIsNone(self.start()[1].ended)

    def test_invalid_control_frame_closes_the_stream(self) -> None:
        for text in ("", "hi", "[]", "{}", '{"t": 1}', '{"t": "x"}', "[" * 900, '"' + "x" * 2000):
            self.dictation, self.page, self.far = self.start()
            self.connect()
            self.dictation.text_received(text)
            self.assertEqual(1003, (self.page.ended or (0,))[0], text)

    def test_switching_off_ends_the_dictation(self) -> None:
        self.connect()
        self.dictation.cancel()
        self.assertTrue(self.far.gone)
        self.over(4004, "disabled")


class DictationFaultTests(DictationCase):
    """What goes wrong at the far end."""

    def failed(self, words: str) -> None:
        self.assertEqual({"t": "error", "message": words}, self.page.told[-1])
        self.over(4004, words)

    def test_unanswered_connection_times_out(self) -> None:
        self.clock.advance(OPEN_SECONDS)
        self.failed("the speech service does not answer")

    def test_failed_connection_is_reported(self) -> None:
        self.made[0].errback(Failure(ConnectionRefusedError()))
        self.failed("the speech service could not be reached")

    def test_immediately_failed_connection_is_reported(self) -> None:
        self.at_once = ConnectionRefusedError()
        self.dictation, self.page, self.far = self.start()
        self.assertEqual(4004, (self.page.ended or (0,))[0])

    def test_forbidden_address_is_reported(self) -> None:
        self.made[0].errback(Failure(EgressRefused("must not be there")))
        self.failed("the speech service must not be there")
        self.refused = EgressRefused("must not be there")
        self.dictation, self.page, _ = self.start()
        self.failed("the address of the speech service must not be there")

    def test_refused_dictation_is_reported(self) -> None:
        self.made[0].callback(self.far)
        self.dictation.connection_ended(True)
        self.failed("the speech service refused the dictation")

    def test_lost_connection_is_reported(self) -> None:
        self.connect()
        self.dictation.connection_ended(False)
        self.failed("the speech service was lost")

    def test_clean_end_by_the_speech_service_closes_the_dictation(self) -> None:
        self.connect()
        self.says("TranscriptText", data="so far")
        self.dictation.connection_ended(True)
        self.assertEqual(
            [{"t": "transcript", "text": "so far", "final": True}, CLOSED], self.page.told[-2:]
        )
        self.over(1000)

    def test_transcript_error_is_passed_on_without_the_secret(self) -> None:
        self.connect()
        self.says("TranscriptError", description=f"bad {SECRET}")
        self.assertEqual({"t": "error", "message": "bad [redacted]"}, self.page.told[-1])
        self.assertIsNone(self.page.ended)

    def test_too_much_text_ends_the_dictation(self) -> None:
        self.connect()
        for _ in range(MAX_TEXT_LENGTH // 50_000):
            self.says("TranscriptText", data="x" * 50_000)
            self.says("TranscriptEndpoint")
        self.failed("the speech service sends too much text")


class PressureTests(DictationCase):
    """A side that does not keep up holds the other back, and nothing grows."""

    def test_stalled_speech_service_pauses_the_page(self) -> None:
        self.connect()
        self.dictation.buffer_filled()
        given = 0
        while not self.page.held:
            self.dictation.binary_received(b"x" * FRAME_BYTES)
            given += FRAME_BYTES
        self.assertEqual(QUEUE_BYTES, given)
        self.assertEqual(b"", self.far.sound)
        self.dictation.buffer_drained()
        self.assertFalse(self.page.held)
        self.assertEqual(given, len(self.far.sound))

    def test_audio_before_the_connection_opens_is_bounded(self) -> None:
        while not self.page.held:
            self.dictation.binary_received(b"x" * FRAME_BYTES)
        self.connect()
        self.assertEqual((False, QUEUE_BYTES), (self.page.held, len(self.far.sound)))

    def test_audio_is_held_when_the_connection_fills_during_the_flush(self) -> None:
        self.dictation.binary_received(b"a")
        self.dictation.binary_received(b"b")
        send = self.far.send_audio

        def full_after_one(sound: bytes) -> None:
            send(sound)
            self.dictation.buffer_filled()

        self.far.send_audio = full_after_one  # type: ignore[method-assign]
        self.connect()
        self.assertEqual(b"a", self.far.sound)
        self.dictation.buffer_drained()
        self.assertEqual(b"ab", self.far.sound)

    def test_stalled_speech_service_ends_the_dictation_after_the_limit(self) -> None:
        self.connect()
        self.dictation.buffer_filled()
        self.clock.advance(STALL_SECONDS - 1)
        self.dictation.buffer_drained()
        self.clock.advance(STALL_SECONDS)
        self.assertIsNone(self.page.ended)
        self.dictation.buffer_filled()
        kept = list(self.far.texts)
        self.clock.pump([1.0] * int(STALL_SECONDS))
        self.assertEqual(kept, self.far.texts, "what keeps it alive is not stored up either")
        self.over(4004, "the speech service accepts no speech")

    def test_stalled_page_pauses_the_speech_service(self) -> None:
        self.connect()
        self.dictation.sending_paused()
        self.assertTrue(self.far.held)
        for words in ("a", "a b", "a b c"):
            self.says("TranscriptText", data=words)
        self.assertEqual([READY], self.page.told)
        self.dictation.sending_resumed()
        self.assertFalse(self.far.held)
        shown = {"t": "transcript", "text": "a b c", "final": False}
        self.assertEqual([READY, shown], self.page.told)
