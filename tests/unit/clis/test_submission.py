"""What is typed of a prompt, so that the composer shows it as it was typed."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tservice.clis.stock_entries import load_stock_entries


class FittedPromptTests(SynchronousTestCase):
    """L{SubmissionRules.fit_text}, by the rules of the stock entries."""

    def fit(self, mode: str, text: str) -> str:
        return load_stock_entries()[mode].capabilities.submission.fit_text(text)

    def test_leading_line_ends_are_left_out_where_the_composer_drops_them(self) -> None:
        self.assertEqual("a\n\nb", self.fit("codex", "\n\na\n\nb"))
        self.assertEqual("\n\na", self.fit("primary", "\n\na"))

    def test_blank_follows_what_enter_would_complete(self) -> None:
        for mode, text in (("codex", "see @file"), ("primary", "see @file"), ("primary", "a\\")):
            self.assertEqual(f"{text} ", self.fit(mode, text))
        self.assertEqual("a\\", self.fit("codex", "a\\"))
