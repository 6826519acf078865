"""Routes for the pull request of a session's branch (protocol-pull-request)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import READS_GIT, TYPES
from tservice.core.values.failfast import FAIL_FAST
from tservice.core.values.payload import Payload, omit_if_none
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.http.validation.models import QueryParameters, RequestBody, ResponseModel
from tservice.review.forge.mending import CheckMender, MendRequest
from tservice.review.forge.model import (
    ChecksState,
    ChecksSummary,
    ForgeComment,
    PullRequest,
    PullRequestDraft,
    PullRequestState,
    ReviewDecision,
    UnavailableReason,
)
from tservice.review.forge.service import PullRequestService, PullRequestView
from tservice.review.routes import Base, Repo

TITLE_LENGTH = 250
BODY_LENGTH = 60_000
MAX_REVIEWERS = 15

Reviewer = Annotated[
    str,
    StringConstraints(
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}(/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99})?$"
    ),
]

_ACTS = OperationFields(
    tag="Pull requests", access=AccessRule.OWNER, scope=Scope.SESSIONS_INPUT,
    scope_reason="Uses the sign-in of the session's user at a forge.",
    errors=(ErrorCode.OPERATION_FAILED,),
)  # fmt: skip


class PullRequestQuery(QueryParameters):
    """Repository whose branch is wanted."""

    repo: Repo | None = Field(default=None, description="As in the list; default: the first")


class LogQuery(PullRequestQuery):
    """Failed check whose log is wanted."""

    job: Annotated[str, StringConstraints(pattern=r"^[0-9]{1,20}$")] = Field(
        description="``job`` of a failed check"
    )


class MendBody(RequestBody):
    """Request to let the agent repair the failed checks.

    C{requestId} names the request, which is typed once; by default the failures are the name.
    """

    repo: Repo | None = None
    request_id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{1,64}$")] | None = None
    even_while_busy: bool = False


class PullRequestBody(RequestBody):
    """Pull request to create; C{base} is the project's default branch by default.

    C{reviewers} are names at the forge; a team of GitHub is C{ORGANIZATION/TEAM}.
    """

    repo: Repo | None = None
    title: Annotated[
        str, StringConstraints(min_length=1, max_length=TITLE_LENGTH, pattern=r"^[^\n]*\S[^\n]*$")
    ]
    body: Annotated[str, StringConstraints(max_length=BODY_LENGTH)] = ""
    draft: bool = False
    base: Base | None = None
    reviewers: Annotated[list[Reviewer], Field(max_length=MAX_REVIEWERS), FAIL_FAST] = []


class FailedCheckItem(Payload):
    """Check that failed; C{url} leads to its log and may be empty.

    C{job} is there if the service can read the log.
    """

    name: str
    url: str
    job: str | None = omit_if_none()


class ChecksResponse(Payload):
    """State of all checks together, and the failed ones by name."""

    state: ChecksState
    passed: int
    running: int
    failed: int
    failures: list[FailedCheckItem]


class ForgeCommentItem(Payload):
    """Comment of a person at the forge; without C{line} its lines are no longer there."""

    id: str
    author: str
    text: str
    path: str
    side: str
    line: int | None = omit_if_none()
    url: str


class PullRequestItem(Payload):
    """Pull request of the branch; C{commit} is the one to which lines of comments belong."""

    number: int
    title: str
    url: str
    state: PullRequestState
    base: str
    commit: str
    review: ReviewDecision
    checks: ChecksResponse
    comments: list[ForgeCommentItem]
    comments_truncated: bool


class PullRequestResponse(ResponseModel):
    """State of the branch's pull request, or the C{reason} why it is unknown."""

    reason: UnavailableReason | None = omit_if_none()
    message: str | None = omit_if_none()
    forge: str | None = omit_if_none()
    project: str | None = omit_if_none()
    branch: str | None = omit_if_none()
    pull_request: PullRequestItem | None = omit_if_none()
    checked_at: int


class CheckLogResponse(ResponseModel):
    """End of the log of a failed check, at most 8000 characters of plain text."""

    name: str
    log: str


class MendResponse(ResponseModel):
    """Names of the checks that were sent; C{delivered} is false if they were sent before."""

    checks: list[str]
    delivered: bool
    buffered: bool


class PullRequestSuggestionResponse(ResponseModel):
    """Suggested title and description."""

    title: str
    body: str


