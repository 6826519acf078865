"""The packaged CLIs' screen rules: the same as those that the recordings are read with."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tests.frames.score import RULES
from tservice.clis.stock_entries import load_stock_entries
from tservice.terminal.screen_rules import ScreenRules

FOLDERS = {
    "primary": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "pi": "pi",
    "qwen": "qwen",
    "antigravity": "antigravity",
    "shell": "shell",
}


class StockRuleTests(SynchronousTestCase):
    """What the packaged entries say of screens."""

    def test_stock_screen_rules_are_the_scored_ones(self) -> None:
        entries = {
            name: ScreenRules.from_capabilities(
                entry.capabilities.model_dump(by_alias=True, mode="json")
            )
            for name, entry in load_stock_entries().items()
            if name in FOLDERS
        }
        self.assertEqual({name: RULES[folder] for name, folder in FOLDERS.items()}, entries)
