"""Progress and errors on recorded screens."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tests.frames import HERE
from tests.run_figures import report_figure
from tservice.agents.stalls.screen_progress import summarise_screen


def rows_of(name: str) -> list[str]:
    return (HERE / name).read_text("utf-8").split("\n")


class ScreenProgressTests(SynchronousTestCase):
    """L{summarise_screen}."""

    def test_clocks_and_spinners_are_no_progress(self) -> None:
        for before, after in (
            ("· Hatching… (1s · ↓ 23 tokens)", "✻ Bunning… (14m 3s · ↓ 23 tokens)"),
            ("• Working (3s • esc to interrupt)", "◦ Working (12m 40s • esc to interrupt)"),
            ("⠋ Thinking (esc to cancel, 3s)", "⠙ Thinking (esc to cancel, 2m 3s)"),
            ("● Bash(npm test)", "  Bash(npm test)"),
            ("⏺ Bash(npm test)", "  Bash(npm test)"),
            ("✻ API error · Retrying in 1s · attempt 1/9", "✻ API error · Retrying in 9s"),
            ("  ⎿  Tip: Start small", "  ⎿  Tip: Press ? for help"),
        ):  # fmt: skip
            self.assertEqual(
                summarise_screen([before]).signature, summarise_screen([after]).signature, before
            )

    def test_tokens_and_text_are_progress(self) -> None:
        for before, after in (
            ("· Hatching… (1s · ↓ 23 tokens)", "· Hatching… (1s · ↓ 24 tokens)"),
            ("● I will use", "● I will use Bash."),
            ("  12 passed", "  13 passed"),
        ):
            self.assertNotEqual(
                summarise_screen([before]).signature, summarise_screen([after]).signature, before
            )

    def test_recorded_errors_are_found_and_nothing_else(self) -> None:
        found, missed, wrong = 0, [], []
        for path in sorted(HERE.rglob("*.txt")):
            if path.name.endswith(".ansi.txt"):
                continue
            text = path.read_text("utf-8")
            shown = summarise_screen(text.split("\n"))
            is_error = "error_400" in path.name or "error_529" in path.name
            if shown.has_error and is_error:
                found += 1
            elif is_error:
                missed.append(path.name)
            elif shown.has_error and "stub says" not in text and "fail_" not in path.name:
                wrong.append(str(path.relative_to(HERE)))
        report_figure(
            f"API errors on recorded screens: {found} found, {len(missed)} missed,"
            f" {len(wrong)} wrong"
        )
        self.assertEqual(([], []), (wrong, missed))

    def test_retry_is_recognised(self) -> None:
        shown = summarise_screen(rows_of("claude/scenes/120x40_error_529_retry.txt"))
        self.assertTrue(shown.has_error and shown.is_retrying)
