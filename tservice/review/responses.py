"""Answers of the routes of reviews (protocol-changes, protocol-review-comments)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tservice.core.kernel.event_payloads import ChangeTotalsPayload
from tservice.core.values.payload import Payload, omit_if_false, omit_if_none
from tservice.review.anchors import AnchorState
from tservice.review.comment_model import (
    CommentSide,
    CommentState,
    PlacedComment,
    ReplyState,
)
from tservice.review.comparison.changes import FileDiff, ImageSide
from tservice.review.comparison.hunks import DiffRow, Hunk, RowKind
from tservice.review.model import (
    BaseSource,
    ChangedFile,
    ComparisonBase,
    FileStatus,
    RepositoryChanges,
)
from tservice.review.service import SessionChanges


class BaseResponse(Payload):
    """Side of a comparison: its commit, and the reason for it."""

    ref: str | None
    commit: str | None
    source: BaseSource


class HeadResponse(Payload):
    """Branch and commit that are checked out."""

    branch: str | None
    commit: str | None
    detached: bool


class FileCommentsResponse(Payload):
    """Numbers of comments on a file; C{outdated} of those whose lines are no longer there."""

    open: int
    sent: int
    outdated: int


class ChangedFileItem(Payload):
    """File that differs from the base; C{viewed} if this content was seen."""

    path: str
    orig_path: str | None = omit_if_none()
    status: FileStatus
    similarity: int | None = omit_if_none()
    added: int
    removed: int
    binary: bool
    generated: bool
    kind: list[str]
    old_mode: str | None = omit_if_none()
    new_mode: str | None = omit_if_none()
    hash: str
    viewed: bool
    comments: FileCommentsResponse


class RepositoryChangesResponse(Payload):
    """Changes in one repository; C{repo} is its path relative to the working directory.

    Without C{target} it is the working tree that is compared with the base.
    """

    repo: str
    name: str
    base: BaseResponse
    target: BaseResponse | None = omit_if_none()
    head: HeadResponse
    files: list[ChangedFileItem]
    totals: ChangeTotalsPayload
    truncated: bool


class ChangesResponse(Payload):
    """Changes of a session."""

    repositories: list[RepositoryChangesResponse]
    totals: ChangeTotalsPayload


class RowResponse(Payload):
    """Line of a hunk; C{words} is the range that changed, in UTF-16 units."""

    kind: RowKind
    old: int | None = omit_if_none()
    new: int | None = omit_if_none()
    text: str
    no_newline: bool = omit_if_false()
    words: list[int] | None = omit_if_none()


class HunkResponse(Payload):
    """Part of a file with changes."""

    id: str
    old_start: int
    old_count: int
    new_start: int
    new_count: int
    section: str
    continued: bool = omit_if_false()
    rows: list[RowResponse]


class ImageResponse(Payload):
    """Image as base64."""

    media_type: str
    data: str


class FileDiffResponse(Payload):
    """Page of a file's difference; C{next} is C{start} of the next page."""

    path: str
    hash: str
    binary: bool
    submodule: bool
    hunks: list[HunkResponse]
    next: int | None
    truncated: bool
    old_image: ImageResponse | None = omit_if_none()
    new_image: ImageResponse | None = omit_if_none()


class AnchorResponse(Payload):
    """Place of a comment's lines in the file as it is now."""

    state: AnchorState
    path: str
    line: int | None = omit_if_none()
    end_line: int | None = omit_if_none()
    lines: list[str]


class ReplyResponse(Payload):
    """Answer of the agent."""

    state: ReplyState
    text: str
    at: int


class CommentResponse(Payload):
    """Comment on lines of a file.

    C{lines} are the lines as they were, and C{anchor} says where they are now.
    """

    id: str
    repo: str
    path: str
    side: CommentSide
    line: int
    end_line: int
    text: str
    suggestion: str | None = omit_if_none()
    state: CommentState
    author: str
    lines: list[str]
    anchor: AnchorResponse
    reply: ReplyResponse | None = omit_if_none()
    created_at: int
    updated_at: int
    sent_at: int | None = omit_if_none()


class CommentEnvelope(Payload):
    """Single comment."""

    comment: CommentResponse


class CommentListResponse(Payload):
    """Comments of a session, oldest first."""

    comments: list[CommentResponse]


class SentReviewResponse(Payload):
    """Ids of the comments that were sent.

    C{delivered} is false if the prompt was typed by an earlier call, or is kept until the session's
    host is back.
    """

    comment_ids: list[str]
    delivered: bool
    buffered: bool = omit_if_false()


class RevertResponse(Payload):
    """Ids for undoing, last step last, and the hash of the file now."""

    undo_ids: list[str]
    hash: str


