"""A speech service on loopback, and a microphone's file to compare what it hears with."""

from __future__ import annotations

import json
import math
import struct
import threading
import wave
from array import array
from pathlib import Path
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import Server, ServerConnection, serve

TONES = ((310, 0.25), (1130, 0.2), (2710, 0.15), (5290, 0.1))
"""Hertz and height.  All are multiples of 10: a tenth of a second repeats without a seam."""
FILE_RATE, RATE, PERIOD = 48_000, 16_000, 0.1


def sound_at(seconds: float) -> float:
    """What the microphone's file holds at a moment."""
    return math.fsum(height * math.sin(2 * math.pi * hertz * seconds) for hertz, height in TONES)


def write_sound(path: Path) -> None:
    """A minute: Chromium loses some of it where it begins again."""
    samples = array("h", (round(32767 * sound_at(n / FILE_RATE)) for n in range(FILE_RATE)))
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(FILE_RATE)
        file.writeframes(samples.tobytes() * 60)


def audio_difference(pcm: bytes) -> tuple[float, float]:
    """How far what was heard is from the file, wherever in it the hearing began.

    @return: the worst sample's distance, full scale being 1; and the noise in dB below the sound.
    """
    heard = [sample / 32768 for sample in struct.unpack(f"<{len(pcm) // 2}h", pcm)]
    table = [sound_at(n / FILE_RATE) for n in range(round(FILE_RATE * PERIOD))]
    step = FILE_RATE // RATE

    def off(start: int) -> float:
        return math.fsum(
            (heard[n] - table[(start + step * n) % len(table)]) ** 2 for n in range(0, 400, 2)
        )

    begin = min(range(len(table)), key=off) / FILE_RATE
    errors = _errors(heard, _finer(heard, begin))
    noise = sum(error * error for error in errors) / len(errors)
    power = sum(height * height / 2 for _, height in TONES)
    return max(map(abs, errors)), 10 * math.log10(power / noise)


def _errors(heard: list[float], begin: float) -> list[float]:
    return [sample - sound_at(begin + n / RATE) for n, sample in enumerate(heard)]


def _finer(heard: list[float], begin: float) -> float:
    """The moment between two samples of the file at which the hearing began."""
    low, high = begin - 1 / FILE_RATE, begin + 1 / FILE_RATE
    for _ in range(30):
        third = (high - low) / 3
        left, right = (
            sum(error**2 for error in _errors(heard[:800], at))
            for at in (low + third, high - third)
        )
        low, high = (low, high - third) if left < right else (low + third, high)
    return (low + high) / 2


class SpeechService:
    """Notes what it hears, and says how much it was; at the end, what its test wants.

    @ivar sound: of the last dictation.
    @ivar asked: path and headers of each.
    @ivar last: the words at the end.
    """

    def __init__(self) -> None:
        self.sound = bytearray()
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.last = "run the tests"
        self._server: Server = serve(self._talk, "127.0.0.1", 0, compression=None)
        self.url = f"ws://127.0.0.1:{self._server.socket.getsockname()[1]}/voice"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    @property
    def heard(self) -> bytes:
        """The sound without the silence before it: on a busy machine a microphone begins late."""
        sound = bytes(self.sound)
        silent = len(sound) - len(sound.lstrip(b"\0"))
        return sound[silent - silent % 2 :]

    def _talk(self, connection: ServerConnection) -> None:
        request: Any = connection.request
        self.asked.append((request.path, dict(request.headers.raw_items())))
        self.sound.clear()
        try:
            for message in connection:
                self._hear(connection, message)
        except ConnectionClosed:
            """The page left."""

    def _hear(self, connection: ServerConnection, message: str | bytes) -> None:
        if isinstance(message, bytes):
            self.sound += message
            tenths = len(self.sound) // (2 * RATE // 10)
            said = {"type": "TranscriptInterim", "data": f"heard {tenths}"}
            connection.send(json.dumps(said))
        elif json.loads(message)["type"] == "CloseStream":
            connection.send(json.dumps({"type": "TranscriptText", "data": self.last}))
            connection.send(json.dumps({"type": "TranscriptEndpoint"}))
            connection.close()

    def close(self) -> None:
        """End it, and every line."""
        self._server.shutdown()
        self._thread.join()
