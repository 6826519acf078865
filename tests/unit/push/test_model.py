"""What may subscribe, and what is told."""

from __future__ import annotations

import json
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.event_helpers import make_event
from tests.unit.push.push_browsers import PushBrowser, base64url_text
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.push.model import (
    FALLBACK_SUBJECT,
    PushNote,
    Subscription,
    choose_contact,
    choose_session_name,
    decode_base64url,
    find_preference_key,
    make_subscription,
)

REFUSED = (
    "http://push.example.org/x",
    "ftp://push.example.org/x",
    "https://127.0.0.1/x",
    "https://2130706433/x",
    "https://0x7f.1/x",
    "https://10.1.2.3/x",
    "https://192.168.0.1/x",
    "https://169.254.169.254/latest",
    "https://93.184.216.34/x",
    "https://[::1]/x",
    "https://[::ffff:10.0.0.1]/x",
    "https://localhost/x",
    "https://intranet/x",
    "https://metadata.google.internal/x",
    "https://user:word@push.example.org/x",
    "https://push.example.org:0/x",
    "https://push.example.org\\@evil.example/",
    "push.example.org",
    "",
)


class PushSubscriptionTests(SynchronousTestCase):
    def make(self, **fields: Any) -> Subscription:
        body = PushBrowser().body
        given: dict[str, Any] = {"endpoint": body["endpoint"], **body["keys"], **fields}
        return make_subscription(
            given["endpoint"],
            given["p256dh"],
            given["auth"],
            owner="ann",
            origin=given.get("origin"),
            at=7,
        )

    def refusal(self, **fields: Any) -> str:
        error: ServiceError = self.assertRaises(ServiceError, self.make, **fields)
        self.assertEqual(ErrorCode.INVALID_INPUT, error.code)
        return error.message

    def test_valid_subscription_is_read(self) -> None:
        made = self.make(origin="https://desk.example.org:8443")
        self.assertEqual(("ann", 7), (made.owner, made.created_at))
        self.assertEqual("https://desk.example.org", made.subject)

    def test_targets_out_of_bounds_are_refused(self) -> None:
        for endpoint in REFUSED:
            message = self.refusal(endpoint=endpoint)
            self.assertTrue(message.startswith("endpoint: "), endpoint)
            self.assertNotIn("/latest", message)

    def test_malformed_keys_are_refused(self) -> None:
        point = PushBrowser().point
        for wrong in ("", "!!", base64url_text(point[:-1]), base64url_text(point + b"0"),
                      base64url_text(b"\x02" + point[1:]),
                      base64url_text(b"\x04" + bytes(64)),
                      base64url_text(point[:-1] + bytes([point[-1] ^ 1])),
                      base64url_text(b"\x04" + b"\xff" * 64)):  # fmt: skip
            self.assertIn("keys.p256dh", self.refusal(p256dh=wrong))
        for wrong in ("", "é", "a", base64url_text(b"0" * 15), base64url_text(b"0" * 17)):
            self.assertIn("keys.auth", self.refusal(auth=wrong))

    @given(st.integers(1, 2**250))
    def test_every_browser_key_is_accepted(self, secret: int) -> None:
        public = ec.derive_private_key(secret, ec.SECP256R1()).public_key()
        point = public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.assertEqual(base64url_text(point), self.make(p256dh=base64url_text(point)).p256dh)

    def test_representation_hides_the_endpoint(self) -> None:
        self.assertNotIn("abc", repr(self.make()))

    def test_subject_is_the_https_origin(self) -> None:
        for origin in (None, "", "null", "http://a.example.org", "https://localhost", "https://a"):
            self.assertEqual(FALLBACK_SUBJECT, choose_contact(origin), origin)
        self.assertEqual("https://a.example", choose_contact("https://A.example"))

    @given(st.binary(max_size=80))
    def test_base64url_round_trips(self, data: bytes) -> None:
        self.assertEqual(data, decode_base64url(base64url_text(data)))


class NoteTests(SynchronousTestCase):
    def kind(self, name: str, **data: Any) -> str | None:
        return find_preference_key(make_event(name, session_id="s", **data))

    def test_events_have_their_message_kinds(self) -> None:
        wanted = {
            "permission": "permission_prompt",
            "question": "elicitation_dialog",
            "idle": "idle_prompt",
        }
        for kind, told in wanted.items():
            self.assertEqual(told, self.kind("approval:pending", kind=kind))
        self.assertEqual("stop", self.kind("session:stop"))
        self.assertEqual("exit", self.kind("session:exit", status=1))
        self.assertEqual("error", self.kind("session:error"))

    def test_other_events_send_no_message(self) -> None:
        for name in ("approval:updated", "approval:resolved"):
            self.assertIsNone(self.kind(name, kind="permission"))
        for name in ("session:idle", "session:terminal"):
            self.assertIsNone(self.kind(name))
        self.assertIsNone(self.kind("approval:pending", kind="new"))

    def test_payload_contains_only_name_and_kind(self) -> None:
        note = PushNote(kind="stop", session_id="s1", session_name="é" * 300)
        self.assertEqual(
            {"kind": "stop", "sessionId": "s1", "sessionName": "é" * 128},
            json.loads(note.make_payload()),
        )

    def test_payload_fits_one_record(self) -> None:
        """RFC 8291 allows one record of 4096 bytes, less what encryption takes."""
        note = PushNote(
            kind="permission_prompt", session_id="s" * 36, session_name="\U0001f600" * 200
        )
        self.assertLess(len(note.make_payload()), 3900)

    def test_topic_depends_on_the_session(self) -> None:
        one = PushNote(kind="stop", session_id="s1", session_name="a")
        same = PushNote(kind="exit", session_id="s1", session_name="b")
        other = PushNote(kind="stop", session_id="s2", session_name="a")
        self.assertEqual(one.topic, same.topic)
        self.assertNotEqual(one.topic, other.topic)
        self.assertRegex(one.topic, r"^[A-Za-z0-9_-]{32}$")

    def test_current_session_name_is_used(self) -> None:
        event = make_event("approval:pending", sessionName="old")
        self.assertEqual("new", choose_session_name(event, "new"))
        self.assertEqual("old", choose_session_name(event, None))
        self.assertEqual("", choose_session_name(make_event("session:exit"), None))
