"""States of pull requests that the list of sessions shows."""

from __future__ import annotations

from typing import Any

from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.callers import make_caller
from tests.unit.review.review_harness import ANN, SESSION_ID, RecordingSessions
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import make_not_found_error
from tservice.core.kernel.events import Event, EventHub
from tservice.review.forge import marks as marks_module
from tservice.review.forge.marks import MAX_REPOSITORIES, PullRequestMarks
from tservice.review.forge.model import ChecksSummary, PullRequest, PullRequestState
from tservice.sessions.interfaces import Session


class OwnSessions(RecordingSessions):
    """One session, which only its owner sees."""

    is_removed = False

    def list(self, caller: Identity | None = None) -> list[Session]:
        is_own = caller is None or caller.username == self.session.owner
        return [self.session] if is_own else []

    def get_owner(self, session_id: str) -> str | None:
        if self.is_removed:
            raise make_not_found_error("Session")
        return self.session.owner


def make_pull_request(number: int = 7, failed: int = 0) -> PullRequest:
    return PullRequest(
        number=number, title="Mend it", url="", state=PullRequestState.OPEN, base="main",
        commit="1", checks=ChecksSummary(passed=1, failed=failed),
    )  # fmt: skip


class MarksTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.told: list[Any] = []
        self.sessions = OwnSessions(None)  # type: ignore[arg-type]
        hub, sessions = EventHub(), self.sessions
        hub.subscribe(self.keep)
        played: Any = sessions
        self.marks = PullRequestMarks(hub, played)

    def keep(self, event: Event) -> None:
        payload: Any = event.payload
        self.assertEqual(("ann", payload.id), (event.owner, event.session_id))
        self.told.append([(each.number, each.state, each.checks) for each in payload.pull_requests])

    def record(self, found: PullRequest | None, repo: str = ".", session: str = SESSION_ID) -> None:
        self.marks.record_state(session, repo, found)

    def test_changes_alone_are_published(self) -> None:
        self.record(None)
        self.assertEqual([], self.told)
        self.record(make_pull_request())
        self.record(make_pull_request())
        self.record(make_pull_request(failed=1))
        self.record(make_pull_request(8), "inner")
        self.record(None)
        self.assertEqual(
            [
                [(7, "open", "passed")],
                [(7, "open", "failed")],
                [(7, "open", "failed"), (8, "open", "passed")],
                [(8, "open", "passed")],
            ],
            self.told,
        )

    def test_initial_state_has_those_of_sessions_that_the_caller_sees(self) -> None:
        self.record(make_pull_request())
        (known,) = self.marks.describe_known(ANN)
        self.assertEqual((SESSION_ID, 7), (known.id, known.pull_requests[0].number))
        self.assertEqual([], self.marks.describe_known(make_caller(username="bob", admin=False)))
        reader = evolve(ANN, scopes=frozenset({"git", "events"}))
        self.assertEqual([], self.marks.describe_known(reader))
        self.record(None)
        self.assertEqual([], self.marks.describe_known(ANN))

    def test_removed_session_is_forgotten(self) -> None:
        self.sessions.is_removed = True
        self.record(make_pull_request())
        self.assertEqual(([], []), (self.told, self.marks.describe_known(ANN)))

    def test_remembered_sessions_and_repositories_are_bounded(self) -> None:
        self.patch(marks_module, "MAX_MARKED", 2)
        for name in ("a", "b", "c"):
            self.record(make_pull_request(), session=name)
        self.assertEqual(["b", "c"], [*self.marks._told])
        for number in range(MAX_REPOSITORIES + 1):
            self.record(make_pull_request(), f"r{number}", "c")
        self.assertEqual(MAX_REPOSITORIES, len(self.marks._told["c"]))
