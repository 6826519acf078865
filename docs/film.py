"""Make the moving picture of the README: agents work, a question is answered, a diff is read.

It plays the scene of C{docs/pictures.py}, and needs C{img2webp} (Debian: webp). Each frame has its
time in the film, however long the machine takes to draw it. Run from the checkout, with the UI
built: C{.venv/bin/python docs/film.py}.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from attrs import define, evolve, field, frozen  # noqa: E402
from pictures import FACE, LOGIN, PATIENCE, PROJECTS, SEATS, Scene  # noqa: E402
from playwright.sync_api import Locator, Page  # noqa: E402

from tests.browser.chromium import ChromiumPool  # noqa: E402
from tests.browser.harness import PageTerminal  # noqa: E402

FILM = ROOT / "docs/pictures/film.webp"
LARGEST = 1_200_000
"""Bytes of the film."""
LONGEST = 22_000
"""Milliseconds of the film."""
FRAME = 250
"""Milliseconds of a frame."""
STEPS = 5
"""Frames that the pointer takes for a way."""
POINTER = """\
addEventListener('DOMContentLoaded', () => {
  const dot = document.createElement('div');
  Object.assign(dot.style, {
    position: 'fixed', left: '0', top: '0', width: '22px', height: '22px', zIndex: '2147483647',
    background: '#111', pointerEvents: 'none', filter: 'drop-shadow(0 0 1px #fff)',
    clipPath: 'polygon(0 0, 0 82%, 24% 62%, 40% 100%, 56% 92%, 40% 56%, 70% 54%)',
  });
  document.documentElement.append(dot);
  addEventListener('mousemove', (event) => {
    dot.style.transform = `translate(${event.clientX}px, ${event.clientY}px)`;
  }, true);
});
"""


@frozen
class FilmFrame:
    """A picture and the milliseconds that it is shown."""

    picture: bytes
    length: int


@define
class Film:
    """The frames that were taken of a page.

    @ivar at: position of the pointer.
    """

    page: Page
    frames: list[FilmFrame] = field(factory=list)
    at: tuple[float, float] = (900.0, 60.0)

    def hold(self, length: int) -> None:
        """Show the page for so many milliseconds."""
        for _ in range(length // FRAME):
            self.page.wait_for_timeout(FRAME)
            self.take(FRAME)

    def take(self, length: int) -> None:
        """Add one frame; a page that looks the same makes the last one longer."""
        picture = self.page.screenshot(caret="hide")
        if self.frames and self.frames[-1].picture == picture:
            last = self.frames.pop()
            self.frames.append(evolve(last, length=last.length + length))
        else:
            self.frames.append(FilmFrame(picture, length))

    def wait(self, look: Callable[[], bool]) -> None:
        """Wait outside of the film."""
        for _ in range(int(PATIENCE / 0.2)):
            if look():
                return
            self.page.wait_for_timeout(200)
        raise AssertionError("never seen")

    def click(self, target: Locator) -> None:
        """Move the pointer to an element, so that it is seen, and click it."""
        target.scroll_into_view_if_needed()
        box = target.bounding_box()
        if box is None:
            raise AssertionError("the target is not on the page")
        end = box["x"] + min(box["width"] / 2, 120), box["y"] + box["height"] / 2
        for step in range(1, STEPS + 1):
            done = step / STEPS
            point = [a + (b - a) * done for a, b in zip(self.at, end, strict=True)]
            self.page.mouse.move(*point)
            self.take(100)
        self.at = end
        self.take(FRAME)
        self.page.mouse.click(*end)

    def write(self, target: Path) -> None:
        """Write the frames as an animated picture.

        @raise AssertionError: it is too long or too large.
        """
        length = sum(frame.length for frame in self.frames)
        with tempfile.TemporaryDirectory() as folder:
            words = ["img2webp", "-loop", "0", "-kmax", "40", "-lossy", "-q", "55", "-m", "6"]
            for number, frame in enumerate(self.frames):
                file = Path(folder, f"{number:04}.png")
                file.write_bytes(frame.picture)
                words += ["-d", str(frame.length), str(file)]
            subprocess.run([*words, "-o", str(target)], check=True, capture_output=True)
        size = target.stat().st_size
        sys.stdout.write(f"{target.name}: {length / 1000} s, {len(self.frames)} frames, {size} B\n")
        if length > LONGEST or size > LARGEST:
            raise AssertionError(f"longer than {LONGEST} ms or larger than {LARGEST} bytes")


def play(scene: Scene, page: Page) -> Film:
    """Play the scene, and return its film."""
    film = Film(page)
    asking = next(seat for seat in SEATS if seat.prompt == LOGIN)
    ids = {
        seat.name: scene.add(evolve(seat, prompt="") if seat is asking else seat) for seat in SEATS
    }
    session = ids[asking.name]
    page.goto(f"{scene.url}/?page=fleet")
    page.mouse.move(*film.at)
    card = page.get_by_test_id("fleet-card").filter(has_text=asking.name)
    card.wait_for()
    first = page.get_by_test_id("fleet-card").first
    film.wait(lambda: first.get_by_text("Loading screen").count() == 0)
    film.hold(2500)
    scene.call("POST", f"/api/sessions/{session}/input", {"input": f"{LOGIN}\r"})
    film.hold(1500)
    question = card.get_by_test_id("fleet-question")
    question.wait_for()
    film.hold(2000)
    film.click(question.locator(".choice-button").first)
    film.hold(1500)
    film.wait(lambda: scene.call("GET", f"/api/sessions/{session}")["status"] == "idle")
    film.hold(1000)
    film.click(card.get_by_test_id("fleet-visit"))
    PageTerminal(page).ready()
    film.hold(3000)
    film.click(page.get_by_test_id("git-chip"))
    page.get_by_test_id("git-file").first.wait_for()
    film.hold(750)
    film.click(page.get_by_test_id("git-file").filter(has_text="login.py").first)
    page.get_by_test_id("diff-box").wait_for()
    film.hold(4000)
    return film


def main() -> None:
    """Make the film, and leave nothing running."""
    PROJECTS.mkdir()
    chromium = ChromiumPool()
    try:
        with contextlib.closing(Scene()) as scene:
            context = chromium.browser.new_context(
                color_scheme="light",
                reduced_motion="reduce",
                viewport={"width": 1280, "height": 800},
            )
            context.set_default_timeout(PATIENCE * 1000)
            context.add_init_script(FACE)
            context.add_init_script(POINTER)
            play(scene, context.new_page()).write(FILM)
    finally:
        chromium.close()
        shutil.rmtree(PROJECTS)


if __name__ == "__main__":
    main()
