"""Every anchor that code, tests and the page cite exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("tservice", "tests", "bench", "web/src", "web/dev", "docs", "etc", "man", "tools")
NOT_OURS = {"__pycache__", "static", "node_modules", "frames"}
PAGES = ("reference", "explain", "contributing", "lab")
_CITATION = re.compile(r"(?<![\w/.#-])((?:protocol|architecture)-[a-z][a-z-]*[a-z])\b")
_ANCHOR = re.compile(r"^\.\. _([^:`]+):$", re.MULTILINE)
_GONE = re.compile(
    r"(?<!over the )\bwire(?:[- ]contract\b|\s+\d)|\binterface\.md|\(interface:|, interface: "
    r"|\barchitecture(?:\.md|: )|\bstyle\.md",
    re.IGNORECASE,
)
"""Names of documents outside of the project."""


def texts() -> Iterator[tuple[str, str]]:
    """Yield the path and text of every file that may cite an anchor."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT)
            if path.is_file() and path != Path(__file__) and not NOT_OURS & set(name.parts):
                try:
                    yield name.as_posix(), path.read_text(encoding="utf-8")
                except UnicodeDecodeError:
                    continue


def anchors() -> set[str]:
    """Return all anchors of the pages."""
    pages = [path for name in PAGES for path in (ROOT / "docs" / name).rglob("*.rst")]
    return {anchor for page in pages for anchor in _ANCHOR.findall(page.read_text("utf-8"))}


class CitationTests(SynchronousTestCase):
    def test_every_citation_names_an_anchor(self) -> None:
        known = anchors()
        cited = [(name, found) for name, text in texts() for found in _CITATION.findall(text)]
        self.assertEqual([], [(name, found) for name, found in cited if found not in known])
        self.assertGreater(len(cited), 300)

    def test_no_citation_leads_out_of_the_project(self) -> None:
        found = [
            f"{name}: {' '.join(gone[0].split())}"
            for name, text in texts()
            for gone in _GONE.finditer(text)
        ]
        self.assertEqual([], found)
