"""Random repositories and edits: the service says what git says."""

from __future__ import annotations

from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.trial.unittest import TestCase

from tests.unit.git.random_repositories import RepositoryMaker, run_git
from tests.unit.git.real_git import own_folder
from tests.unit.review.git_comparison import compare_with_git
from tests.unit.review.random_edits import RandomEditor
from tests.unit.review.review_harness import ReviewWorld


class GitComparisonTests(TestCase):
    """A few seeds; C{tests.stress.review_against_git} takes many."""

    def setUp(self) -> None:
        self.top = own_folder(self)

    async def compare(self, root: Path, base: str, seed: int) -> None:
        world = ReviewWorld(root, self.top / "home")
        try:
            self.assertEqual([], await compare_with_git(world, root, base, seed))
        finally:
            world.database.close()
            await world.runner.stop()

    def test_changes_of_random_repositories_are_those_of_git(self) -> Deferred[None]:
        maker = RepositoryMaker(self.top)

        async def compare_all() -> None:
            for seed in range(8):
                root = maker.make(seed)
                if run_git(root, "rev-parse", "-q", "--verify", "HEAD", fails=True):
                    await self.compare(root, "HEAD", seed)

        return Deferred.fromCoroutine(compare_all())

    def test_random_edits_are_compared_as_by_git(self) -> Deferred[None]:
        async def compare_all() -> None:
            for seed in range(8):
                root = self.top / f"edited {seed}"
                root.mkdir(parents=True)
                run_git(root, "init", "-q", "-b", "main")
                RandomEditor(root, seed).run()
                first = run_git(root, "rev-list", "--max-parents=0", "HEAD").decode().strip()
                await self.compare(root, first if seed % 2 else "HEAD", seed)

        return Deferred.fromCoroutine(compare_all())
