"""The page of the API, in windows of both sizes."""

from __future__ import annotations

import pytest

from tests.browser.harness import BrowserCase

# What lies beyond its own entry, or over something else in its line.
ASTRAY = """entries => entries.flatMap((entry) => {
  const card = entry.getBoundingClientRect();
  const parts = [...entry.querySelectorAll(":scope > summary > *")];
  const boxes = parts.map((part) => part.getBoundingClientRect());
  const out = boxes.some((box) => box.right > card.right || box.bottom > card.bottom);
  const touch = boxes.some((box, at) => {
    const next = boxes[at + 1];
    return next && next.top < box.bottom && box.top < next.bottom && next.left < box.right + 4;
  });
  return out || touch ? [entry.id] : [];
})"""


class ApiPageTests(BrowserCase):
    # The icon that a browser asks for where a page names none.
    expected = (r"responded with a status of 404",)

    def test_groups_of_the_api_page_are_unique_and_sorted(self) -> None:
        """None comes twice, and they stand in the order of the alphabet."""
        page = self.page(self.daemon().url + "/api/docs")
        groups = page.locator("section h2").all_inner_texts()
        self.assertEqual([], [name for name in groups if not name[0].isupper()])
        self.assertEqual(
            sorted({name.lower() for name in groups}), [name.lower() for name in groups]
        )
        audit = page.locator("section", has=page.get_by_role("heading", name="Audit"))
        self.assertEqual(["/api/admin/audit"], audit.locator("summary code").all_inner_texts())

    @pytest.mark.essential
    def test_api_page_fits_its_window(self) -> None:
        page = self.page(self.daemon().url + "/api/docs")
        for width, height in ((1280, 800), (390, 844)):
            page.set_viewport_size({"width": width, "height": height})
            self.assertEqual([], page.locator("section details").evaluate_all(ASTRAY), width)
            wide = page.evaluate("document.documentElement.scrollWidth")
            self.assertLessEqual(wide, width)

    def test_api_page_fits_with_every_entry_open(self) -> None:
        page = self.page(self.daemon().url + "/api/docs", viewport={"width": 390, "height": 844})
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 390)
