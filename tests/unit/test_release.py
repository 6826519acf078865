"""Releases: what they are built of, and the rules of what goes into them."""

from __future__ import annotations

import re

from twisted.trial.unittest import SynchronousTestCase

from tests.package_files import ROOT
from tools import commits

MOST_WORDS = 25


class FragmentTests(SynchronousTestCase):
    def test_each_change_is_one_sentence_of_at_most_25_words(self) -> None:
        for file in sorted((ROOT / "newsfragments").glob("*.*.rst")):
            with self.subTest(file.name):
                text = " ".join(file.read_text("utf-8").split())
                self.assertLessEqual(len(text.split()), MOST_WORDS)
                self.assertRegex(text, r"^[A-Z`].*\.$")
                self.assertEqual(1, len(re.split(r"(?<=[.!?])\s+(?=[A-Z])", text)), text)
                kind = file.name.split(".")[-2]
                self.assertIn(kind, {"feature", "bugfix", "removal", "doc", "misc"})


class CommitMessageTests(SynchronousTestCase):
    def test_a_good_message_has_no_fault(self) -> None:
        self.assertIsNone(commits.find_fault("mux: Speed up captures\n\nThey took 2 ms each.\n"))

    def test_each_fault_is_named(self) -> None:
        for message, part in (
            ("Fix it\n\nWhy", "form"),
            ("mux: Fix it.\n\nWhy", "form"),
            ("mux: fix it\n\nWhy", "form"),
            ("mux: Let a test pass\n\nWhy", "Let"),
            ("mux: Fixed a test\n\nWhy", "imperative"),
            ("mux: Fixing a test\n\nWhy", "imperative"),
            ("mux: Fix it\n", "body"),
            (f"mux: Fix {'x' * 72}\n\nWhy", "72"),
        ):
            with self.subTest(message):
                self.assertIn(part, commits.find_fault(message) or "")
