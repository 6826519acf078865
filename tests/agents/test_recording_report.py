"""What a report on a new version tells."""

from __future__ import annotations

import re

import pytest
from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.agents import recording_report

pytestmark = pytest.mark.essential

APPROVAL = "120x40_approval"


class FreshRecordingReportTests(SynchronousTestCase):
    """On the recorded screens, some of them changed by hand."""

    def test_same_screens_report_no_difference(self) -> None:
        old = recording_report.known_screens("codex")
        self.assertIn(APPROVAL, old)
        self.assertEqual([], recording_report.compare_screens("codex", old, old))

    def test_changed_option_text_is_reported(self) -> None:
        old = recording_report.known_screens("codex")
        changed = old[APPROVAL].data.replace(b"Yes, proceed", b"Go on")
        (line,) = recording_report.compare_screens(
            "codex", old, {APPROVAL: evolve(old[APPROVAL], data=changed)}
        )
        self.assertRegex(line, re.escape("options: ['Yes, proceed (y)'"))
        self.assertIn("'Go on (y)'", line)

    def test_dialog_that_is_no_longer_recognized_is_reported(self) -> None:
        old = recording_report.known_screens("gemini")
        changed = old["120x40_ready"].data
        lines = recording_report.compare_screens(
            "gemini", old, {APPROVAL: evolve(old[APPROVAL], data=changed)}
        )
        self.assertIn(f"{APPROVAL}: kind: 'permission' -> None", lines)

    def test_unknown_screen_is_reported(self) -> None:
        sight = recording_report.known_screens("pi")["120x40_ready"]
        (line,) = recording_report.compare_screens("pi", {}, {"new": sight})
        self.assertTrue(line.startswith("new: not among the known screens"), line)
