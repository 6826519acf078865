"""Decision about what is a prompt and what are raw bytes (protocol-prompts)."""

from __future__ import annotations

import sys
import unicodedata

from twisted.trial.unittest import SynchronousTestCase

from tests.unit.sessions.input.harness import InputCase
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.sessions import service
from tservice.sessions.input.accept import classify
from tservice.sessions.input.accept.classify import (
    looks_like_prompt,
    refuse_control_characters,
    sanitize_prompt,
)

EVERY = [chr(code) for code in range(sys.maxunicode + 1)]


class PromptControlCharacterTests(SynchronousTestCase):
    """Which characters are text, of all that there are."""

    def setUp(self) -> None:
        super().setUp()
        self.controls = {c for c in EVERY if unicodedata.category(c) == "Cc"} - set("\n\t\r")

    def test_only_text_controls_make_a_prompt(self) -> None:
        for character in self.controls:
            self.assertFalse(looks_like_prompt(f"a{character}b\r"), ascii(character))
        self.assertTrue(looks_like_prompt("a\n\t\r\nb\r"))

    def test_prompt_with_other_controls_is_refused(self) -> None:
        for character in self.controls:
            for text, use_mux in ((f"a {character} b\r", None), (f"a{character}", True)):
                error = self.assertRaises(ServiceError, refuse_control_characters, text, use_mux)
                self.assertEqual(ErrorCode.INVALID_INPUT, error.code)
                self.assertTrue(error.message.startswith("input: "), error.message)
            refuse_control_characters(f"a{character}b\r", False)
        for line in ("\x1b[31mred\x1b[0m\r", "\x1b]0;title\x07text\r", "y\x03\r"):
            self.assertRaises(ServiceError, refuse_control_characters, line, None)

    def test_text_keys_and_pastes_are_accepted(self) -> None:
        keys = (
            "\r",
            "\x03",
            "\x1b[A",
            "\x1b[B\r",
            "\x1b\r",
            "\x1bOA\x1b[1;5D\r",
            "\x01\x0b\r",
            "ls\x03",
        )
        for text in ("", "a\n\tb\r\nc\r", "\x1b[200~a paste\x1b[201~\r", *keys):
            refuse_control_characters(text, None)
        for text in ("a\n\tb", "a\r"):
            refuse_control_characters(text, True)

    def test_other_controls_are_removed_from_a_prompt(self) -> None:
        everything = "".join(EVERY)
        kept = "".join(c for c in EVERY if c not in self.controls)
        self.assertEqual(kept.replace("\r", "\n"), sanitize_prompt(f"{everything}\r"))


class SingleClassificationTests(InputCase):
    """The kind of an input is decided when it is accepted, and not again."""

    def test_input_is_classified_once(self) -> None:
        seen: list[str] = []

        def notes(text: str) -> bool:
            seen.append(text)
            return looks_like_prompt(text)

        self.patch(classify, "looks_like_prompt", notes)
        self.type(self.agent_session, "hello\r")
        self.spend(30)
        self.assertEqual(["hello"], self.agent.prompts)
        self.type(self.shell_session, "ls\r")
        self.type(self.shell_session, "\x03")
        self.spend(30)
        self.assertEqual(["hello\r", "ls\r", "\x03"], seen)

    def test_raw_bytes_need_no_composer_rules(self) -> None:
        asked: list[str] = []
        self.patch(service, "find_composer", lambda clis, mode: asked.append(mode))
        self.type(self.agent_session, "\x1b[A", use_mux=False)
        self.spend(1)
        self.assertIn(b"\x1b[A", self.pane(self.agent_session).typed)
        self.assertEqual([], asked)
