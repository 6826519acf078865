"""The git status against git itself, on generated repositories."""

from __future__ import annotations

import os
from typing import Any

import pytest
from twisted.internet import defer, reactor
from twisted.trial.unittest import TestCase

from tests.unit.git.git_oracle import ask_status
from tests.unit.git.random_repositories import RepositoryMaker
from tests.unit.git.real_git import folder_fingerprint, own_folder, real_service
from tservice.core.locations.workspace_bounds import ANYWHERE
from tservice.git.model import GitOptions
from tservice.git.service import GitWorkspace

pytestmark = pytest.mark.extended

EACH = int(os.environ.get("GIT_DIFFERENTIAL", "308")) // 7
"""Repositories of one test; there are seven.  C{GIT_DIFFERENTIAL} says how many in all."""


def seen(status: dict[str, Any]) -> dict[str, Any]:
    """A status in the oracle's form."""
    rows = []
    for row in status["files"]:
        letter = row["index"] if row["kind"] == "staged" else row["worktree"]
        letter = "" if row["kind"] == "conflicted" else letter
        old = row.get("origPath") if row["kind"] == "staged" else None
        rows.append((row["path"], row["kind"], letter, old))
    skipped = ("files", "filesTruncated", "repoRoot", "checkedAt", "state")
    kept = {key: value for key, value in status.items() if key not in skipped}
    return {**kept, "rows": sorted(rows)}


class DifferentialTests(TestCase):
    """Every count and list agrees, and nothing below a repository changes."""

    timeout = 600

    async def check(self, first: int) -> None:
        folder = own_folder(self)
        maker = RepositoryMaker(folder)
        service, runner = real_service(reactor, folder)
        self.addCleanup(runner.stop)
        roots = [maker.make(seed) for seed in range(first, first + EACH)]
        before = folder_fingerprint(folder)
        answers = await defer.gatherResults(
            [
                defer.Deferred.fromCoroutine(
                    service.get_status(
                        GitWorkspace(inside=ANYWHERE, folder=str(root)), GitOptions()
                    )
                )
                for root in roots
            ]
        )
        self.assertEqual(before, folder_fingerprint(folder))
        for root, answer in zip(roots, answers, strict=True):
            self.assertEqual("ok", answer["state"], (root, answer))
            [repo] = answer["repos"]
            self.assertEqual((root.name, "."), (repo["name"], repo["path"]))
            self.assertEqual(ask_status(root), seen(repo["status"]), root)

    async def test_random_repositories_agree_seed_0(self) -> None:
        await self.check(0)

    async def test_random_repositories_agree_seed_1(self) -> None:
        await self.check(1000)

    async def test_random_repositories_agree_seed_2(self) -> None:
        await self.check(2000)

    async def test_random_repositories_agree_seed_3(self) -> None:
        await self.check(3000)

    async def test_random_repositories_agree_seed_4(self) -> None:
        await self.check(4000)

    async def test_random_repositories_agree_seed_5(self) -> None:
        await self.check(5000)

    async def test_random_repositories_agree_seed_6(self) -> None:
        await self.check(6000)
