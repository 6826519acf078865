"""A repository whose branch is on a forge, and played programs of forges."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from twisted.internet import reactor

from tests.runtime_harness import places_of
from tests.unit.git.random_repositories import ENVIRON, run_git
from tests.unit.review.forge.played_forge import PlayedForge
from tests.unit.review.review_harness import ANN, SESSION_ID, ReviewTestCase
from tservice.core.callers.caller import Caller
from tservice.core.locations.location import OWN_LOCATION, Location
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.locations.workspace_bounds import ANYWHERE
from tservice.core.logs.redact import SecretRedactor
from tservice.core.process.child import ChildRunner, find_child_tools
from tservice.core.workers.thread_runners import make_location_runner
from tservice.core.workers.worker_pool import SynchronousThreads
from tservice.git.changing.user_git import UserGit
from tservice.git.location_shell.shell_runner import LocationShellRunner
from tservice.git.service import GitWorkspace
from tservice.review.forge.github import GitHubForge
from tservice.review.forge.gitlab import GitLabForge
from tservice.review.forge.model import (
    PullRequest,
    PullRequestDraft,
)
from tservice.review.forge.service import (
    PullRequestService,
    PullRequestView,
)
from tservice.runtime.local_location_setup import build_own_location

COMMENTS = "repos/ann/clock/pulls/7/comments?per_page=100"


class ForgeTestCase(ReviewTestCase):
    """A repository whose branch C{topic} is on a forge, and both programs."""

    def setUp(self) -> None:
        super().setUp()
        self.commit(a="1\n")
        run_git(self.folder, "checkout", "-q", "-b", "topic")
        self.add_remote("https://github.com/ann/clock.git")
        self.programs = self.folder.parent / "programs"
        self.programs.mkdir()
        environ = {
            **ENVIRON,
            "HOME": str(self.folder.parent),
            "GH_ENTERPRISE_TOKEN": "secret",
            "GITLAB_TOKEN": "secret",
        }
        own = build_own_location(
            self.folder.parent / "data", environ, self.folder.parent, self.find_program,
            uid=os.getuid(),
        )  # fmt: skip
        children = ChildRunner(reactor, reactor, find_child_tools(os.environ["PATH"]))
        self.user_git = UserGit(
            shells=LocationShellRunner(children),
            children=children,
            places=self.make_places(own),
            in_place=make_location_runner(SynchronousThreads()),
            workspace_of=lambda session_id: GitWorkspace(
                folder=str(self.folder), inside=ANYWHERE, place=OWN_LOCATION
            ),
            redactor=SecretRedactor(),
        )
        self.addCleanup(self.user_git.stop)
        sessions: Any = self.world.sessions
        self.service = PullRequestService(
            clock=self.world.clock, review=self.world.review, sessions=sessions,
            git=self.user_git, forges=[GitHubForge(), GitLabForge()],
            on_read=lambda *known: self.known.append(known),
        )  # fmt: skip
        self.known: list[tuple[str, str, PullRequest | None]] = []

    def make_places(self, own: Location) -> LocationRegistry:
        """Return the locations of the machine."""
        return places_of(own)

    def find_program(self, names: Any) -> Path | None:
        found = [self.programs / name for name in names if (self.programs / name).exists()]
        return found[0] if found else None

    def add_remote(self, address: str, name: str = "origin") -> None:
        run_git(self.folder, "remote", "add", name, address)

    def install(self, name: str = "gh") -> PlayedForge:
        return PlayedForge(self.programs, name)

    async def read(self, caller: Caller = ANN) -> PullRequestView:
        return await self.service.read_state(SESSION_ID, None, caller)

    async def read_found(self) -> PullRequest:
        view = await self.read()
        assert view.pull_request is not None, view
        return view.pull_request

    async def create(self, **fields: Any) -> PullRequestView:
        draft = PullRequestDraft(
            **{"title": "Mend it", "body": "Because.", "is_draft": False, "base": None, **fields}
        )
        return await self.service.create(SESSION_ID, None, draft, ANN)
