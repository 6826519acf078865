"""The pages read as plain English: short sentences, and no words of a private dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from attrs import field, frozen
from twisted.trial.unittest import SynchronousTestCase

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("tutorial", "howto", "reference", "explain", "contributing", "lab")
PLAIN = ("tutorial", "howto", "reference", "explain")
"""Folders of pages in which words of the dialect are errors."""
MOST, P90 = 45, 25
"""Words of the longest sentence, and of nine sentences in ten."""
DIALECT = re.compile(
    r"\b(whoever|whatever became|nobody|somebody|anew|meanwhile|besides?|"
    r"behind (?:it|that|the|them)|told|tells? (?:of|it|them|whether|how|what|which)|"
    r"stands? (?:in|on|for|there|by|at|beside|behind)|takes? up|taken up|lay the ground|laid|"
    r"owed?|owes|crumbs?|doors?|desk|book|trunk|leaves|strays?|inhabit|tenant|crossed out|"
    r"at once each|all else|for long|no longer than|lest|such a|of (?:its|their) own|heard|hears|"
    r"asked anew|of whom|thereby|wherever|howsoever)\b",
    re.IGNORECASE,
)
LIMITS = {"explain": 300}
"""Most lines of a page, by folder."""
_BORDER = re.compile(r"\s*=+(?: +=+)+\s*")
_UNDERLINE = re.compile(r"([=\-~^])\1{2,}")
_ITEM = re.compile(r"(?:\* - |\* |- |\d+\. )")
_END = re.compile(r"(?<=[.;:?!])\s+")


@frozen
class Sentence:
    """Sentence of a page, without markup.

    @ivar line: number of the line that its paragraph begins in.
    """

    line: int
    text: str

    @property
    def length(self) -> int:
        """Number of words; a literal counts as one."""
        return sum(any(sign.isalnum() for sign in word) for word in self.text.split())


def parse_cells(line: str, border: str) -> list[str]:
    """Return the columns of one line of a simple table."""
    starts = [match.start() for match in re.finditer("=+", border)]
    return [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]


@frozen
class PageParser:
    """Reader of the paragraphs, list items and table cells of one page."""

    found: list[tuple[int, list[str]]] = field(factory=list)

    def add(self, line: int, text: str, *, new: bool = True) -> None:
        """Start a paragraph, or continue the last one."""
        if new or not self.found:
            self.found.append((line, [text]))
        else:
            self.found[-1][1].append(text)

    def read(self, text: str) -> None:
        """Collect all paragraphs; literal blocks, directives and headings are left out."""
        literal: int | None = None
        new = True
        lines = iter(enumerate(text.splitlines(), 1))
        for number, line in lines:
            indent, words = len(line) - len(line.lstrip()), line.strip()
            if literal is not None and (not words or indent > literal):
                continue
            literal = None
            if _BORDER.fullmatch(line):
                self.read_table(line, lines)
                new = True
            elif not words or words.startswith(".. ") or re.match(r":[\w-]+:", words):
                literal = indent if words.startswith((".. image", ".. code-block")) else None
                new = True
            elif _UNDERLINE.fullmatch(words):
                if self.found:
                    self.found.pop()
                new = True
            else:
                item = _ITEM.match(words)
                words = words[item.end() :] if item else words
                self.add(number, words.removesuffix(":").removesuffix(":"), new=new or bool(item))
                new = words.endswith("::")
                literal = indent if new else None

    def read_table(self, border: str, lines: Iterator[tuple[int, str]]) -> None:
        """Collect the cells of a simple table, up to the blank line after it."""
        for number, line in lines:
            if not line.strip():
                return
            cells = [] if _BORDER.fullmatch(line) else parse_cells(line, border)
            if cells and not cells[0]:
                for (_, parts), cell in zip(self.found[-len(cells) :], cells, strict=True):
                    parts.append(cell)
            else:
                self.found.extend((number, [cell]) for cell in cells)


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a page with three words or more."""
    parser = PageParser()
    parser.read(text)
    for line, parts in parser.found:
        plain = re.sub(r"``[^`]*``", "X", " ".join(parts))
        plain = re.sub(r"`([^`<]*?)\s*<[^>]*>`_", r"\1", plain)
        for part in _END.split(re.sub(r"`([^`]*)`_", r"\1", plain)):
            sentence = Sentence(line, part)
            if sentence.length > 2:
                yield sentence


def pages() -> list[Path]:
    """Return all pages that are checked."""
    found = [path for name in FOLDERS for path in sorted((ROOT / "docs" / name).rglob("*.rst"))]
    return [ROOT / "README.rst", ROOT / "docs/index.rst", *found]


class ProseTests(SynchronousTestCase):
    def test_sentences_are_short(self) -> None:
        wrong = []
        for page in pages():
            found = list(sentences(page.read_text(encoding="utf-8")))
            lengths = sorted(sentence.length for sentence in found)
            if lengths and lengths[int(len(lengths) * 0.9)] > P90:
                wrong.append(f"{page.relative_to(ROOT)}: p90 {lengths[int(len(lengths) * 0.9)]}")
            wrong += [
                f"{page.relative_to(ROOT)}:{sentence.line}: {sentence.length} words"
                for sentence in found
                if sentence.length > MOST
            ]
        self.assertEqual([], wrong)

    def test_words_are_plain(self) -> None:
        wrong = [
            f"{page.relative_to(ROOT)}:{sentence.line}: {found[0]}"
            for page in pages()
            if {"docs", *PLAIN} & set(page.relative_to(ROOT).parts) > {"docs"}
            for sentence in sentences(page.read_text(encoding="utf-8"))
            if (found := DIALECT.search(sentence.text))
        ]
        self.assertEqual([], wrong)

    def test_pages_are_short(self) -> None:
        wrong = [
            f"{page.relative_to(ROOT)}: {len(page.read_text('utf-8').splitlines())} lines"
            for page in pages()
            for name, most in LIMITS.items()
            if name in page.parts and len(page.read_text("utf-8").splitlines()) > most
        ]
        self.assertEqual([], wrong)
