"""Tests of the pages under C{docs}: they build without a warning, and each link has a target."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.security.matrix_rows import ROWS
from tservice.core.kernel.errors import HTTP_STATUS
from tservice.core.kernel.scopes import Scope
from tservice.settings.model import Settings

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LIMIT = 600
_LINK = re.compile(r"<(?P<path>[^<>\s:#]+\.rst)?(?:#(?P<anchor>[^<>\s]+))?>`_")
_ANCHOR = re.compile(r"^\.\. _([^:`]+):$", re.MULTILINE)


def pages() -> list[Path]:
    return sorted(DOCS.rglob("*.rst"))


def links(page: Path) -> Iterator[tuple[Path, str | None]]:
    """Yield the files that a page links to, with the anchor in each."""
    for found in _LINK.finditer(page.read_text(encoding="utf-8")):
        path = found["path"]
        yield (page if path is None else (page.parent / path).resolve()), found["anchor"]


class DocumentLinkTests(SynchronousTestCase):
    def test_every_link_has_a_target(self) -> None:
        dead = [
            f"{page.relative_to(ROOT)}: {target.name}#{anchor or ''}"
            for page in [ROOT / "README.rst", *pages()]
            for target, anchor in links(page)
            if not target.is_file()
            or (anchor and anchor not in _ANCHOR.findall(target.read_text(encoding="utf-8")))
        ]
        self.assertEqual([], dead)

    def test_every_page_of_the_docs_can_be_reached(self) -> None:
        reached, ahead = set[Path](), [DOCS / "index.rst"]
        while ahead:
            page = ahead.pop()
            if page in reached or DOCS not in page.parents:
                continue
            reached.add(page)
            ahead += [target for target, _ in links(page)]
        self.assertEqual([], [page.name for page in pages() if page not in reached])

    def test_every_anchor_of_the_docs_is_unique(self) -> None:
        """An anchor that occurs twice would be ambiguous."""
        anchors = [
            anchor for page in pages() for anchor in _ANCHOR.findall(page.read_text("utf-8"))
        ]
        self.assertEqual(sorted(set(anchors)), sorted(anchors))


NOT_YET = "ot in this release yet"
_SECTION = re.compile(r"^\.\. _[^:`]+:$", re.MULTILINE)
_LITERAL = re.compile(r"``([^`]+)``")
_ROUTE = re.compile(
    r"(GET|POST|PUT|PATCH|DELETE|ANY) (/(?:api|ws|q|mcp|webview|healthz|metrics)[^\s?]*)"
)


def general(path: str) -> str:
    """Return C{path} with one common name for all of its parameters."""
    return re.sub(r"\{\w+(?::path)?\}|:\w+", ":", path.replace("/api/v1/", "/api/"))


def routes_in(text: str) -> set[str]:
    """Return the routes that a text names."""
    literals = (" ".join(found.split()) for found in _LITERAL.findall(text))
    routes = [route for literal in literals if (route := _ROUTE.match(literal))]
    return {f"{route[1]} {general(route[2])}" for route in routes}


class ProtocolTests(SynchronousTestCase):
    """Tests of the protocol pages against the operations table."""

    def setUp(self) -> None:
        reference = DOCS / "reference"
        protocol = [reference / "protocol.rst", reference / "limits.rst"]
        protocol += sorted((reference / "protocol").glob("*.rst"))
        self.texts = [page.read_text(encoding="utf-8") for page in protocol]
        self.routes = {general(name) for name in ROWS if " /ws/" not in name}

    def test_every_route_is_documented(self) -> None:
        self.assertEqual(set(), self.routes - routes_in("".join(self.texts)))

    def test_documented_routes_exist(self) -> None:
        sections = [part for text in self.texts for part in _SECTION.split(text)]
        built = [part for part in sections if NOT_YET not in " ".join(part.split())]
        there = {route for part in built for route in routes_in(part)}
        self.assertEqual(set(), there - self.routes)
        self.assertGreater(len(there), 60)

    def test_names_of_the_interface_are_documented(self) -> None:
        text = " ".join("".join(self.texts).split())
        words = [*Scope, *Settings().model_dump(by_alias=True)]
        self.assertEqual([], [word for word in words if f"``{word}``" not in text])
        codes = [f"``{code}`` {status}" for code, status in HTTP_STATUS.items()]
        self.assertEqual([], [code for code in codes if code not in text])


class DocumentBuildTests(SynchronousTestCase):
    @pytest.mark.long
    def test_documents_build_without_a_warning(self) -> None:
        ended = subprocess.run(
            [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html",
             "-d", self.mktemp(), str(DOCS), self.mktemp()],
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )  # fmt: skip
        self.assertEqual((0, ""), (ended.returncode, ended.stderr))
