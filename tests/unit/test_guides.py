"""The README, the tutorials and the how-to pages: their lengths, and the pictures in them."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.non_empty import require_items

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
LARGEST = 200_000
"""Bytes of one picture."""
LARGEST_TOGETHER = 2_000_000
"""Bytes of all pictures, the moving one included."""
_IMAGE = re.compile(r"^\.\. image:: (\S+)$", re.MULTILINE)


def picture_size(file: Path) -> str:
    """Return the width and height of a PNG, as a manifest writes them."""
    head = file.read_bytes()[:24]
    assert head.startswith(b"\x89PNG\r\n\x1a\n"), file
    width, height = struct.unpack(">II", head[16:])
    return f"{width}x{height}"


class GuideTests(SynchronousTestCase):
    def test_pages_are_short(self) -> None:
        limits = dict.fromkeys(sorted((ROOT / "docs/howto").glob("*.rst")), 150)
        for page, most in require_items({ROOT / "README.rst": 160, **limits}.items()):
            lines = len(page.read_text(encoding="utf-8").splitlines())
            self.assertLessEqual(lines, most, page)

    def test_every_picture_exists_and_is_used(self) -> None:
        pages = [ROOT / "README.rst", *(ROOT / "docs").rglob("*.rst")]
        used = {
            (page.parent / name).resolve()
            for page in pages
            for name in _IMAGE.findall(page.read_text(encoding="utf-8"))
        }
        self.assertEqual(set(PICTURES.iterdir()), used)

    def test_every_picture_is_small(self) -> None:
        for file in require_items(PICTURES.glob("*.png")):
            self.assertLess(file.stat().st_size, LARGEST, file)
        self.assertLess(sum(file.stat().st_size for file in PICTURES.iterdir()), LARGEST_TOGETHER)

    def test_previews_of_the_app_have_the_sizes_of_the_pictures(self) -> None:
        manifest = json.loads((ROOT / "web/public/manifest.webmanifest").read_text())
        plugin = (ROOT / "web/build/pictures.ts").read_text()
        for shown in require_items(manifest["screenshots"]):
            source = re.search(rf'"{re.escape(shown["src"])}": new URL\("../../([^"]+)"', plugin)
            assert source is not None, shown["src"]
            self.assertEqual(picture_size(ROOT / source[1]), shown["sizes"])
