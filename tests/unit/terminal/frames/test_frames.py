"""The rules, measured on the recorded screens."""

from __future__ import annotations

import pytest
from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.frames import ScreenRecording, load
from tests.frames.score import RULES, FrameScore, score
from tests.non_empty import require_items
from tests.run_figures import report_figure
from tests.unit.terminal.screen_builders import COMPOSER, PERMISSION, TRUST
from tservice.terminal.frames.screen_frame import ScreenFrame
from tservice.terminal.screen_status import read_screen

FLOORS = {
    "state dialog": (0.98, 0.98),
    "state working": (1.0, 0.95),
    "state idle": (0.98, 0.97),
    "composer": (0.98, 0.97),
    "trust key": (1.0, 0.98),
    "kind": (0.97, 0.97),
    "question": (0.97, 0.95),
    "options": (0.97, 0.93),
    "selected": (0.97, 0.93),
    "checked": (1.0, 1.0),
    "model": (0.98, 0.95),
    "limit": (1.0, 0.9),
}
"""Precision and recall that must not be lost."""

IMITATIONS = (
    "● Here is what it showed:\n\n" + PERMISSION,
    "● It asked:\n\n" + TRUST,
    "● Example:\n\n" + COMPOSER,
    "● Steps:\n  1. First\n  2. Second\n\n✻ Churned for 6s",
)


@pytest.mark.long
class FloorTests(SynchronousTestCase):
    def check(self, result: FrameScore) -> None:
        for question, (precision, recall) in FLOORS.items():
            told = f"{question}\n{result.table()}\n" + "\n".join(result.misses)
            self.assertGreaterEqual(result.precision(question), precision, told)
            self.assertGreaterEqual(result.recall(question), recall, told)

    def test_recorded_frames_reach_the_score(self) -> None:
        """With colours where they were recorded."""
        recordings = load()
        self.assertGreater(len(recordings), 100)
        result = score(recordings)
        report_figure(f"{len(recordings)} frames\n{result.table()}")
        self.check(result)

    def test_recorded_frames_without_colours_reach_the_score(self) -> None:
        """Only opencode tells its highlight by colour alone."""
        plain = [evolve(r, ansi=None) for r in load() if r.cli != "opencode"]
        self.check(score(plain))

    def test_recorded_frames_below_imitations_read_the_same(self) -> None:
        """What stands above, quoted dialogs and composers too, changes nothing."""
        for recording in require_items(load()):
            if recording.cli not in ("claude", "pi", "cn", "qwen", "gemini"):
                continue  # these fill the pane: nothing stands above
            alone = self.told(recording, b"")
            for above in IMITATIONS:
                told = self.told(recording, above.encode() + b"\n\n")
                self.assertEqual(alone, told, f"{recording} below {above!r}")

    def told(self, recording: ScreenRecording, above: bytes) -> tuple[object, ...]:
        label = recording.label
        capture = above + recording.plain.rstrip(b"\n")
        found = read_screen(
            ScreenFrame.from_capture(capture, label.size[0]), label.title, RULES[recording.cli]
        )
        shown = () if found.dialog is None else (found.dialog.kind, found.dialog.options)
        return found.state, found.composer_ready, shown

    def test_rules_of_other_clients_find_no_dialog(self) -> None:
        """A composer read with another CLI's rules is at worst unknown, hardly a dialog."""
        wrong = [
            f"{recording} as {cli}"
            for recording in load()
            if recording.label.state == "idle"
            for cli, rules in RULES.items()
            if read_screen(ScreenFrame.from_capture(recording.best), "", rules).dialog is not None
        ]
        self.assertEqual([], wrong)
