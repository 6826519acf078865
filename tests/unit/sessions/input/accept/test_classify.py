"""What is a prompt and what are raw bytes (protocol-prompts)."""

from __future__ import annotations

import sys
import unicodedata

from twisted.trial.unittest import SynchronousTestCase

from tservice.sessions.input.accept.classify import looks_like_prompt, sanitize_prompt

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

    def test_other_controls_are_removed_from_a_prompt(self) -> None:
        everything = "".join(EVERY)
        kept = "".join(c for c in EVERY if c not in self.controls)
        self.assertEqual(kept.replace("\r", "\n"), sanitize_prompt(f"{everything}\r"))
