"""Text of recorded screens in the light theme can be read, also where a program marks it as dim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.harness import BrowserCase, PageTerminal, wait_until_on_page
from tests.integration.harness import ROOT

CLIS = ("claude", "codex", "gemini", "opencode", "pi")
FRAMES = 5
"""Recorded screens of each CLI, from the first to the last."""

FAINT = """host => {
  const part = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const read = (css) => css.match(/[\\d.]+/g).map(Number);
  const over = ([r, g, b, a = 1], ground) =>
    [r, g, b].map((value, at) => value * a + ground[at] * (1 - a));
  const light = (colour) =>
    [0.2126, 0.7152, 0.0722].reduce((sum, share, at) => sum + share * part(colour[at] / 255), 0);
  const page = read(getComputedStyle(host).backgroundColor);
  const found = [];
  let seen = 0;
  for (const cell of host.querySelectorAll(".xterm-rows span")) {
    if (!/[\\p{L}\\p{N}]/u.test(cell.textContent)) continue;
    seen += 1;
    const looks = getComputedStyle(cell);
    const ground = over(read(looks.backgroundColor), page);
    const text = over(read(looks.color), ground);
    const [low, high] = [light(ground), light(text)].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) found.push(`${ratio.toFixed(2)}: ${cell.textContent.slice(0, 40)}`);
  }
  return { seen, found };
}"""
"""Of a terminal's spans with letters, how many there are and which have less than 4.5 : 1."""


def choose_frames(cli: str) -> list[Path]:
    """Return some screens of a CLI, evenly spread over its recordings."""
    frames = sorted((ROOT / "tests" / "frames" / cli).rglob("*.ansi.txt"))
    return frames[:: max(1, len(frames) // FRAMES)][:FRAMES]


class ContrastTests(BrowserCase):
    @pytest.mark.essential
    def test_text_of_recorded_screens_is_readable_in_the_light_theme(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.terminal(daemon.url, color_scheme="light")
        terminal.focus()
        faults: list[str] = []
        for cli in CLIS:
            frames = choose_frames(cli)
            self.assertEqual(FRAMES, len(frames))
            for frame in frames:
                faults += [f"{frame.name}: {each}" for each in self.faint_texts(terminal, frame)]
        self.assertEqual([], faults)

    def look_at_text(self, terminal: PageTerminal) -> dict[str, Any] | None:
        """What the page draws, once it draws a text."""
        looks: dict[str, Any] = terminal.element.evaluate(FAINT)
        return looks if looks["seen"] > 3 else None

    def faint_texts(self, terminal: PageTerminal, frame: Path) -> list[str]:
        """Draw a recorded screen and return what can hardly be read on it."""
        terminal.run(f"clear; cat '{frame}'; printf '\\033[m\\nend-%s' x")
        wait_until_on_page(
            terminal.page, frame.name, lambda: any("end-x" in row for row in terminal.screen())
        )
        # What is in the terminal is drawn with the next picture of the page.
        looks: Any = wait_until_on_page(
            terminal.page, f"{frame.name} drawn", lambda: self.look_at_text(terminal)
        )
        terminal.page.keyboard.press("Enter")
        found: list[str] = looks["found"]
        return found
