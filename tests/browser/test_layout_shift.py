"""Nothing moves under the pointer while a page loads."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.harness import PHONE, BrowserCase
from tests.run_figures import report_figure

PAGES = ("", "fleet", "approvals", "cases", "files", "git", "cron", "webtabs", "clis",
         "models", "mcp", "doctor", "rules", "devices", "tokens", "audit", "settings", "help",
         "conversations")  # fmt: skip
MOST = 0.1
"""Share of the window that may move, times how far: above it people notice (web.dev/cls)."""
SESSIONS = 9

WATCH = """(() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      const place = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join();
      const moved = sources.map(({ node, previousRect, currentRect }) =>
        `${node?.className || node?.nodeName} ${place(previousRect)} to ${place(currentRect)}`);
      shifts.push({ value, moved });
    }
  }).observe({ type: "layout-shift", buffered: true });
})()"""
QUIET = """async () => {
  const idle = (time) => new Promise((done) => setTimeout(done, time));
  for (let count = -1; count !== performance.getEntriesByType("resource").length; await idle(600))
    count = performance.getEntriesByType("resource").length;
}"""


@pytest.mark.long
class LayoutShiftTests(BrowserCase):
    expected = (r"the server responded with a status of 40[34]",)

    def test_pages_do_not_move_while_they_load(self) -> None:
        daemon = self.daemon()
        ids = [self.session(daemon, f"task {number}") for number in range(SESSIONS)]
        faults, most = [], 0.0
        looks: tuple[dict[str, Any], ...] = ({"viewport": {"width": 1440, "height": 900}}, PHONE)
        for look in looks:
            context = self.context(**look)
            context.add_init_script(WATCH)
            for name in PAGES:
                # The first one as a browser that was never here before.
                page = self.page(f"{daemon.url}/?session={ids[0]}&page={name}", context)
                page.locator("[data-painted], .page").first.wait_for()
                page.evaluate(QUIET)
                shifts = page.evaluate("shifts")
                total = sum(each["value"] for each in shifts)
                width = look["viewport"]["width"]
                if total >= MOST:
                    faults.append(f"{width} {name or 'session'}: {total:.3f} {shifts}")
                most = max(most, total)
                page.close()
        report_figure(f"layout shift: {most:.3f} at most, of {2 * len(PAGES)} pages")
        self.assertEqual([], faults)
