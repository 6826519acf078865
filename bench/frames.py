"""Precision and recall of the screen rules over the labelled recordings.

Run: C{PYTHONPATH=. python bench/frames.py [folder of recordings] [-v]}.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.frames import HERE, load
from tests.frames.score import score


def main(arguments: list[str]) -> None:
    """Print the table; with C{-v} every miss."""
    folders = [Path(word) for word in arguments if not word.startswith("-")]
    for folder in folders or [HERE]:
        result = score(load(folder))
        print(result.table())
        if "-v" in arguments:
            print("\n".join(result.misses))


if __name__ == "__main__":
    main(sys.argv[1:])
