"""Changes of random repositories, compared with what git says.

C{python -m tests.stress.review_against_git --count 1000 --seed 1}
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

from twisted.internet import reactor as global_reactor
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from tests.unit.git.random_repositories import RepositoryMaker, run_git
from tests.unit.review.git_comparison import compare_with_git
from tests.unit.review.random_edits import RandomEditor
from tests.unit.review.review_harness import ReviewWorld

reactor: Any = global_reactor


async def compare_seed(maker: RepositoryMaker, seed: int) -> list[str]:
    """Make one repository, compare, and remove it."""
    if seed % 2:
        root = maker.folder / f"edited {seed}"
        root.mkdir()
        run_git(root, "init", "-q", "-b", "main")
        RandomEditor(root, seed).run()
    else:
        root = maker.make(seed)
    if not run_git(root, "rev-parse", "-q", "--verify", "HEAD", fails=True):
        return []
    first = run_git(root, "rev-list", "--max-parents=0", "HEAD").split()[-1].decode()
    world = ReviewWorld(root, maker.folder / "home")
    try:
        return await compare_with_git(world, root, first if seed % 3 else "HEAD", seed)
    finally:
        world.database.close()
        await world.runner.stop()
        shutil.rmtree(root)


async def compare_all(folder: Path, count: int, seed: int) -> list[str]:
    maker = RepositoryMaker(folder)
    return [
        fault for number in range(seed, seed + count) for fault in await compare_seed(maker, number)
    ]


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found: list[str] = []

    def finish(faults: list[str] | Failure) -> None:
        found.extend([faults.getTraceback()] if isinstance(faults, Failure) else faults)
        reactor.stop()

    with tempfile.TemporaryDirectory() as top:
        folder = Path(top).resolve() / "repositories"
        work = partial(compare_all, folder, given.count, given.seed)
        reactor.callWhenRunning(lambda: Deferred.fromCoroutine(work()).addBoth(finish))
        reactor.run()
    sys.stdout.write("\n".join([*found, f"{given.count} repositories, {len(found)} faults\n"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
