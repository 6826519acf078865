"""Pages and forms name the minimum versions that the program checks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.non_empty import require_items
from tservice.doctor.catalogue import MIN_PYTHON, TOOLS
from tservice.doctor.model import format_version
from tservice.mux.tmux_version import MIN_TMUX, MIN_TMUX_TEXT

ROOT = Path(__file__).resolve().parents[3]
LISTS = ("docs/howto/doctor.rst", "docs/reference/protocol/features.rst")
"""Pages that list what the doctor requires."""


def texts() -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each page and form."""
    forms = (ROOT / "web/src/features").rglob("*.tsx")
    for path in [ROOT / "README.rst", *(ROOT / "docs").rglob("*.rst"), *forms]:
        yield str(path.relative_to(ROOT)), " ".join(path.read_text("utf-8").split())


class MinimumVersionTests(SynchronousTestCase):
    def found(self, pattern: str) -> dict[str, set[str]]:
        named = {path: set(re.findall(pattern, text)) for path, text in texts()}
        return {path: versions for path, versions in named.items() if versions}

    def test_tmux(self) -> None:
        found = self.found(r"tmux (\d+\.\d+) or later")
        self.assertLess(5, len(found))
        for path, versions in found.items():
            self.assertEqual({MIN_TMUX_TEXT}, versions, path)

    def test_python(self) -> None:
        for path, versions in require_items(
            self.found(r"Python (\d+\.\d+)(?:,| or later)").items()
        ):
            self.assertEqual({format_version(MIN_PYTHON)}, versions, path)
        setup = (ROOT / "setup.cfg").read_text("utf-8")
        self.assertIn(f"python_requires = >={format_version(MIN_PYTHON)}\n", setup)
        self.assertIn(f"sys.version_info < {MIN_PYTHON}", (ROOT / "tools/venv").read_text("utf-8"))

    def test_lists_of_the_doctor(self) -> None:
        least = {tool.id: tool.least for tool in TOOLS}
        self.assertEqual(MIN_TMUX, least["tmux"])
        pages = dict(texts())
        for path in LISTS:
            for tool in ("tmux", "git"):
                version = format_version(least[tool] or ())
                self.assertIn(f"{tool} {version}", pages[path].lower(), path)
