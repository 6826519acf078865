"""The command line of what runs long: how often, and with which dice."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def report(about: str | None, run: Callable[[int, int], object], counted: str, default: int) -> int:
    """Run C{run(count, seed)} and print the figures that it returns.

    @param counted: what is counted, which names the option.
    @return: the exit status.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument(f"--{counted}", dest="count", type=int, default=default)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(f"seed {given.seed}, {given.count} {counted}: {run(given.count, given.seed)}")
    return 0
