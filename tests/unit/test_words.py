"""Docstrings read as plain engineering English, as far as a program can tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from twisted.trial.unittest import SynchronousTestCase

from tests.non_empty import require_items
from tests.package_files import ROOT, package_files

VAGUE_STARTS = frozenset(
    {
        *("all", "how", "it", "nobody", "none", "one", "so", "somebody", "that", "there", "those"),
        *("what", "where", "whether", "who", "whose"),
    }
)
"""Words that begin a noun clause, or a sentence without a subject."""

DIALECT = re.compile(
    r"\b(whoever|whatever became|nobody|somebody|anew|meanwhile|lest|howsoever|thereby|wherever|"
    r"takes? up|taken up|laid|owed?|owes|crumbs?|strays?|inhabit|crossed out|at once each|"
    r"asked anew|of whom|told|heard|hears|behind (?:it|that|the|them)|"
    r"tells? (?:of|it|them|whether|how|what|which))\b",
    re.IGNORECASE,
)
FIELD_NAME = re.compile(r"@\w+ \w+:|[CL]\{[^}]*\}")
"""Names in the code are not prose."""
MOST_WORDS = 25
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
GENERATED = "tservice/client/typed/"


def list_docstrings() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each docstring of a module, a class or a function."""
    for path in package_files():
        if path.suffix != ".py" or str(path).startswith(GENERATED):
            continue
        for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
            if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
                yield f"{path}:{getattr(node, 'lineno', 1)}", text


def list_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a docstring, without its examples and lists of fields."""
    prose = re.split(r"\n\s*(?:>>>|@|::)|::\n", text)[0]
    for paragraph in re.split(r"\n\s*\n|\n\s*[-*] ", prose):
        yield from re.split(r"(?<=[.;:!?])\s+", " ".join(paragraph.split()))


class DocstringTests(SynchronousTestCase):
    def test_first_word_is_neither_pronoun_nor_start_of_a_noun_clause(self) -> None:
        faults = [
            f"{place}: {text.split()[0]}"
            for place, text in require_items(list_docstrings())
            if text.split()[0].strip(".,:;").lower() in VAGUE_STARTS
        ]
        self.assertEqual([], faults)

    def test_no_word_of_the_old_dialect(self) -> None:
        faults = [
            f"{place}: {found[0]}"
            for place, text in require_items(list_docstrings())
            if (found := DIALECT.search(FIELD_NAME.sub("", text)))
        ]
        self.assertEqual([], faults)

    def test_sentences_have_at_most_25_words(self) -> None:
        faults = [
            f"{place}: {sentence}"
            for place, text in require_items(list_docstrings())
            for sentence in list_sentences(text)
            if len(sentence.split()) > MOST_WORDS
        ]
        self.assertEqual([], faults)
