"""Dictation through the whole service: who may, and why not (protocol-voice)."""

from __future__ import annotations

import json
import os
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.security.harness import SOON, SecurityAnswer, SecurityHarness
from tests.unit.http.site_driver import MemoryTransport, SiteConnection, request_head
from tests.unit.http.websockets.ws_frames import BINARY, UPGRADE, masked_frame, read_frames
from tservice.voice.model import CREDENTIALS_BYTES, FRAME_BYTES

LATER = int(SOON * 1000) + 3_600_000
STREAM = "/ws/voice/stream"
DEFLATE = {"Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits"}


class VoiceTests(SynchronousTestCase):
    world: SecurityHarness

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.world = SecurityHarness()
        cls.addClassCleanup(cls.world.close)
        cls.world.clock.nameResolver = SilentResolver()  # type: ignore[attr-defined]
        cls.world.populate()

    def setUp(self) -> None:
        self.file = self.world.folder / ".claude" / ".credentials.json"
        self.file.parent.mkdir(exist_ok=True)
        self.file.unlink(missing_ok=True)
        self.set(primaryVoiceEnabled=False, voiceSettings={"provider": "auto", "apiKey": ""})

    def set(self, **settings: Any) -> None:
        self.world.good("root", "PUT", "/api/settings", {"primaryVoiceEnabled": True, **settings})

    def sign(self, **fields: Any) -> None:
        found = {"accessToken": "sk-oat", "expiresAt": LATER, "subscriptionType": "max", **fields}
        self.file.write_text(json.dumps({"claudeAiOauth": found}))

    def status(self) -> Any:
        return self.world.good("ann", "GET", "/api/v1/voice/status")

    def stream(self, query: str = "", name: str = "ann", **headers: str) -> SecurityAnswer:
        sent = {"Cookie": self.world.cookies[name], **headers}
        return self.world.ask("GET", STREAM + query, headers=sent, socket=True)

    def test_voice_switched_off_refuses_status_and_stream(self) -> None:
        self.sign()
        self.assertEqual({"available": False, "reason": "disabled"}, self.status())
        self.assertEqual(4004, self.stream().code)
        self.assertEqual(4004, self.stream("?language=nonsense!").code, "before all else")
        cookie = {"Cookie": self.world.cookies["ann"]}
        plain = self.world.ask("GET", STREAM, headers=cookie)
        self.assertEqual((403, "FORBIDDEN"), (plain.status, plain.error))
        self.assertIn("primaryVoiceEnabled", plain.body)

    def test_credentials_of_the_primary_cli_are_used(self) -> None:
        self.set()
        for reason in ("no-credentials", "expired", "malformed"):
            if reason == "expired":
                self.sign(expiresAt=int(SOON * 1000))
            elif reason == "malformed":
                self.file.write_text("{")
            self.assertEqual({"available": False, "reason": reason}, self.status())
            self.assertEqual(4004, self.stream().code, reason)
        self.sign()
        told = self.status()
        self.assertEqual({"available": True, "subscriptionType": "max", "expiresAt": LATER}, told)

    def test_invalid_credentials_files_are_reported(self) -> None:
        self.set()
        for make in (
            lambda: os.mkfifo(self.file),
            self.file.mkdir,
            lambda: self.file.write_bytes(b" " * (CREDENTIALS_BYTES + 1)),
        ):
            make()
            self.assertEqual("malformed", self.status()["reason"])
            self.file.rmdir() if self.file.is_dir() else self.file.unlink()

    def test_provider_follows_credentials_and_settings(self) -> None:
        key = {"apiKey": "dg-key"}
        for signed, voice, told in (
            (False, {"provider": "third_party"}, {"available": False, "reason": "no-credentials"}),
            (False, {"provider": "auto", **key}, {"available": True}),
            (False, {"provider": "third_party"}, {"available": True}),
            (False, {"provider": "primary"}, {"available": False, "reason": "no-credentials"}),
            (True, {"provider": "browser"}, {"available": False, "reason": "disabled"}),
            (True, {"provider": "third_party"}, {"available": True}),
            (True, {"provider": "auto"}, None),
        ):
            if signed:
                self.sign()
            self.set(voiceSettings=voice)
            found = self.status()
            if told is None:
                self.assertEqual("max", found["subscriptionType"], "both: the primary one")
            else:
                self.assertEqual(told, found, voice)

    def test_foreign_origin_is_closed_by_code(self) -> None:
        """Before any credential is looked at: none is shown here."""
        self.set()
        self.sign()
        for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}):
            answer = self.world.ask("GET", STREAM, headers=headers, socket=True)
            self.assertEqual((101, 4003), (answer.status, answer.code), headers)
            other = self.world.ask("GET", "/ws/nothing", headers=headers, socket=True)
            self.assertEqual(403, other.status)
        plain = self.world.ask("GET", STREAM, headers={"Host": "evil.example"})
        self.assertEqual(403, plain.status, "no upgrade")
        stranger = self.world.ask("GET", STREAM, socket=True)
        self.assertEqual(401, stranger.status)

    def test_invalid_query_values_are_refused(self) -> None:
        self.set()
        self.sign()
        for query in ("language=english!", "language=e", "keyterms=" + "x" * 65):
            answer = self.stream(f"?{query}")
            self.assertEqual(400, answer.status, query)
            self.assertIn(query.partition("=")[0], answer.body)

    def open(self, name: str = "ann") -> SiteConnection:
        connection = SiteConnection(self.world.site, MemoryTransport(self.world.address()))
        self.addCleanup(connection.lose)
        shown = {"Cookie": self.world.cookies[name], **DEFLATE, **UPGRADE}
        connection.send(request_head("GET", STREAM, shown))
        top, _, rest = connection.value().partition(b"\r\n\r\n")
        self.assertIn(b"101 ", top)
        self.assertNotIn(b"deflate", top, "a little on the wire must stay a little")
        connection.transport.clear()
        connection.transport.write(rest)
        return connection

    def test_oversized_audio_frames_close_the_stream(self) -> None:
        """One more byte than may be; in one piece, and in two."""
        self.set()
        self.sign()
        for pieces in ([b"x" * (FRAME_BYTES + 1)], [b"x" * FRAME_BYTES, b"x"]):
            connection = self.open()
            connection.send(masked_frame(BINARY, b"x" * FRAME_BYTES))
            self.assertEqual(b"", connection.value())
            first, *more = pieces
            connection.send(masked_frame(BINARY, first, first=0 if more else 0x80))
            for piece in more:
                connection.send(masked_frame(0, piece))
            self.world.clock.advance(0)
            (close,) = read_frames(connection.value())
            self.assertEqual(1003, close.code)
            connection.lose()

    def test_streams_of_one_account_leave_room_for_others(self) -> None:
        self.sign()
        self.set()
        asked = ["ann", "ann", "ann", "bob", "root", "root"]
        open_ones = [self.open(name) for name in asked]
        told = [[each.code for each in read_frames(one.value())] for one in open_ones]
        self.assertEqual([[], [], [4008], [], [], [4008]], told)
        open_ones[0].lose()
        self.assertEqual(b"", self.open("ann").value())

    def test_switching_off_closes_running_streams(self) -> None:
        self.set()
        self.sign()
        connection = self.open()
        self.set(displayName="mine")
        self.assertEqual(b"", connection.value())
        self.set(primaryVoiceEnabled=False)
        (close,) = read_frames(connection.value())
        self.assertEqual((4004, b"disabled"), (close.code, close.payload[2:]))


class SilentResolver:
    """A name server that never answers."""

    def resolveHostName(self, receiver: Any, *rest: Any) -> None:
        """Nothing comes of it."""
