"""Construction of the feature for reviews."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred

from tservice.clis.interfaces import ICliRegistry, is_agent_configuration
from tservice.git.interfaces import IUserGit, IWorkingCopies
from tservice.http.operation_decorator import collect_operations
from tservice.http.operations import Operation
from tservice.review.comment_routes import CommentRoutes
from tservice.review.comments import CommentService
from tservice.review.commit_routes import CommitRoutes
from tservice.review.committing import CommitService
from tservice.review.comparison.base_choice import BaseChooser
from tservice.review.comparison.comparer import TreeComparer
from tservice.review.comparison.worktrees import SessionTrees
from tservice.review.forge.github import GitHubForge
from tservice.review.forge.gitlab import GitLabForge
from tservice.review.forge.marks import PullRequestMarks
from tservice.review.forge.mending import CheckMender
from tservice.review.forge.routes import PullRequestRoutes
from tservice.review.forge.service import PullRequestService
from tservice.review.reverting import RevertService
from tservice.review.routes import ChangesRoutes
from tservice.review.service import ReviewService
from tservice.review.store import ReviewStore
from tservice.review.turns.comparing import TurnTrees
from tservice.review.turns.recording import TurnRecorder
from tservice.review.turns.store import TurnStore
from tservice.review.watching import ChangesWatcher
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions

_GIT = ".git"
"""Name of a repository, or of a file that points to one.  What is inside can run commands."""


def build_review(
    ground: Runtime,
    *,
    sessions: ISessions,
    clis: ICliRegistry,
    copies: IWorkingCopies,
    user_git: IUserGit,
) -> FeatureRegistration[ReviewService]:
    """Build the feature for the changes of sessions, and comments on them.

    Its git processes belong to the feature C{git}.
    """
    clock, store = ground.reactor, ReviewStore(ground.database)
    bases = BaseChooser(clock, sessions, store)
    review = ReviewService(clock=clock, copies=copies, store=store, chosen_base=bases.find_chosen)
    watcher = ChangesWatcher(
        clock=clock, hub=ground.hub, sessions=sessions, copies=copies, review=review, store=store
    )
    review.on_read = watcher.report_changes
    turns = TurnStore(ground.database)
    recorder = TurnRecorder(clock=clock, hub=ground.hub, copies=copies, store=turns)
    trees = SessionTrees(sessions, copies, store), TurnTrees(turns)
    comments = _build_comments(ground, review, watcher, store, sessions)
    changes = ChangesRoutes(
        review=review,
        comments=comments,
        reverts=_build_reverts(ground, review, store, sessions, clis),
        store=store,
        watcher=watcher,
        bases=bases,
        comparer=TreeComparer(clock, copies, trees, review.make_wish),
        sessions=trees[0],
        turns=trees[1],
    )
    marks = PullRequestMarks(ground.hub, sessions)

    def start() -> None:
        watcher.start()
        recorder.start()

    def close() -> Deferred[Any]:
        watcher.stop()
        return recorder.stop()

    return FeatureRegistration(
        name="review",
        service=review,
        operations=[
            *collect_operations(changes),
            *collect_operations(CommentRoutes(comments)),
            *_collect_user_git_operations(ground, review, sessions, user_git, marks),
        ],
        initial_state={"changes": watcher.describe_known, "pullRequests": marks.describe_known},
        start=start,
        close=close,
    )


def _make_id_source(ground: Runtime) -> Callable[[], str]:
    """Return a function that makes an id of a comment or a copy."""
    return lambda: ground.random(8).hex()


def _build_reverts(
    ground: Runtime,
    review: ReviewService,
    store: ReviewStore,
    sessions: ISessions,
    clis: ICliRegistry,
) -> RevertService:
    return RevertService(
        clock=ground.reactor,
        review=review,
        store=store,
        sessions=sessions,
        make_id=_make_id_source(ground),
        can_run_commands=_ConfigurationFiles(clis).can_run_commands,
    )


def _build_comments(
    ground: Runtime,
    review: ReviewService,
    watcher: ChangesWatcher,
    store: ReviewStore,
    sessions: ISessions,
) -> CommentService:
    return CommentService(
        clock=ground.reactor,
        review=review,
        store=store,
        sessions=sessions,
        make_id=_make_id_source(ground),
        template=lambda: ground.settings.get().review_prompt_template,
        on_change=watcher.report_comments,
    )


def _collect_user_git_operations(
    ground: Runtime,
    review: ReviewService,
    sessions: ISessions,
    user_git: IUserGit,
    marks: PullRequestMarks,
) -> Sequence[Operation]:
    """Return the operations that run programs of the user with the user's sign-in."""
    pull_requests = PullRequestService(
        clock=ground.reactor,
        review=review,
        sessions=sessions,
        git=user_git,
        forges=[GitHubForge(), GitLabForge()],
        on_read=marks.record_state,
    )
    return [
        *collect_operations(CommitRoutes(CommitService(review, sessions, user_git))),
        *collect_operations(PullRequestRoutes(pull_requests, CheckMender(pull_requests, sessions))),
    ]


@frozen
class _ConfigurationFiles:
    """Files that configure git or an agent."""

    clis: ICliRegistry

    def can_run_commands(self, path: str) -> bool:
        """Return true if a file at C{path} can make git or an agent run a command."""
        sources = [
            source
            for entry in self.clis.list_entries()
            for source in entry.capabilities.folder_config or ()
        ]
        return _GIT in path.casefold().split("/") or is_agent_configuration(path, sources)
