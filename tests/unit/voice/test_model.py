"""What a dictation is made from (protocol-voice)."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tservice.voice.model import (
    EXPIRY_SECONDS,
    KEYTERMS,
    DictatedText,
    DictationUnavailable,
    SpeechProvider,
    SpeechUpdate,
    parse_credentials,
    sanitize_error,
)
from tservice.voice.speech_dialects import DIALECTS

NOW = 1_800_000_000_000
LATER = NOW + 3_600_000


def file_of(**fields: Any) -> bytes:
    good = {"accessToken": "sk-ant-oat", "expiresAt": LATER, "subscriptionType": "max"}
    return json.dumps({"claudeAiOauth": {**good, **fields}}).encode()


class CredentialsTests(SynchronousTestCase):
    def reason(self, content: bytes | None) -> str:
        error: DictationUnavailable = self.assertRaises(
            DictationUnavailable, parse_credentials, content, NOW
        )
        return error.reason.value

    def test_valid_credentials_are_read(self) -> None:
        found = parse_credentials(file_of(), NOW)
        self.assertEqual(("sk-ant-oat", LATER, "max"), (
            found.token, found.expires_at, found.subscription_type
        ))  # fmt: skip
        self.assertNotIn("sk-ant-oat", repr(found))
        self.assertIsNone(parse_credentials(file_of(subscriptionType=5), NOW).subscription_type)

    def test_missing_credentials_are_reported(self) -> None:
        for content in (None, b"{}", b'{"claudeAiOauth": null}'):
            self.assertEqual("no-credentials", self.reason(content))

    def test_malformed_credentials_are_reported(self) -> None:
        for content in (
            b"", b"[]", b"{", b"\xff", b"[" * 20_000, b'{"claudeAiOauth": []}',
            file_of(accessToken=""), file_of(accessToken="a\r\nb: c"), file_of(accessToken=7),
            file_of(expiresAt="soon"), file_of(expiresAt=True), file_of(expiresAt=-1),
            file_of(expiresAt=float("nan")), file_of(expiresAt=1e300),
        ):  # fmt: skip
            self.assertEqual("malformed", self.reason(content), content[:60])

    def test_credentials_within_a_minute_of_expiry_are_expired(self) -> None:
        edge = NOW + EXPIRY_SECONDS * 1000
        self.assertEqual("expired", self.reason(file_of(expiresAt=edge)))
        self.assertEqual(edge + 1, parse_credentials(file_of(expiresAt=edge + 1), NOW).expires_at)

    @given(
        st.binary() | st.recursive(st.none() | st.text(), st.lists).map(lambda x: repr(x).encode())
    )
    def test_any_credentials_content_is_malformed_or_missing(self, content: bytes) -> None:
        self.assertIn(self.reason(content), ("malformed", "no-credentials"))


class TranscriptTests(SynchronousTestCase):
    def test_interim_text_is_replaced_until_final(self) -> None:
        said = DictatedText()
        for heard, text in (
            (SpeechUpdate(tail="run"), "run"),
            (SpeechUpdate(tail=" run the tests "), "run the tests"),
            (SpeechUpdate(is_final=True), "run the tests"),
            (SpeechUpdate(tail="and"), "run the tests and"),
            (SpeechUpdate(tail="then stop", is_final=True), "run the tests then stop"),
            (SpeechUpdate(tail="", is_final=True), "run the tests then stop"),
        ):
            said = said.apply_update(heard)
            self.assertEqual(text, said.text)

    def test_transcript_errors_are_one_short_line_without_the_secret(self) -> None:
        told = sanitize_error("bad\x1b[2J token\nsk-1 " + "x" * 1000, "sk-1")
        self.assertTrue(told.startswith("bad [2J token [redacted] xx"), told)
        self.assertEqual(300, len(told))


class DialectTests(SynchronousTestCase):
    def test_primary_dialect_builds_its_query(self) -> None:
        dialect = DIALECTS[SpeechProvider.PRIMARY]
        query = parse_qsl(dialect.build_query("de-CH", ["tmux", "a&b=c"]))
        self.assertEqual(
            [
                ("encoding", "linear16"),
                ("sample_rate", "16000"),
                ("channels", "1"),
                ("endpointing_ms", "300"),
                ("utterance_end_ms", "1000"),
                ("language", "de-CH"),
                ("keyterm", "tmux"),
                ("keyterm", "a&b=c"),
            ],
            query,
        )
        self.assertEqual({"Authorization": "Bearer s"}, dialect.build_headers("s"))
        many = parse_qsl(
            dialect.build_query("en", [f"t{number}" for number in range(KEYTERMS + 20)])
        )
        self.assertEqual(KEYTERMS, sum(name == "keyterm" for name, _ in many))

    def test_primary_dialect_parses_its_messages(self) -> None:
        heard = DIALECTS[SpeechProvider.PRIMARY].parse_update
        for kind in ("TranscriptText", "TranscriptInterim"):
            self.assertEqual(
                SpeechUpdate(tail="hi"), heard(b'{"type":"%b","data":"hi"}' % kind.encode())
            )
        self.assertEqual(SpeechUpdate(is_final=True), heard(b'{"type":"TranscriptEndpoint"}'))
        failed = heard(b'{"type":"TranscriptError","description":"no"}')
        self.assertEqual(SpeechUpdate(error="no"), failed)

    def test_third_party_dialect_parses_its_messages(self) -> None:
        dialect = DIALECTS[SpeechProvider.THIRD_PARTY]
        self.assertEqual({"Authorization": "Token k"}, dialect.build_headers("k"))
        self.assertIn(("interim_results", "true"), parse_qsl(dialect.build_query("en", [])))
        result = {"type": "Results", "channel": {"alternatives": [{"transcript": "hi"}]}}
        for final in (False, True):
            said = json.dumps({**result, "is_final": final}).encode()
            self.assertEqual(SpeechUpdate(tail="hi", is_final=final), dialect.parse_update(said))
        self.assertEqual(
            SpeechUpdate(tail=""), dialect.parse_update(b'{"type":"Results","channel":[]}')
        )
        self.assertIsNone(dialect.parse_update(b'{"type":"Metadata"}'))

    @given(st.binary() | st.sampled_from([b"[]", b"1", b'{"type": []}', b"[" * 20_000]))
    def test_any_message_is_parsed_without_error(self, message: bytes) -> None:
        for dialect in DIALECTS.values():
            self.assertIsNone(dialect.parse_update(message))
