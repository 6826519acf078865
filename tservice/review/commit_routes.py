"""Routes that commit and push (protocol-review-commit)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import READS_GIT
from tservice.core.values.failfast import FAIL_FAST
from tservice.core.values.payload import omit_if_none
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.http.validation.models import QueryParameters, RequestBody, ResponseModel
from tservice.review.committing import CommitRequest, CommitService, PushRequest
from tservice.review.model import MAX_FILES
from tservice.review.routes import Path, Repo

Name = Annotated[str, StringConstraints(min_length=1, max_length=250)]

_ACTS = OperationFields(
    tag="Review", access=AccessRule.OWNER, scope=Scope.SESSIONS_INPUT,
    scope_reason="Runs the user's git, whose hooks are programs.",
    errors=(ErrorCode.OPERATION_FAILED,),
)  # fmt: skip


class CommitBody(RequestBody):
    """Commit of files, of all changes, or of what is staged."""

    repo: Repo | None = None
    message: Annotated[str, StringConstraints(min_length=1, max_length=20_000, pattern=r"\S")]
    paths: Annotated[list[Path], Field(min_length=1, max_length=MAX_FILES), FAIL_FAST] | None = None
    all: bool = False
    amend: bool = False
    signoff: bool = False


class CommitResponse(ResponseModel):
    """New commit, and the output of git and its hooks."""

    commit: str | None = omit_if_none()
    output: str


class PushBody(RequestBody):
    """Push of the current commit."""

    repo: Repo | None = None
    remote: Name | None = None
    branch: Name | None = None
    set_upstream: bool = False
    force: Literal["never", "with_lease"] = "never"


class PushResponse(ResponseModel):
    """Output of git and its hooks."""

    output: str


class MessageQuery(QueryParameters):
    """Repository whose message is wanted."""

    repo: Repo | None = Field(default=None, description="As in the list; default: the first")


class MessageResponse(ResponseModel):
    """Suggested message."""

    message: str


class CommitRoutes:
    """Routes that commit and push; the rules are in L{CommitService}."""

    def __init__(self, commits: CommitService) -> None:
        self._commits = commits

    @operation(
        "GET", "/api/sessions/{id}/changes/commit-message", _ACTS,
        scope=Scope.GIT, scope_reason=READS_GIT,
    )  # fmt: skip
    async def get_message(self, call: OperationCall, query: MessageQuery) -> MessageResponse:
        """Suggest a commit message, from the session's name and the changed files."""
        return MessageResponse(message=await self._commits.suggest_message(call.id, query.repo))

    @operation("POST", "/api/sessions/{id}/changes/commit", _ACTS)
    async def commit(self, call: OperationCall, body: CommitBody) -> CommitResponse:
        """Commit with the user's own git and its hooks."""
        wanted = CommitRequest(
            repo=body.repo, message=body.message, paths=body.paths, takes_all=body.all,
            amend=body.amend, signoff=body.signoff,
        )  # fmt: skip
        commit, output = await self._commits.commit(call.id, wanted, call.caller)
        return CommitResponse(commit=commit, output=output)

    @operation("POST", "/api/sessions/{id}/changes/push", _ACTS)
    async def push(self, call: OperationCall, body: PushBody) -> PushResponse:
        """Push with the user's own git, its hooks and credentials."""
        wanted = PushRequest(
            repo=body.repo, remote=body.remote, branch=body.branch,
            sets_upstream=body.set_upstream, with_lease=body.force == "with_lease",
        )  # fmt: skip
        output = await self._commits.push(call.id, wanted, call.caller)
        return PushResponse(output=output)
