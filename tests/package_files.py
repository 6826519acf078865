"""What the package is made of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

NOT_OURS = {"__pycache__", "static"}


def package_files() -> Iterator[Path]:
    for path in sorted((ROOT / "tservice").rglob("*")):
        if path.is_file() and not NOT_OURS & set(path.relative_to(ROOT).parts):
            yield path.relative_to(ROOT)
