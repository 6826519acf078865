"""What a report on a new version tells."""

from __future__ import annotations

import re

import pytest
from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.agents import recording_report

pytestmark = pytest.mark.essential

APPROVAL = "120x40_approval"


class ReportTests(SynchronousTestCase):
    """On the recorded screens, some of them changed by hand."""

    def test_the_same_screens_differ_in_nothing(self) -> None:
        old = recording_report.known_screens("codex")
        self.assertIn(APPROVAL, old)
        self.assertEqual([], recording_report.compare_screens("codex", old, old))

    def test_other_words_are_told(self) -> None:
        old = recording_report.known_screens("codex")
        changed = old[APPROVAL].data.replace(b"Yes, proceed", b"Go on")
        (line,) = recording_report.compare_screens(
            "codex", old, {APPROVAL: evolve(old[APPROVAL], data=changed)}
        )
        self.assertRegex(line, re.escape("options: ['Yes, proceed (y)'"))
        self.assertIn("'Go on (y)'", line)

    def test_a_dialog_that_is_not_read_any_more(self) -> None:
        old = recording_report.known_screens("gemini")
        changed = old["120x40_ready"].data
        lines = recording_report.compare_screens(
            "gemini", old, {APPROVAL: evolve(old[APPROVAL], data=changed)}
        )
        self.assertIn(f"{APPROVAL}: kind: 'permission' -> None", lines)

    def test_a_screen_that_nobody_knows(self) -> None:
        sight = recording_report.known_screens("pi")["120x40_ready"]
        (line,) = recording_report.compare_screens("pi", {}, {"new": sight})
        self.assertTrue(line.startswith("new: not among the known screens"), line)
