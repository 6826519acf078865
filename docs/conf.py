"""How Sphinx builds the pages: C{make docs-html}.  They read as plain reStructuredText as well."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes

project = "tservice"
root_doc = "index"
html_theme = "alabaster"
html_copy_source = False
# Pages lead to each other by links that are good everywhere, not by a toctree that only Sphinx
# knows; tests/unit/test_docs.py looks that every page and every link can be reached.
suppress_warnings = ["toc.not_included"]

_PAGE = re.compile(r"(?P<path>[^:#]+)\.rst(?P<anchor>#.*)?")


def to_html(app: Any, doctree: nodes.document, name: str) -> None:
    """Lead links between pages to the built ones."""
    for reference in doctree.findall(nodes.reference):
        found = _PAGE.fullmatch(reference.get("refuri", ""))
        if found:
            reference["refuri"] = f"{found['path']}.html{found['anchor'] or ''}"


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("doctree-resolved", to_html)
