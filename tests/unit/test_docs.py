"""The pages under C{docs}: they build without a warning, and each link leads somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LIMIT = 120
_LINK = re.compile(r"<(?P<path>[^<>\s:#]+\.rst)?(?:#(?P<anchor>[^<>\s]+))?>`_")
_ANCHOR = re.compile(r"^\.\. _([^:`]+):$", re.MULTILINE)


def pages() -> list[Path]:
    return sorted(DOCS.rglob("*.rst"))


def links(page: Path) -> Iterator[tuple[Path, str | None]]:
    """The files of ours that a page leads to, and the anchor in each."""
    for found in _LINK.finditer(page.read_text(encoding="utf-8")):
        path = found["path"]
        yield (page if path is None else (page.parent / path).resolve()), found["anchor"]


class LinkTests(SynchronousTestCase):
    def test_every_link_leads_somewhere(self) -> None:
        dead = [
            f"{page.relative_to(ROOT)}: {target.name}#{anchor or ''}"
            for page in [ROOT / "README.rst", *pages()]
            for target, anchor in links(page)
            if not target.is_file()
            or (anchor and anchor not in _ANCHOR.findall(target.read_text(encoding="utf-8")))
        ]
        self.assertEqual([], dead)

    def test_every_page_can_be_reached(self) -> None:
        reached, ahead = set[Path](), [DOCS / "index.rst"]
        while ahead:
            page = ahead.pop()
            if page in reached or DOCS not in page.parents:
                continue
            reached.add(page)
            ahead += [target for target, _ in links(page)]
        self.assertEqual([], [page.name for page in pages() if page not in reached])

    def test_every_anchor_is_unique(self) -> None:
        """Whoever names one means one place."""
        anchors = [
            anchor for page in pages() for anchor in _ANCHOR.findall(page.read_text("utf-8"))
        ]
        self.assertEqual(sorted(set(anchors)), sorted(anchors))


class BuildTests(SynchronousTestCase):
    def test_without_a_warning(self) -> None:
        ended = subprocess.run(
            [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html",
             "-d", self.mktemp(), str(DOCS), self.mktemp()],
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )  # fmt: skip
        self.assertEqual((0, ""), (ended.returncode, ended.stderr))
