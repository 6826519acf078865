"""The key file, and messages that only the browser can read."""

from __future__ import annotations

import base64
import json
import stat
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from http_ece import ECEException
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.push.push_browsers import PushBrowser, counted_bytes
from tservice.core.kernel.errors import StartError
from tservice.push.keys import FILE_NAME, load_push_key
from tservice.push.model import LIFETIME_SECONDS, PushNote, decode_base64url

NOTE = PushNote(kind="permission_prompt", session_id="s1", session_name="build")


class PushKeyFileTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).absolute()
        self.folder.mkdir()
        self.path = self.folder / FILE_NAME

    def test_push_key_is_created_once_and_private(self) -> None:
        made = load_push_key(self.folder, counted_bytes)
        self.assertEqual(0o600, stat.S_IMODE(self.path.stat().st_mode))
        again = load_push_key(self.folder, self.never)
        self.assertEqual(made.public_point, again.public_point)
        point = decode_base64url(made.public_point)
        self.assertEqual((65, 4), (len(point), point[0]))
        self.assertNotIn("=", made.public_point)

    def never(self, size: int) -> bytes:
        raise AssertionError("the key is there already")

    def test_invalid_key_numbers_are_drawn_again(self) -> None:
        drawn = iter([b"\0" * 32, b"\xff" * 32, counted_bytes(32)])
        made = load_push_key(self.folder, lambda size: next(drawn))
        self.assertEqual(made.public_point, load_push_key(self.folder, self.never).public_point)
        self.assertEqual([], list(drawn))

    def test_foreign_key_file_is_refused_and_kept(self) -> None:
        for content in ("", "short", "!" * 43, base64.urlsafe_b64encode(b"\0" * 32).decode()):
            self.path.write_text(content)
            self.path.chmod(0o600)
            self.assertIn(
                FILE_NAME,
                str(self.assertRaises(StartError, load_push_key, self.folder, counted_bytes)),
            )
            self.assertEqual(content, self.path.read_text())

    def test_key_file_readable_by_others_is_refused(self) -> None:
        load_push_key(self.folder, counted_bytes)
        self.path.chmod(0o644)
        self.assertRaises(StartError, load_push_key, self.folder, counted_bytes)


class SealTests(SynchronousTestCase):
    def setUp(self) -> None:
        folder = Path(self.mktemp()).absolute()
        folder.mkdir()
        self.key = load_push_key(folder, counted_bytes)
        self.browser = PushBrowser("https://push.example.org:8443/send/abc")
        self.sealed = self.key.encrypt_note(self.browser.subscription(), NOTE, 1000.5)

    def test_browser_decrypts_the_message(self) -> None:
        self.assertEqual(json.loads(NOTE.make_payload()), self.browser.read(self.sealed.body))
        self.assertNotIn(b"build", self.sealed.body)

    def test_another_browser_cannot_decrypt_the_message(self) -> None:
        other = PushBrowser("https://other.example.org/x")
        self.assertRaises(ECEException, other.read, self.sealed.body)

    def test_equal_messages_are_sealed_differently(self) -> None:
        again = self.key.encrypt_note(self.browser.subscription(), NOTE, 1000.5)
        self.assertNotEqual(self.sealed.body, again.body)

    def claims(self) -> tuple[dict[str, Any], str]:
        """The token's claims, checked with the service's public key as a push service does."""
        scheme, _, rest = self.sealed.headers["Authorization"].partition(" ")
        self.assertEqual("vapid", scheme)
        fields = dict(part.strip().split("=", 1) for part in rest.split(","))
        self.assertEqual(self.key.public_point, fields["k"])
        head, body, signature = fields["t"].split(".")
        raw = decode_base64url(signature)
        public = ec.EllipticCurvePublicKey.from_encoded_point(
            ec.SECP256R1(), decode_base64url(self.key.public_point)
        )
        dss = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
        public.verify(dss, f"{head}.{body}".encode(), ec.ECDSA(SHA256()))
        return json.loads(decode_base64url(body)), fields["t"]

    def test_token_is_signed_for_the_push_service_only(self) -> None:
        claims, _ = self.claims()
        self.assertEqual(
            {
                "aud": "https://push.example.org:8443",
                "exp": 1000 + LIFETIME_SECONDS,
                "sub": "mailto:a@example.org",
            },
            claims,
        )

    def test_request_has_the_push_headers(self) -> None:
        headers = self.sealed.headers
        self.assertEqual("aes128gcm", headers["Content-Encoding"])
        self.assertEqual(str(LIFETIME_SECONDS), headers["TTL"])
        self.assertEqual("high", headers["Urgency"])
        self.assertEqual(NOTE.topic, headers["Topic"])

    def test_message_that_can_wait_has_normal_urgency(self) -> None:
        note = PushNote(kind="stop", session_id="s1", session_name="build")
        sealed = self.key.encrypt_note(self.browser.subscription(), note, 0)
        self.assertEqual("normal", sealed.headers["Urgency"])

    def test_representation_hides_key_and_message(self) -> None:
        self.assertNotIn("vapid", repr(self.sealed))
