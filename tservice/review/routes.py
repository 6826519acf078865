"""Routes below C{/api/sessions/{id}/changes} (protocol-changes)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import READS_GIT, TYPES
from tservice.core.values.failfast import FAIL_FAST
from tservice.core.values.payload import Payload
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, AuditMode, OperationCall, Scope
from tservice.http.validation.models import QueryInt, QueryParameters, RequestBody, ResponseModel
from tservice.review.comments import CommentService
from tservice.review.comparison.base_choice import BaseChooser
from tservice.review.comparison.changes import DiffOptions
from tservice.review.comparison.comparer import Sides, TreeComparer
from tservice.review.comparison.worktrees import SessionTrees
from tservice.review.model import CONTEXT_DEFAULT, WHOLE_CONTEXT
from tservice.review.responses import (
    ChangesResponse,
    FileDiffResponse,
    RevertResponse,
    make_changes_response,
    make_file_response,
)
from tservice.review.reverting import LineRange, RevertRequest, RevertService
from tservice.review.service import ReviewService, SessionChanges
from tservice.review.store import ReviewStore
from tservice.review.turns.comparing import TurnTrees
from tservice.review.watching import ChangesWatcher

MAX_CONTEXT = 10_000
"""Maximum number of context lines, besides C{all}."""

Path = Annotated[str, StringConstraints(min_length=1, max_length=8192)]
Repo = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
Base = Annotated[str, StringConstraints(min_length=1, max_length=250)]
FileHash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
RowNumber = Annotated[int, Field(ge=1, le=10_000_000)]

_READS = OperationFields(
    tag="Review", access=AccessRule.OWNER, scope=Scope.GIT, scope_reason=READS_GIT,
    errors=(ErrorCode.OPERATION_FAILED,),
)  # fmt: skip
_WRITES = OperationFields(
    tag="Review", access=AccessRule.OWNER, scope=Scope.SESSIONS_INPUT, scope_reason=TYPES,
    errors=(ErrorCode.OPERATION_FAILED, ErrorCode.CONFLICT),
)  # fmt: skip


class ChangesQuery(QueryParameters):
    """Both sides of the comparison."""

    base: Base | None = Field(
        default=None,
        description=(
            "Branch, tag or commit, ``start`` for the session's start, ``session:ID`` for the"
            " working tree of another session, or ``turn:AT`` for the end of a turn; default: the"
            " chosen one, else the branch point, else the session's start, else HEAD"
        ),
    )
    target: Base | None = Field(
        default=None,
        description="What is compared with the base, named like it; default: the working tree",
    )

    def to_sides(self) -> Sides:
        """Return both names."""
        return Sides(base=self.base, target=self.target)


class RepoQuery(QueryParameters):
    """Repository that is wanted."""

    repo: Repo | None = Field(default=None, description="As in the list; default: the first")


class BaseBody(RequestBody):
    """Base to remember for the workspace: a branch, tag or commit, or C{start}; null forgets it."""

    repo: Repo | None = None
    base: Base | None


class OtherSessionItem(Payload):
    """Session with whose working tree a session can be compared."""

    id: str
    name: str


class TurnEndItem(Payload):
    """End of a turn, in Unix milliseconds, at which the files were recorded."""

    at: int


class BaseChoiceResponse(ResponseModel):
    """Bases that can be chosen; C{chosen} is null while the service chooses.

    C{sessions} are those in other folders that began at a commit of the repository.  C{turns} are
    the ends of turns, latest first.
    """

    chosen: str | None
    branches: list[str]
    start: bool
    sessions: list[OtherSessionItem]
    turns: list[TurnEndItem]


class FileDiffQuery(ChangesQuery):
    """File whose hunks are wanted."""

    repo: Repo | None = Field(default=None, description="As in the list; default: the first")
    path: Path = Field(description="As in the list")
    context: Literal["all"] | QueryInt = Field(
        default=CONTEXT_DEFAULT, description="Lines around a change, or ``all``; clamped"
    )
    whitespace: Literal["show", "ignore-end", "ignore-amount", "ignore"] = "show"
    start: QueryInt = Field(default=0, description="``next`` of the page before")

    def to_options(self) -> DiffOptions:
        """Return the options, with numbers clamped to their bounds."""
        context = WHOLE_CONTEXT if self.context == "all" else self.context
        return DiffOptions(
            context=context if context == WHOLE_CONTEXT else min(max(context, 0), MAX_CONTEXT),
            whitespace=self.whitespace,
            start=max(self.start, 0),
        )


class ViewedBody(RequestBody):
    """File that was seen; C{hash} of the content that was seen, or null to take it back."""

    repo: Repo | None = None
    path: Path
    hash: FileHash | None


class LinesBody(RequestBody):
    """Lines of one side, both ends included."""

    side: Literal["old", "new"]
    line: RowNumber
    end_line: RowNumber


class RevertBody(RequestBody):
    """File, or parts of it, to put back to the base.

    C{context} is that of the hunks that C{hunkIds} names.
    """

    repo: Repo | None = None
    path: Path
    base: Base | None = None
    hash: FileHash
    hunk_ids: (
        Annotated[
            list[Annotated[str, StringConstraints(max_length=40)]],
            Field(min_length=1, max_length=1000),
            FAIL_FAST,
        ]
        | None
    ) = None
    lines: Annotated[list[LinesBody], Field(min_length=1, max_length=1000), FAIL_FAST] | None = None
    context: Annotated[int, Field(ge=0, le=WHOLE_CONTEXT)] = CONTEXT_DEFAULT
    even_while_busy: bool = False

    def to_request(self) -> RevertRequest:
        """Return the request of this body."""
        lines = None if self.lines is None else [
            LineRange(is_old=each.side == "old", first=each.line, last=each.end_line)
            for each in self.lines
        ]  # fmt: skip
        return RevertRequest(
            repo=self.repo,
            path=self.path,
            base=self.base,
            hash=self.hash,
            hunk_ids=None if self.hunk_ids is None else frozenset(self.hunk_ids),
            lines=lines,
            context=self.context,
            even_while_busy=self.even_while_busy,
        )


class UndoBody(RequestBody):
    """Copy that a revert kept."""

    undo_id: Annotated[str, StringConstraints(min_length=1, max_length=64)]


class ReviewEmptyResponse(ResponseModel):
    """Nothing more to say."""


class ChangesRoutes:
    """Routes for the changes of a session; the rules are in the services."""

    def __init__(
        self,
        *,
        review: ReviewService,
        comments: CommentService,
        reverts: RevertService,
        store: ReviewStore,
        watcher: ChangesWatcher,
        bases: BaseChooser,
        comparer: TreeComparer,
        sessions: SessionTrees,
        turns: TurnTrees,
    ) -> None:
        self._review, self._comments, self._reverts = review, comments, reverts
        self._bases, self._comparer = bases, comparer
        self._session_trees, self._turn_trees = sessions, turns
        self._store, self._watcher = store, watcher

    @operation("GET", "/api/sessions/{id}/changes", _READS, errors=(ErrorCode.CONFLICT,))
    async def get_changes(self, call: OperationCall, query: ChangesQuery) -> ChangesResponse:
        """List what a session changed against its base, committed or not."""
        self._watcher.watch(call.id)
        changes = await self._read_changes(call, query.to_sides())
        comments = await self._comments.list_comments(call.id)
        viewed = {
            each.path: self._store.list_viewed(call.id, each.path) for each in changes.repositories
        }
        return make_changes_response(changes, viewed, comments)

    @operation("GET", "/api/sessions/{id}/changes/file", _READS, errors=(ErrorCode.CONFLICT,))
    async def get_file(self, call: OperationCall, query: FileDiffQuery) -> FileDiffResponse:
        """Get the hunks of one changed file, with line numbers and the words that changed."""
        repo, path, options = query.repo, query.path, query.to_options()
        sides = query.to_sides()
        if self._comparer.is_needed(sides):
            found = await self._comparer.read_file_diff(
                call.id, sides, repo, path, options, call.caller
            )
        else:
            found = await self._review.read_file_diff(call.id, repo, path, query.base, options)
        return make_file_response(found)

    @operation("GET", "/api/sessions/{id}/changes/base", _READS)
    async def list_bases(self, call: OperationCall, query: RepoQuery) -> BaseChoiceResponse:
        """List the bases that can be chosen for a repository, and the chosen one."""
        copy = await self._review.open_copy(call.id, query.repo)
        found = await self._bases.list_choices(call.id, copy)
        others = await self._session_trees.list_candidates(call.id, copy, call.caller)
        return BaseChoiceResponse(
            chosen=found.chosen,
            branches=[*found.branches],
            start=found.has_start,
            sessions=[OtherSessionItem(id=each.id, name=each.name) for each in others],
            turns=[TurnEndItem(at=at) for at in self._turn_trees.list_turns(call.id, copy)],
        )

    @operation(
        "PUT", "/api/sessions/{id}/changes/base", _READS,
        scope=Scope.SESSIONS_MANAGE, scope_reason="Changes what people see as changed.",
        audit=AuditMode.NONE,
    )  # fmt: skip
    async def choose_base(self, call: OperationCall, body: BaseBody) -> ReviewEmptyResponse:
        """Compare with another base, in all sessions in the same working directory."""
        copy = await self._review.open_copy(call.id, body.repo)
        await self._bases.choose(call.id, copy, body.base, call.caller)
        self._review.forget_recent()
        return ReviewEmptyResponse()

    @operation(
        "PUT", "/api/sessions/{id}/changes/viewed", _READS,
        scope=Scope.SESSIONS_MANAGE, scope_reason="Marks what a person has seen.",
        audit=AuditMode.NONE,
    )  # fmt: skip
    async def set_viewed(self, call: OperationCall, body: ViewedBody) -> ReviewEmptyResponse:
        """Mark a changed file as seen, as long as its content stays the same."""
        await self._review.set_viewed(call.id, body.repo, body.path, body.hash, call.caller)
        return ReviewEmptyResponse()

    @operation(
        "POST", "/api/sessions/{id}/changes/revert", _WRITES,
        scope_reason="The file that is put back can be a program that runs later.",
        errors=(ErrorCode.SESSION_BUSY,),
    )  # fmt: skip
    async def revert(self, call: OperationCall, body: RevertBody) -> RevertResponse:
        """Put a file, or hunks or lines of it, back to the base."""
        done = await self._reverts.revert_file(call.id, body.to_request(), call.caller)
        return RevertResponse(undo_ids=[*done.undo_ids], hash=done.hash)

    @operation(
        "POST", "/api/sessions/{id}/changes/revert/undo", _WRITES,
        scope_reason="The file that is put back can be a program that runs later.",
    )  # fmt: skip
    async def undo_revert(self, call: OperationCall, body: UndoBody) -> RevertResponse:
        """Bring back a file that a revert replaced; possible for 7 days."""
        done = await self._reverts.undo_revert(call.id, body.undo_id, call.caller)
        return RevertResponse(undo_ids=[], hash=done.hash)

    async def _read_changes(self, call: OperationCall, sides: Sides) -> SessionChanges:
        if not self._comparer.is_needed(sides):
            return await self._review.read_changes(call.id, sides.base)
        found = await self._comparer.read_changes(call.id, sides, call.caller)
        return SessionChanges(repositories=found)
