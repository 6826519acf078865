"""Finding text on the screen, in what the page holds, and in the whole history."""

from __future__ import annotations

import re
from base64 import b64encode

import pytest
from playwright.sync_api import expect

from tests.browser.harness import READ, BrowserCase, PageTerminal, wait_until_on_page

MANY = "for i in {1..3000}; do echo row $i of many; done; echo needle-$((1 + 0))"


# Presses a key and writes into what has opened, before anything is painted.
AT_ONCE = """([key, text]) => new Promise((done) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    document.activeElement.value = text;
    document.activeElement.dispatchEvent(new InputEvent("input", { bubbles: true }));
    done();
  };
  dispatchEvent(new KeyboardEvent("keydown", key));
  port2.postMessage("");
})"""

INK = "(grid) => getComputedStyle(grid.querySelector('.xterm-rows')).color"

# The colour of most pixels in a picture.
MOST = """async (picture) => {
  const image = await createImageBitmap(await (await fetch(picture)).blob());
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const { data } = canvas.getImageData(0, 0, image.width, image.height);
  const count = new Map();
  for (let at = 0; at < data.length; at += 4) {
    const colour = data.slice(at, at + 3).join();
    count.set(colour, (count.get(colour) ?? 0) + 1);
  }
  return [...count].sort((one, other) => other[1] - one[1])[0][0].split(",").map(Number);
}"""


def ground(terminal: PageTerminal, row: int, column: int) -> list[int]:
    """The colour behind a character of the screen."""
    box = terminal.element.locator(".xterm-screen").bounding_box()
    assert box is not None
    width = box["width"] / int(terminal.attribute("cols") or 0)
    height = box["height"] / int(terminal.attribute("rows") or 0)
    left, top = box["x"] + column * width, box["y"] + row * height
    picture = terminal.page.screenshot(
        clip={"x": left, "y": top, "width": width, "height": height}, animations="disabled"
    )
    # The policy of the page itself lets no script fetch a picture.
    blank = terminal.page.context.new_page()
    found = blank.evaluate(MOST, "data:image/png;base64," + b64encode(picture).decode())
    blank.close()
    return [int(each) for each in found]


def luminance(colour: list[int]) -> float:
    """As in WCAG 2."""
    parts = (each / 255 for each in colour)
    linear = [
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: list[int], other: list[int]) -> float:
    """From 1 to 21."""
    dark, bright = sorted((luminance(one), luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


class TerminalSearchTests(BrowserCase):
    @pytest.mark.essential
    def test_search_finds_text_in_the_scrollback(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.terminal(daemon.url).run("echo early-$((1 + 0)); seq 1 300").wait("300")
        page = terminal.page
        page.keyboard.press("Control+Shift+F")
        page.keyboard.type("early-1")
        count = page.locator(".search-count")
        wait_until_on_page(page, "a match", lambda: count.inner_text() == "1 of 1")
        wait_until_on_page(page, "a way back", page.get_by_test_id("to-end").is_visible)
        page.keyboard.press("Control+A")
        page.keyboard.type("not there")
        wait_until_on_page(page, "no match", lambda: count.inner_text() == "no matches")
        page.keyboard.press("Escape")
        page.get_by_test_id("search").wait_for(state="detached")
        terminal.run("echo typed-$((1 + 0))").wait("typed-1")

    def test_search_text_typed_before_the_next_frame_is_found(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.terminal(daemon.url).run("echo early-$((1 + 0))").wait("early-1")
        page = terminal.page
        page.evaluate(AT_ONCE, [{"code": "KeyF", "ctrlKey": True, "shiftKey": True}, "early-1"])
        expect(page.locator(".search-count")).to_have_text("1 of 1")

    def stands_out(self, scheme: str) -> None:
        """The current match, from the ground and from the other matches."""
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.terminal(daemon.url, color_scheme=scheme).run("clear; seq 901 909")
        page, rows = terminal.page, terminal.wait("909").wait(r"\$").screen()
        other, current, plain = (rows.index(text) for text in ("903", "909", "$"))
        page.keyboard.press("Control+Shift+F")
        page.keyboard.type("90")
        # The newest match, to which typing goes; what was typed may hold some more.
        expect(page.locator(".search-count")).to_have_text(re.compile(r"(\d+) of \1"))
        bare = ground(terminal, plain, 8)
        marks = (current, other)

        def stands_out() -> bool:
            # The other matches are marked some time behind the current one.
            shown, marked = (ground(terminal, row, 0) for row in marks)
            found = contrast(shown, bare), contrast(shown, marked), contrast(marked, bare)
            return all(each > least for each, least in zip(found, (5, 3, 1.15), strict=True))

        wait_until_on_page(page, "marks that stand out", stands_out)

    def test_current_match_is_distinct_on_dark(self) -> None:
        self.stands_out("dark")

    def test_current_match_is_distinct_on_light(self) -> None:
        self.stands_out("light")

    def test_search_finds_text_in_the_whole_history(self) -> None:
        """Older than what the page keeps."""
        daemon = self.daemon()
        self.session(daemon)
        context = self.context()
        context.add_init_script(
            "localStorage.setItem('tservice.prefs', JSON.stringify({ scrollback: 500 }))"
        )
        terminal = self.terminal(daemon.url, context).run(MANY).wait("needle-1")
        page = terminal.page
        self.assertNotIn("row 7 of many", terminal.read()["lines"])
        page.keyboard.press("Control+Shift+F")
        page.keyboard.type("row 7 of many")
        page.get_by_test_id("search-history").click()
        matches = page.get_by_test_id("history-match")
        wait_until_on_page(page, "one match", lambda: matches.count() == 1)
        self.assertIn("row 7 of many", matches.first.inner_text())
        grid = page.locator("[data-testid=history-grid][data-painted]")
        grid.wait_for()
        wait_until_on_page(page, "its row", lambda: "row 7 of many" in grid.evaluate(READ)["lines"])
        page.get_by_test_id("history-query").fill("needle-1")
        wait_until_on_page(page, "the other", lambda: "needle-1" in matches.last.inner_text())
        matches.last.click()
        page.keyboard.press("Escape")
        page.get_by_test_id("history").wait_for(state="detached")

    def test_history_of_a_few_lines_shows_them(self) -> None:
        """The rows below them, which are as many as the terminal has, are not shown."""
        daemon = self.daemon()
        self.session(daemon)
        page = self.terminal(daemon.url).run("echo early-$((1 + 0))").wait("early-1").page
        page.keyboard.press("Control+Shift+F")
        page.get_by_test_id("search-history").click()
        grid = page.locator("[data-testid=history-grid][data-painted]")
        grid.wait_for()
        wait_until_on_page(page, "its rows", lambda: "early-1" in grid.evaluate(READ)["screen"])
        dark = grid.evaluate(INK)
        page.emulate_media(color_scheme="light")
        wait_until_on_page(page, "the other colours", lambda: grid.evaluate(INK) != dark)
