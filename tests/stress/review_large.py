"""Time of the list of changes, and of one file, in a large repository.

C{python -m tests.stress.review_large --files 100000}
"""

from __future__ import annotations

import sys
import tempfile
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from twisted.internet import reactor as global_reactor
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from tests.unit.git.random_repositories import run_git
from tests.unit.review.review_harness import SESSION_ID, ReviewWorld

reactor: Any = global_reactor

FOLDER_FILES = 100
ROUNDS = 5


def make_repository(folder: Path, files: int) -> None:
    """Make a repository with ten changed files and a new one."""
    folder.mkdir()
    run_git(folder, "init", "-q", "-b", "main")
    for number in range(files):
        path = folder / f"d{number // 5000}" / f"s{number // FOLDER_FILES}" / f"{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"x = {number}\n")
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-q", "-m", "first")
    for path in sorted(folder.glob("d0/s*/*0.py"))[:10]:
        path.write_text("y\n")
    (folder / "new.py").write_text("x\n")


async def measure(world: ReviewWorld) -> None:
    """Print the seconds of each round."""
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        changes = await world.review.read_changes(SESSION_ID)
        listed = time.perf_counter()
        path = changes.repositories[0].files[0].display_path
        await world.diff(path)
        ended = time.perf_counter()
        print(
            f"{changes.totals.files} files in {listed - begun:.3f} s, one in {ended - listed:.3f} s"
        )


async def run(files: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        make_repository(Path(name) / "work", files)
        world = ReviewWorld(Path(name) / "work", Path(name) / "home")
        try:
            await measure(world)
        finally:
            world.database.close()
            await world.runner.stop()


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    given = parser.parse_args()
    failures: list[Failure] = []

    def begin() -> None:
        done = Deferred.fromCoroutine(run(given.files))
        done.addErrback(failures.append)
        done.addBoth(lambda _: reactor.stop())

    reactor.callWhenRunning(begin)
    reactor.run()
    for failure in failures:
        failure.printTraceback(sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