def make_changes_response(
    changes: SessionChanges,
    viewed: Mapping[str, Mapping[str, str]],
    comments: Sequence[PlacedComment],
) -> ChangesResponse:
    """Return the answer of C{GET changes}.

    @param viewed: hashes of seen files by path, by repository.
    """
    counts = _count_comments(comments)
    return ChangesResponse(
        repositories=[
            _make_repository(each, viewed.get(each.path, {}), counts)
            for each in changes.repositories
        ],
        totals=ChangeTotalsPayload.model_validate(changes.totals, from_attributes=True),
    )


def _count_comments(comments: Iterable[PlacedComment]) -> dict[tuple[str, str], Counter[str]]:
    found: dict[tuple[str, str], Counter[str]] = {}
    for placed in comments:
        state = placed.comment.state
        if state is CommentState.RESOLVED:
            continue
        counter = found.setdefault((placed.comment.repo, placed.path), Counter())
        counter[state.value] += 1
        counter["outdated"] += placed.is_outdated
    return found


def _make_repository(
    changes: RepositoryChanges,
    viewed: Mapping[str, str],
    counts: Mapping[tuple[str, str], Counter[str]],
) -> RepositoryChangesResponse:
    target = changes.target
    return RepositoryChangesResponse(
        repo=changes.path,
        name=changes.name,
        base=_make_side(changes.base),
        target=None if target is None else _make_side(target),
        head=HeadResponse(
            branch=changes.branch, commit=changes.commit, detached=changes.is_detached
        ),
        files=[
            _make_file(file, viewed, counts.get((changes.path, file.display_path), Counter()))
            for file in changes.files
        ],
        totals=ChangeTotalsPayload.model_validate(changes.totals, from_attributes=True),
        truncated=changes.is_truncated,
    )


def _make_side(side: ComparisonBase) -> BaseResponse:
    return BaseResponse(ref=side.ref, commit=side.commit, source=side.source)


def _make_file(
    file: ChangedFile, viewed: Mapping[str, str], counts: Counter[str]
) -> ChangedFileItem:
    path = file.display_path
    original = file.original
    return ChangedFileItem(
        path=path,
        orig_path=None if original is None else original.decode("utf-8", "backslashreplace"),
        status=file.status,
        similarity=file.similarity,
        added=file.added,
        removed=file.removed,
        binary=file.is_binary,
        generated=file.is_generated,
        kind=[*file.kinds],
        old_mode=file.old_mode or None,
        new_mode=file.new_mode or None,
        hash=file.hash,
        viewed=viewed.get(path) == file.hash,
        comments=FileCommentsResponse(
            open=counts["open"], sent=counts["sent"], outdated=counts["outdated"]
        ),
    )


def make_file_response(diff: FileDiff) -> FileDiffResponse:
    """Return the answer of C{GET changes/file}."""
    return FileDiffResponse(
        path=diff.file.display_path,
        hash=diff.file.hash,
        binary=diff.file.is_binary,
        submodule=diff.file.is_submodule,
        hunks=[_make_hunk(hunk) for hunk in diff.page.hunks],
        next=diff.page.next,
        truncated=diff.is_cut,
        old_image=_make_image(diff.old_image),
        new_image=_make_image(diff.new_image),
    )


def _make_hunk(hunk: Hunk) -> HunkResponse:
    return HunkResponse(
        id=hunk.id,
        old_start=hunk.old_start,
        old_count=hunk.old_count,
        new_start=hunk.new_start,
        new_count=hunk.new_count,
        section=hunk.section,
        continued=hunk.is_continued,
        rows=[_make_row(row) for row in hunk.rows],
    )


def _make_row(row: DiffRow) -> RowResponse:
    return RowResponse(
        kind=row.kind,
        old=row.old,
        new=row.new,
        text=row.text,
        no_newline=row.lacks_newline,
        words=None if row.changed is None else [*row.changed],
    )


def _make_image(image: ImageSide | None) -> ImageResponse | None:
    return None if image is None else ImageResponse(media_type=image.media_type, data=image.data)


def make_comment_response(placed: PlacedComment) -> CommentResponse:
    """Return a comment as clients see it."""
    comment, place = placed.comment, placed.place
    reply = comment.reply
    return CommentResponse(
        id=comment.id,
        repo=comment.repo,
        path=comment.path,
        side=comment.side,
        line=comment.line,
        end_line=comment.end_line,
        text=comment.text,
        suggestion=comment.suggestion,
        state=comment.state,
        author=comment.author,
        lines=[*comment.anchor.lines],
        anchor=AnchorResponse(
            state=place.state,
            path=placed.path,
            line=place.line,
            end_line=place.end_line,
            lines=[*place.lines],
        ),
        reply=None
        if reply is None
        else ReplyResponse(state=reply.state, text=reply.text, at=reply.at),
        created_at=comment.created_at,
        updated_at=comment.updated_at,
        sent_at=comment.sent_at,
    )
