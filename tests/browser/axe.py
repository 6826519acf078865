"""What axe finds wrong with a page."""

from __future__ import annotations

from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SETTLED = """() => Promise.allSettled(document.getAnimations()
  .filter((each) => each.effect.getComputedTiming().iterations !== Infinity)
  .map((each) => each.finished))"""
"""Whatever moves in is there: colours are not those of the page before."""


ALL: dict[str, Any] = {
    "resultTypes": ["violations"],
    # Whoever speaks to the page says what is seen; axe has that rule, and asks it of nobody.
    "rules": {"label-content-name-mismatch": {"enabled": True}},
}
COLOURS = {"resultTypes": ["violations"], "runOnly": ["color-contrast", "link-in-text-block"]}
LOOKS: tuple[tuple[Literal["light", "dark"], dict[str, Any]], ...] = (
    ("light", ALL),
    ("dark", COLOURS),
)
"""A theme changes colours and nothing else, so the rules for the rest are asked once."""


def find_faults(page: Page, within: str | None = None, rules: dict[str, Any] = ALL) -> list[str]:
    """Each violation with where it is.

    @param within: a selector; C{None}: the whole page.
    @param rules: which are asked, as axe's options have them.
    """
    # What comes later than this look would move in, too.
    page.emulate_media(reduced_motion="reduce")
    page.evaluate(SETTLED)
    found: Any = Axe().run(page, context=within, options=rules).response["violations"]
    return [
        f"{each['impact']} {each['id']}: {node['target'][0]} {node['failureSummary']}"
        for each in found
        for node in each["nodes"]
    ]


def faults_in_both(page: Page, within: str | None = None) -> list[str]:
    """As L{find_faults}, in either theme of a page that follows the system's."""
    found = []
    for look, rules in LOOKS:
        page.emulate_media(color_scheme=look)
        page.locator(f":root[data-theme={look}]").wait_for()
        found += [f"{look}: {each}" for each in find_faults(page, within, rules)]
    return found