class PullRequestRoutes:
    """Routes for pull requests; the rules are in L{PullRequestService}."""

    def __init__(self, pull_requests: PullRequestService, mender: CheckMender) -> None:
        self._pull_requests, self._mender = pull_requests, mender

    @operation("GET", "/api/sessions/{id}/changes/pull-request", _ACTS)
    async def get_pull_request(
        self, call: OperationCall, query: PullRequestQuery
    ) -> PullRequestResponse:
        """Get the state of the branch's pull request, its checks and review comments."""
        view = await self._pull_requests.read_state(call.id, query.repo, call.caller)
        return _make_response(view)

    @operation("POST", "/api/sessions/{id}/changes/pull-request", _ACTS)
    async def create_pull_request(
        self, call: OperationCall, body: PullRequestBody
    ) -> PullRequestResponse:
        """Create a pull request of the pushed branch."""
        draft = PullRequestDraft(
            title=body.title.strip(), body=body.body, is_draft=body.draft, base=body.base,
            reviewers=body.reviewers,
        )  # fmt: skip
        view = await self._pull_requests.create(call.id, body.repo, draft, call.caller)
        return _make_response(view)

    @operation(
        "GET", "/api/sessions/{id}/changes/pull-request/suggestion", _ACTS,
        scope=Scope.GIT, scope_reason=READS_GIT,
    )  # fmt: skip
    async def suggest_pull_request(
        self, call: OperationCall, query: PullRequestQuery
    ) -> PullRequestSuggestionResponse:
        """Suggest a title and description, from the session's name and the commits."""
        found = await self._pull_requests.suggest(call.id, query.repo)
        return PullRequestSuggestionResponse(title=found.title, body=found.body)

    @operation("GET", "/api/sessions/{id}/changes/pull-request/log", _ACTS)
    async def get_check_log(self, call: OperationCall, query: LogQuery) -> CheckLogResponse:
        """Get the end of the log of a failed check of the branch's pull request."""
        found = await self._pull_requests.read_log(call.id, query.repo, query.job, call.caller)
        return CheckLogResponse(name=found.check.name, log=found.text)

    @operation(
        "POST", "/api/sessions/{id}/changes/pull-request/mend", _ACTS,
        scope_reason=TYPES, errors=(ErrorCode.CONFLICT, ErrorCode.SESSION_BUSY),
    )  # fmt: skip
    async def mend_checks(self, call: OperationCall, body: MendBody) -> MendResponse:
        """Send the failed checks with the ends of their logs to the agent, typed exactly once."""
        wanted = MendRequest(request_id=body.request_id, even_while_busy=body.even_while_busy)
        delivery, checks = await self._mender.send_failures(call.id, body.repo, wanted, call.caller)
        return MendResponse(
            checks=[each.name for each in checks],
            delivered=delivery.delivered,
            buffered=delivery.buffered,
        )


def _make_response(view: PullRequestView) -> PullRequestResponse:
    found = view.pull_request
    return PullRequestResponse(
        reason=view.reason,
        message=view.message or None,
        forge=view.forge,
        project=None if view.branch is None else view.branch.project,
        branch=None if view.branch is None else view.branch.branch,
        pull_request=None if found is None else _make_item(found),
        checked_at=view.checked_at,
    )


def _make_item(found: PullRequest) -> PullRequestItem:
    return PullRequestItem(
        number=found.number,
        title=found.title,
        url=found.url,
        state=found.state,
        base=found.base,
        commit=found.commit,
        review=found.review,
        checks=_make_checks(found.checks),
        comments=[_make_comment(each) for each in found.comments],
        comments_truncated=found.has_more_comments,
    )


def _make_checks(checks: ChecksSummary) -> ChecksResponse:
    return ChecksResponse(
        state=checks.state,
        passed=checks.passed,
        running=checks.running,
        failed=checks.failed,
        failures=[
            FailedCheckItem(name=each.name, url=each.url, job=each.job or None)
            for each in checks.failures
        ],
    )


def _make_comment(comment: ForgeComment) -> ForgeCommentItem:
    return ForgeCommentItem(
        id=comment.id,
        author=comment.author,
        text=comment.text,
        path=comment.path,
        side="old" if comment.is_old_side else "new",
        line=comment.line,
        url=comment.url,
    )
