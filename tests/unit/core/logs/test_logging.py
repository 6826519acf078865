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
    json_line,
    text_line,
)
from tservice.core.logs.redact import MARK, MOST_SECRETS, SecretRedactor


class RedactTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.redactor = SecretRedactor()

    def test_known_secrets_in_every_spelling(self) -> None:
        self.redactor.register_login("admin", "pass word/ü")
        for text in [
            "pass word/ü",
            "pass%20word%2F%C3%BC",
            base64.b64encode("admin:pass word/ü".encode()).decode(),
        ]:
            self.assertEqual(f"a {MARK} b", self.redactor.redact_text(f"a {text} b"))

    def test_a_longer_secret_goes_before_its_beginning(self) -> None:
        self.redactor.register_secret("secret")
        self.redactor.register_secret("secret-more")
        self.assertEqual(MARK, self.redactor.redact_text("secret-more"))

    def test_a_short_one_leaves_words_whole(self) -> None:
        self.redactor.register_secret("a")
        self.assertEqual(f"pass {MARK} at all", self.redactor.redact_text("pass a at all"))

    def test_forgetting(self) -> None:
        forget = self.redactor.register_secret("secret")
        self.redactor.register_secret("other")
        forget()
        forget()
        self.assertEqual(f"secret {MARK}", self.redactor.redact_text("secret other"))

    def test_an_empty_secret_hides_nothing(self) -> None:
        self.redactor.register_secret("")()
        self.assertEqual("text", self.redactor.redact_text("text"))

    def test_the_oldest_is_forgotten_at_the_bound(self) -> None:
        for number in range(MOST_SECRETS + 1):
            self.redactor.register_secret(f"secret-{number:04d}-")
        self.assertEqual("secret-0000-", self.redactor.redact_text("secret-0000-"))
        self.assertEqual(MARK, self.redactor.redact_text("secret-0001-"))

    def test_what_looks_like_a_secret(self) -> None:
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

    def test_a_long_word_is_no_work(self) -> None:
        """C{bench/hostile.py} measures it."""
        for word in ("a", "a.", "a://", "a:", "://a", "@"):
            self.assertEqual(word * 100_000, self.redactor.redact_text(word * 100_000))
        text = "a" * 100_000
        self.assertEqual(f"{text}://{MARK}@b", self.redactor.redact_text(f"{text}://me:word@b"))

    def test_ordinary_text_stays(self) -> None:
        for text in ["user@example.org", "http://127.0.0.1:8770/", "/queue/abcdef", "basic cable"]:
            self.assertEqual(text, self.redactor.redact_text(text))

    @given(st.text(max_size=20), st.text(min_size=4, max_size=20), st.text(max_size=20))
    def test_no_text_around_it_saves_a_secret(self, before: str, secret: str, after: str) -> None:
        redactor = SecretRedactor()
        redactor.register_secret(secret)
        cleaned = redactor.redact_text(before + secret + after)
        self.assertTrue(secret not in cleaned.replace(MARK, "\0") or secret in before + after)


class LineTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.redactor = SecretRedactor()

    def event(self, **fields: Any) -> dict[str, Any]:
        return {"log_time": 1_700_000_000.25, "log_namespace": "here", **fields}

    def text(self, **fields: Any) -> str:
        return text_line(self.event(**fields), self.redactor)

    def json(self, **fields: Any) -> dict[str, str]:
        line = json_line(self.event(**fields), self.redactor)
        self.assertEqual(1, line.count("\n"))
        found: dict[str, str] = json.loads(line)
        return found

    def test_text(self) -> None:
        line = self.text(log_format="{n} sessions", n=3)
        self.assertEqual("2023-11-14T22:13:20.250Z info     here: 3 sessions\n", line)

    def test_json(self) -> None:
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

    def test_text_from_outside_cannot_forge_a_line(self) -> None:
        line = self.text(log_format="{x}", x="a\n2023-11-14 forged\x1b[2J\u2028")
        self.assertEqual(1, len(line.splitlines()))
        self.assertIn(r"a\n2023-11-14 forged\x1b[2J\u2028", line)

    def test_a_traceback_is_indented_and_cleaned(self) -> None:
        self.redactor.register_secret("open sesame")
        failure = Failure(ValueError("open sesame"))
        line = self.text(log_format="it failed", log_failure=failure)
        self.assertIn("here: it failed\n    Traceback", line)
        self.assertNotIn("sesame", line)
        found = self.json(log_format=None, log_failure=failure)
        self.assertIn(MARK, found["traceback"])
        self.assertIn(f"ValueError: {MARK}", found["message"])

    def test_a_long_message_is_cut(self) -> None:
        found = self.json(log_format="{x}", x="y" * (LONGEST + 5))
        self.assertTrue(found["message"].endswith("y... (5 more characters)"))

    @given(st.text(max_size=200))
    def test_any_text_is_one_line_in_both_forms(self, text: str) -> None:
        line = self.text(log_format="{x}", x=text)
        self.assertEqual(1, len(line.splitlines()))
        line.encode("utf-8")
        self.assertEqual(text, self.json(log_format="{x}", x=text)["message"])


class FaultCountTests(SynchronousTestCase):
    def test_errors_and_worse_are_counted(self) -> None:
        faults = FaultCount()
        log = Logger(observer=faults)
        log.info("well")
        log.warn("hm")
        log.error("bad")
        log.critical("worse")
        faults({"log_format": "an event without a level"})
        self.assertEqual(2, faults.count)


class ObserverTests(SynchronousTestCase):
    def test_levels_below_the_least_are_left_out(self) -> None:
        out = io.StringIO()
        log = Logger(observer=LineObserver(out, "text", "warn", SecretRedactor()))
        log.info("quiet")
        log.warn("loud")
        log.critical("louder")
        self.assertEqual(2, len(out.getvalue().splitlines()))
        self.assertNotIn("quiet", out.getvalue())

    def test_an_event_without_a_level_counts_as_info(self) -> None:
        for level, lines in [("info", 1), ("warn", 0)]:
            out = io.StringIO()
            LineObserver(out, "json", level, SecretRedactor())({"log_time": 0.0, "log_format": "x"})
            self.assertEqual(lines, len(out.getvalue().splitlines()))


class LogFileTests(SynchronousTestCase):
    def test_reopening_goes_on_under_the_old_name(self) -> None:
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

    def test_a_second_run_appends(self) -> None:
        for word in ("one", "two"):
            log = LogFile(Path("t.log"))
            log.write(word)
            log.close()
        self.assertEqual("onetwo", Path("t.log").read_text())
