"""Log lines: their form, their bounds, and what must never be in them."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from tservice.core.logs.lines import (
    LONGEST,
    FaultCount,
    LineObserver,
    LogFile,
    format_json_line,
    format_text_line,
)
from tservice.core.logs.redact import MARK, MOST_SECRETS, SecretRedactor


class RedactTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.redactor = SecretRedactor()

    def test_known_secrets_are_redacted_in_every_spelling(self) -> None:
        self.redactor.register_login("admin", "pass word/ü")
        for text in [
            "pass word/ü",
            "pass%20word%2F%C3%BC",
            base64.b64encode("admin:pass word/ü".encode()).decode(),
        ]:
            self.assertEqual(f"a {MARK} b", self.redactor.redact_text(f"a {text} b"))

    def test_longer_secret_is_redacted_before_its_prefix(self) -> None:
        self.redactor.register_secret("secret")
        self.redactor.register_secret("secret-more")
        self.assertEqual(MARK, self.redactor.redact_text("secret-more"))

    def test_short_secret_is_redacted_only_as_a_word(self) -> None:
        self.redactor.register_secret("a")
        self.assertEqual(f"pass {MARK} at all", self.redactor.redact_text("pass a at all"))

    def test_forgotten_secret_is_no_longer_redacted(self) -> None:
        forget = self.redactor.register_secret("secret")
        self.redactor.register_secret("other")
        forget()
        forget()
        self.assertEqual(f"secret {MARK}", self.redactor.redact_text("secret other"))

    def test_empty_secret_redacts_nothing(self) -> None:
        self.redactor.register_secret("")()
        self.assertEqual("text", self.redactor.redact_text("text"))

    def test_oldest_secret_is_forgotten_at_the_bound(self) -> None:
        for number in range(MOST_SECRETS + 1):
            self.redactor.register_secret(f"secret-{number:04d}-")
        self.assertEqual("secret-0000-", self.redactor.redact_text("secret-0000-"))
        self.assertEqual(MARK, self.redactor.redact_text("secret-0001-"))

    def test_texts_that_look_like_secrets_are_redacted(self) -> None:
        for text, want in [
            ("Authorization: Basic YWRtaW46eA==", f"Authorization: Basic {MARK}"),
            ("{'authorization': 'Bearer abc.def'}", f"{{'authorization': 'Bearer {MARK}'}}"),
            ("X-Service-Hook-Secret: 0123abc", f"X-Service-Hook-Secret: {MARK}"),
            ("Cookie: service_session=abc; x=y", f"Cookie: service_session={MARK}; x=y"),
            ("X-Service-Key: qr-0123abc", f"X-Service-Key: {MARK}"),
            (f"Location: /#key={'0a' * 32}", f"Location: /#key={MARK}"),
            (f"tservice, key.{'0a' * 32}", f"tservice, key.{MARK}"),
            (f"tservice, key.qr-{'0a' * 32}", f"tservice, key.qr-{MARK}"),
            ("https://me:word@example.org/x", f"https://{MARK}@example.org/x"),
            ("GET /q/aB3dE6 404", f"GET /q/{MARK} 404"),
            ("/webview/0123456789abcdefXYZ_-/x", f"/webview/{MARK}/x"),
        ]:
            self.assertEqual(want, self.redactor.redact_text(text))

    def test_long_word_is_cleaned_quickly(self) -> None:
        """C{bench/hostile.py} measures it."""
        for word in ("a", "a.", "a://", "a:", "://a", "@"):
            self.assertEqual(word * 100_000, self.redactor.redact_text(word * 100_000))
        text = "a" * 100_000
        self.assertEqual(f"{text}://{MARK}@b", self.redactor.redact_text(f"{text}://me:word@b"))

    def test_ordinary_text_is_not_redacted(self) -> None:
        for text in ["user@example.org", "http://127.0.0.1:8770/", "/queue/abcdef", "basic cable"]:
            self.assertEqual(text, self.redactor.redact_text(text))

    @given(st.text(max_size=20), st.text(min_size=4, max_size=20), st.text(max_size=20))
    def test_secret_is_redacted_in_any_context(self, before: str, secret: str, after: str) -> None:
        redactor = SecretRedactor()
        redactor.register_secret(secret)
        cleaned = redactor.redact_text(before + secret + after)
        self.assertTrue(secret not in cleaned.replace(MARK, "\0") or secret in before + after)


class LogLineTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.redactor = SecretRedactor()

    def event(self, **fields: Any) -> dict[str, Any]:
        return {"log_time": 1_700_000_000.25, "log_namespace": "here", **fields}

    def text(self, **fields: Any) -> str:
        return format_text_line(self.event(**fields), self.redactor)

    def json(self, **fields: Any) -> dict[str, str]:
        line = format_json_line(self.event(**fields), self.redactor)
        self.assertEqual(1, line.count("\n"))
        found: dict[str, str] = json.loads(line)
        return found

    def test_text_line_has_time_level_and_namespace(self) -> None:
        line = self.text(log_format="{n} sessions", n=3)
        self.assertEqual("2023-11-14T22:13:20.250Z info     here: 3 sessions\n", line)

    def test_json_line_has_time_level_and_event(self) -> None:
        self.assertEqual(
            {
                "time": "2023-11-14T22:13:20.250Z",
                "level": "info",
                "where": "here",
                "message": "ready\nnow",
                "event": "ready",
            },
            self.json(log_format="ready\n{x}", x="now", event="ready"),
        )

    def test_external_text_cannot_forge_a_line(self) -> None:
        line = self.text(log_format="{x}", x="a\n2023-11-14 forged\x1b[2J\u2028")
        self.assertEqual(1, len(line.splitlines()))
        self.assertIn(r"a\n2023-11-14 forged\x1b[2J\u2028", line)

    def test_traceback_is_indented_and_redacted(self) -> None:
        self.redactor.register_secret("open sesame")
        failure = Failure(ValueError("open sesame"))
        line = self.text(log_format="it failed", log_failure=failure)
        self.assertIn("here: it failed\n    Traceback", line)
        self.assertNotIn("sesame", line)
        found = self.json(log_format=None, log_failure=failure)
        self.assertIn(MARK, found["traceback"])
        self.assertIn(f"ValueError: {MARK}", found["message"])

    def test_long_message_is_truncated(self) -> None:
        found = self.json(log_format="{x}", x="y" * (LONGEST + 5))
        self.assertTrue(found["message"].endswith("y... (5 more characters)"))

    @given(st.text(max_size=200))
    def test_any_log_text_is_one_line_in_both_formats(self, text: str) -> None:
        line = self.text(log_format="{x}", x=text)
        self.assertEqual(1, len(line.splitlines()))
        line.encode("utf-8")
        self.assertEqual(text, self.json(log_format="{x}", x=text)["message"])


class FaultCountTests(SynchronousTestCase):
    def test_errors_and_critical_events_are_counted(self) -> None:
        faults = FaultCount()
        log = Logger(observer=faults)
        log.info("well")
        log.warn("hm")
        log.error("bad")
        log.critical("worse")
        faults({"log_format": "an event without a level"})
        self.assertEqual(2, faults.count)


class ObserverTests(SynchronousTestCase):
    def test_events_below_the_minimum_level_are_left_out(self) -> None:
        out = io.StringIO()
        log = Logger(observer=LineObserver(out, "text", "warn", SecretRedactor()))
        log.info("quiet")
        log.warn("loud")
        log.critical("louder")
        self.assertEqual(2, len(out.getvalue().splitlines()))
        self.assertNotIn("quiet", out.getvalue())

    def test_event_without_a_level_counts_as_info(self) -> None:
        for level, lines in [("info", 1), ("warn", 0)]:
            out = io.StringIO()
            LineObserver(out, "json", level, SecretRedactor())({"log_time": 0.0, "log_format": "x"})
            self.assertEqual(lines, len(out.getvalue().splitlines()))


class LogFileTests(SynchronousTestCase):
    def test_reopened_log_continues_under_the_old_name(self) -> None:
        path = Path(self.mktemp())
        log = LogFile(path)
        self.addCleanup(log.close)
        log.write("one\n")
        log.flush()
        old = path.rename(f"{path}.1")
        log.write("two\n")
        log.reopen()
        log.write("three\n")
        log.flush()
        self.assertEqual("one\ntwo\n", old.read_text())
        self.assertEqual("three\n", path.read_text())
        self.assertEqual(0o640, path.stat().st_mode & 0o777)

    def test_second_run_appends_to_the_log(self) -> None:
        for word in ("one", "two"):
            log = LogFile(Path("t.log"))
            log.write(word)
            log.close()
        self.assertEqual("onetwo", Path("t.log").read_text())
