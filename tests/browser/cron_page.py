"""Where things are on the page of scheduled jobs."""

from __future__ import annotations

from playwright.sync_api import Locator, Page


def job_card(page: Page, name: str) -> Locator:
    """The job of that name."""
    return page.get_by_role("article", name=name, exact=True)


def field_fault(page: Page, field: str) -> Locator:
    """What the editor says is wrong with a field."""
    return page.get_by_test_id(f"wrong-{field}")
