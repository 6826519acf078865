"""Configuration of Sphinx for C{make docs-html}.  The pages also read as plain reStructuredText."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes

project = "tservice"
root_doc = "index"
html_theme = "alabaster"
html_copy_source = False
# Pages link to each other by relative paths, which also work without Sphinx's toctree.
# tests/unit/test_docs.py checks that every page and every link can be reached.
suppress_warnings = ["toc.not_included"]

_PAGE = re.compile(r"(?P<path>[^:#]+)\.rst(?P<anchor>#.*)?")


def to_html(app: Any, doctree: nodes.document, name: str) -> None:
    """Point links between pages to the built ones."""
    for reference in doctree.findall(nodes.reference):
        found = _PAGE.fullmatch(reference.get("refuri", ""))
        if found:
            reference["refuri"] = f"{found['path']}.html{found['anchor'] or ''}"


def setup(app: Any) -> None:
    """Register the hook; called by Sphinx."""
    app.connect("doctree-resolved", to_html)
