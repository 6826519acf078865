"""States of pull requests for everybody who sees the list of sessions (protocol-pull-request)."""

from __future__ import annotations

from collections import OrderedDict

from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.event_payloads import PullRequestMarkPayload, SessionPullRequestsPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.scopes import Scope
from tservice.review.forge.model import PullRequest
from tservice.sessions.interfaces import ISessions

MAX_MARKED = 500
"""Maximum number of sessions whose pull requests are remembered; the oldest is dropped first."""
MAX_REPOSITORIES = 12
"""Maximum number of repositories of a session."""


class PullRequestMarks:
    """Publishes C{session:pullRequests} when a reading differs from the one before.

    Nothing is read for it: it repeats what a client has asked for.
    """

    def __init__(self, hub: EventHub, sessions: ISessions) -> None:
        self._hub, self._sessions = hub, sessions
        self._told: OrderedDict[str, dict[str, PullRequestMarkPayload]] = OrderedDict()

    def describe_known(self, caller: Identity) -> list[SessionPullRequestsPayload]:
        """Return the pull requests of the caller's sessions, as far as they are known."""
        if not caller.has_scope(Scope.SESSIONS_INPUT):
            return []
        visible = {session.id for session in self._sessions.list(caller)}
        return [
            SessionPullRequestsPayload(id=session_id, pull_requests=[*marks.values()])
            for session_id, marks in self._told.items()
            if session_id in visible and marks
        ]

    def record_state(self, session_id: str, repo: str, found: PullRequest | None) -> None:
        """Publish the state of a branch's pull request if it is another than before.

        @param repo: path of the repository relative to the workspace.
        @param found: the pull request; C{None} if the branch has none.
        """
        before = self._told.pop(session_id, {})
        now = {name: mark for name, mark in before.items() if name != repo}
        if found is not None:
            now[repo] = PullRequestMarkPayload(
                repo=repo,
                number=found.number,
                state=found.state.value,
                checks=found.checks.state.value,
                checks_failed=found.checks.failed,
            )
        now = dict([*now.items()][-MAX_REPOSITORIES:])
        self._told[session_id] = now
        while len(self._told) > MAX_MARKED:
            self._told.popitem(last=False)
        if now == before:
            return
        try:
            owner = self._sessions.get_owner(session_id)
        except ServiceError:
            del self._told[session_id]  # the session was removed
            return
        self._hub.publish(
            Event(
                name=EventName.SESSION_PULL_REQUESTS,
                payload=SessionPullRequestsPayload(id=session_id, pull_requests=[*now.values()]),
                session_id=session_id,
                owner=owner,
            )
        )
