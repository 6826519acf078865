"""Tabs of sessions, and their menus."""

from __future__ import annotations

from playwright.sync_api import Locator, Page


def tab(page: Page, session: str) -> Locator:
    return page.locator(f"[data-testid=tab][data-session='{session}']")


def choose(page: Page, session: str, *labels: str) -> None:
    """Right-click a tab and choose from its menu, and from the menus that follow."""
    tab(page, session).click(button="right")
    for label in labels:
        item = page.get_by_test_id("menu").get_by_role("menuitem", name=label)
        radio = page.get_by_test_id("menu").get_by_role("menuitemradio", name=label)
        item.or_(radio).first.click()
