"""Every component on one page, in both themes: photographed, and judged by what browsers compute.

Pictures are no measure: the same page differs by its fonts from machine to machine.  They are put
into C{build/gallery} to be looked at; what is compared is the scale of type, contrast and names,
what a finger can hit, and what is left where colours or motion are taken away.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import ClassVar

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route

from tests.browser.harness import BrowserCase
from tests.browser.mock_service import WEB, node_path
from tests.integration.harness import ROOT

BUILDING = 600.0
"""Seconds for a build, which takes ten."""

HOST = "http://gallery.test/"
PICTURES = ROOT / "build" / "gallery"
SCALE = {"12px", "13px", "15px", "20px", "28px"}
SIZES = """() => [...document.querySelectorAll(".gallery *")]
  .filter((each) => [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
  .filter((each) => !each.matches("option, .sr-only"))
  .map((each) => [getComputedStyle(each).fontSize, each.className || each.tagName])"""
SMALL = """() => [...document.querySelectorAll(".gallery button, .choice-check")]
  .filter((each) => each.checkVisibility() && !["Up", "Down"].includes(each.dataset.arrow))
  .map((each) => [each.matches(".approval-name") ? each.closest(".approval-head") : each, each])
  .map(([area, each]) => [area.getBoundingClientRect(), each.outerHTML.slice(0, 80)])
  .filter(([box]) => Math.min(box.width, box.height) < 43.5)
  .map(([box, html]) => `${box.width} x ${box.height} ${html}`)"""
DOTS = """() => [...document.querySelectorAll("[data-part='Status marks'] .dot")].map((each) => {
  const style = getComputedStyle(each);
  return [each.dataset.state, style.backgroundColor, style.backgroundImage, style.borderTopWidth,
    style.borderTopStyle, style.borderRightColor, style.borderRadius, style.rotate,
    style.outlineStyle].join(" ");
})"""
MOVING = "() => document.getAnimations().filter((each) => each.playState === 'running').length"


class GalleryTests(BrowserCase):
    expected = (r"the server responded with a status of 404",)
    built: ClassVar[Path]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        program = node_path()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        # Its own: another process may build it at the same time.
        cls.built = Path(folder.name)
        vite = WEB / "node_modules" / "vite" / "bin" / "vite.js"
        command = [str(program), str(vite), "build", "--config", "vite.gallery.config.ts",
                   "--outDir", str(cls.built), "--emptyOutDir"]  # fmt: skip
        path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            command,
            cwd=WEB,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=BUILDING,
        )
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)

    def answer(self, route: Route) -> None:
        """A file of what was built; there is no service to ask."""
        name = route.request.url.removeprefix(HOST) or "index.html"
        if name.startswith("api/"):
            route.fulfill(status=404)
        else:
            route.fulfill(path=str(self.built / name))

    def open(self, **options: object) -> Page:
        context = self.context(viewport={"width": 1000, "height": 900}, **options)
        context.route(f"{HOST}**", self.answer)
        page = self.page(HOST, context)
        page.locator("[data-part='Nothing yet'] button").first.wait_for()
        return page

    def faults(self, page: Page, where: str) -> list[str]:
        """What axe finds."""
        return [
            f"{where}: {each['id']}: {node['target'][0]} {node['failureSummary']}"
            for each in Axe().run(page).response["violations"]
            for node in each["nodes"]
        ]

    def test_gallery_passes_axe_in_both_themes(self) -> None:
        PICTURES.mkdir(parents=True, exist_ok=True)
        faults: list[str] = []
        for look in ("dark", "light"):
            page = self.open(color_scheme=look, reduced_motion="reduce")
            self.assertEqual(0, page.evaluate(MOVING))
            page.screenshot(path=PICTURES / f"{look}.png", full_page=True)
            faults += self.faults(page, look)
            wrong = [each for each in page.evaluate(SIZES) if each[0] not in SCALE]
            self.assertEqual([], wrong)
            for name, shown in (("menu", "menu"), ("ask", "ask")):
                page.get_by_test_id(f"open-{name}").click()
                page.get_by_test_id(shown).wait_for()
                faults += self.faults(page, f"{look} {name}")
                page.screenshot(path=PICTURES / f"{look}-{name}.png")
                page.keyboard.press("Escape")
                page.get_by_test_id(shown).wait_for(state="detached")
            page.get_by_test_id("open-toasts").click()
            page.get_by_test_id("toast").nth(1).wait_for()
            faults += self.faults(page, f"{look} toasts")
            page.screenshot(path=PICTURES / f"{look}-toasts.png")
        self.assertEqual([], faults, "\n".join(faults))

    def test_forced_colours_keep_every_status_mark_distinct(self) -> None:
        page = self.open(forced_colors="active")
        marks = page.evaluate(DOTS)
        self.assertEqual(len(marks), len({mark.partition(" ")[2] for mark in marks}), marks)

    def test_every_touch_target_is_large_enough(self) -> None:
        page = self.open(has_touch=True, is_mobile=True)
        found = page.evaluate(SMALL)
        self.assertEqual([], found, "\n".join(found))
        page.screenshot(path=PICTURES / "touch.png", full_page=True)
