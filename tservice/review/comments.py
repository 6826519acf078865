"""Comments of people on lines of changed files, and their way to the agent."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial

from attrs import evolve, frozen
from twisted.internet.defer import DeferredLock
from twisted.internet.interfaces import IReactorTime

from tservice.core.callers.caller import Caller
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_failure_error,
    make_field_error,
    make_not_found_error,
)
from tservice.git.interfaces import WorkingCopy
from tservice.review.anchors import (
    ANCHOR_LINES,
    GONE,
    AnchorPlace,
    AnchorState,
    find_anchor,
    make_anchor,
    split_lines,
)
from tservice.review.comment_model import (
    MAX_COMMENTS,
    CommentReply,
    CommentSide,
    CommentState,
    PlacedComment,
    ReplyState,
    ReviewComment,
    check_comment_text,
    format_prompt,
)
from tservice.review.comparison.changes import read_base_content
from tservice.review.model import RepositoryChanges
from tservice.review.service import ReviewService
from tservice.review.store import ReviewStore
from tservice.sessions.interfaces import InputDelivery, InputRequest, ISessions, SessionStatus

FILE_BYTES = 2 * 1024 * 1024
"""Maximum bytes of a file that can be commented."""


@frozen(kw_only=True)
class CommentRequest:
    """New comment, as a person wrote it."""

    repo: str | None
    path: str
    side: CommentSide
    line: int
    end_line: int
    text: str
    suggestion: str | None
    base: str | None


@frozen(kw_only=True)
class CommentChange:
    """Change of a comment; C{None} keeps a field.

    @ivar clears_suggestion: true to remove the suggestion.
    """

    text: str | None = None
    suggestion: str | None = None
    clears_suggestion: bool = False
    state: CommentState | None = None


@frozen(kw_only=True)
class SendRequest:
    """Request to send comments to the agent.

    @ivar comment_ids: the comments; C{None} for all open ones.
    @ivar even_while_busy: true to send them while the agent works.
    """

    comment_ids: Sequence[str] | None = None
    note: str = ""
    even_while_busy: bool = False


@frozen(kw_only=True)
class SentReview:
    """Comments that were sent, and the fate of their prompt."""

    comments: Sequence[ReviewComment]
    delivery: InputDelivery


class CommentService:
    """Comments of sessions.  Every error is a C{ServiceError}."""

    def __init__(
        self,
        *,
        clock: IReactorTime,
        review: ReviewService,
        store: ReviewStore,
        sessions: ISessions,
        make_id: Callable[[], str],
        template: Callable[[], str],
        on_change: Callable[[str], object] = lambda session_id: None,
    ) -> None:
        """@param template: returns the setting C{reviewPromptTemplate}.
        @param on_change: called with the id of a session whose comments changed.
        """
        self._clock, self._review, self._store = clock, review, store
        self._sessions, self._make_id, self._template = sessions, make_id, template
        self._on_change = on_change
        self._sending: dict[str, DeferredLock] = {}

    def list_stored(self, session_id: str) -> list[ReviewComment]:
        """Return the comments of a session without looking for their places."""
        return self._store.list_comments(session_id)

    async def list_comments(self, session_id: str) -> list[PlacedComment]:
        """Return the comments of a session with their places in the files as they are now.

        @raise ServiceError: 404: there is no such session.
        """
        self._sessions.get(session_id)
        return await self._place_comments(session_id, self._store.list_comments(session_id))

    async def create_comment(
        self, session_id: str, wanted: CommentRequest, caller: Caller,
    ) -> PlacedComment:  # fmt: skip
        """Add a comment to lines of a changed file.

        @raise ServiceError: 404 if the file is not a changed one; 400 if it has no such lines; 422
            if it is binary or too large, or there are too many comments.
        """
        check_comment_text(wanted.text, "text")
        check_comment_text(wanted.suggestion or "", "suggestion")
        opened = await self._review.open_file(session_id, wanted.repo, wanted.path, wanted.base)
        data = await self._read_side(opened.copy, opened.changes, wanted.path, wanted.side)
        if data is None:
            raise make_failure_error("path: no text, or too large to comment on")
        copy = opened.copy
        (now,) = await copy.read_files([opened.file.path.rstrip(b"/")])
        try:
            anchor = await copy.run_in_thread(
                lambda: make_anchor(split_lines(data), wanted.line, wanted.end_line)
            )
        except ValueError:
            rule = f"the file must have these lines, {ANCHOR_LINES} at most"
            raise make_field_error("line", rule) from None
        caller.reauthorize()
        if len(self._store.list_comments(session_id)) >= MAX_COMMENTS:
            raise make_failure_error(
                f"there are {MAX_COMMENTS} comments already; delete some first"
            )
        at = get_unix_ms(self._clock)
        comment = ReviewComment(
            id=self._make_id(), session_id=session_id, repo=copy.path, path=wanted.path,
            side=wanted.side, line=wanted.line, end_line=wanted.end_line, text=wanted.text,
            suggestion=wanted.suggestion, state=CommentState.OPEN, author=caller.username,
            anchor=anchor, hash=now.hash, base_commit=opened.changes.base.commit, created_at=at,
            updated_at=at,
        )  # fmt: skip
        self._store.save_comment(comment)
        self._on_change(session_id)
        place = AnchorPlace(
            state=AnchorState.SAME, line=comment.line, end_line=comment.end_line, lines=anchor.lines
        )
        return PlacedComment(comment=comment, path=comment.path, place=place)

    async def update_comment(
        self, session_id: str, comment_id: str, change: CommentChange
    ) -> PlacedComment:
        """Change the text of an open comment, or resolve or reopen one.

        @raise ServiceError: 409 if the text of a comment that was sent would change.
        """
        comment = self._get_comment(session_id, comment_id)
        edits = change.text is not None or change.suggestion is not None or change.clears_suggestion
        if edits and comment.state is not CommentState.OPEN:
            raise make_conflict_error("the comment was sent already: reopen it first")
        check_comment_text(change.text or "", "text")
        check_comment_text(change.suggestion or "", "suggestion")
        kept = None if change.clears_suggestion else comment.suggestion
        updated = evolve(
            comment,
            text=comment.text if change.text is None else change.text,
            suggestion=kept if change.suggestion is None else change.suggestion,
            state=change.state or comment.state,
            updated_at=get_unix_ms(self._clock),
        )
        self._store.save_comment(updated)
        self._on_change(session_id)
        return (await self._place_comments(session_id, [updated]))[0]

    def delete_comment(self, session_id: str, comment_id: str) -> None:
        """Delete a comment."""
        self._store.delete_comment(self._get_comment(session_id, comment_id).id)
        self._on_change(session_id)

    def reply_to_comment(
        self, session_id: str, comment_id: str, state: ReplyState, text: str
    ) -> ReviewComment:
        """Record the agent's answer to a comment that was sent.

        @raise ServiceError: 409 if the comment was not sent.
        """
        comment = self._get_comment(session_id, comment_id)
        if comment.state is not CommentState.SENT:
            raise make_conflict_error(f"the comment is {comment.state.value}, not sent")
        at = get_unix_ms(self._clock)
        updated = evolve(comment, reply=CommentReply(state=state, text=text, at=at))
        self._store.save_comment(updated)
        self._on_change(session_id)
        return updated

    async def send_comments(
        self, session_id: str, wanted: SendRequest, caller: Caller,
    ) -> SentReview:  # fmt: skip
        """Send open comments to the agent as one prompt.

        The same comments with the same note are typed once, also if the call is repeated after the
        service ended in the middle.

        @raise ServiceError: 404 for an unknown comment; 409 if there are none to send, or the agent
            works; 413 if the prompt is too long; and the errors of an input.
        """
        lock = self._sending.setdefault(session_id, DeferredLock())
        await lock.acquire()
        try:
            return await self._send_in_turn(session_id, wanted, caller)
        finally:
            lock.release()
            if not lock.locked and not lock.waiting:
                self._sending.pop(session_id, None)

    async def _send_in_turn(
        self, session_id: str, wanted: SendRequest, caller: Caller,
    ) -> SentReview:  # fmt: skip
        self._check_idle(session_id, wanted)
        check_comment_text(wanted.note, "note")
        chosen = self._select_comments(session_id, wanted.comment_ids)
        text = format_prompt(
            self._template(), await self._place_comments(session_id, chosen), wanted.note
        )
        caller.reauthorize()
        request = InputRequest(
            text=text,
            use_mux=True,
            client_id=f"review-{_digest_comments(chosen, wanted.note)}",
            seq=1,
            may_wait=True,
            sender=caller,
        )
        delivery = await self._sessions.send_input(session_id, request)
        if delivery.dropped:
            raise make_failure_error("the session's host is out of reach: try again later")
        at = get_unix_ms(self._clock)
        left = {comment.id for comment in self._store.list_comments(session_id)}
        sent = [evolve(each, state=CommentState.SENT, sent_at=at, reply=None) for each in chosen]
        self._store.save_comments([each for each in sent if each.id in left])
        self._on_change(session_id)
        return SentReview(comments=sent, delivery=delivery)

    def _check_idle(self, session_id: str, wanted: SendRequest) -> None:
        if wanted.even_while_busy:
            return
        if self._sessions.get(session_id).status is SessionStatus.BUSY:
            text = "the agent is working: wait for the end of its turn, or pass evenWhileBusy"
            raise ServiceError(ErrorCode.SESSION_BUSY, text)

    def _select_comments(
        self, session_id: str, wanted: Sequence[str] | None
    ) -> list[ReviewComment]:
        stored = self._store.list_comments(session_id)
        if wanted is not None:
            known = {comment.id: comment for comment in stored}
            if any(each not in known for each in wanted):
                raise make_not_found_error("Comment")
            stored = [known[each] for each in dict.fromkeys(wanted)]
            if any(comment.state is not CommentState.OPEN for comment in stored):
                raise make_conflict_error("commentIds: only open comments can be sent")
        chosen = [comment for comment in stored if comment.state is CommentState.OPEN]
        if not chosen:
            raise make_conflict_error("there are no open comments to send")
        return chosen

    def _get_comment(self, session_id: str, comment_id: str) -> ReviewComment:
        found = self._store.find_comment(session_id, comment_id)
        if found is None:
            raise make_not_found_error("Comment")
        return found

    # -- places

    async def _place_comments(
        self, session_id: str, comments: Sequence[ReviewComment]
    ) -> list[PlacedComment]:
        """Find the lines of comments in the files as they are now."""
        if not comments:
            return []
        changes = {
            each.path: each
            for each in (await self._review.read_recent_changes(session_id)).repositories
        }
        copies = {
            repo: await self._review.open_copy(session_id, repo)
            for repo in dict.fromkeys(comment.repo for comment in comments)
            if repo in changes
        }
        contents: dict[tuple[str, str, CommentSide], bytes | None] = {}
        found = []
        for comment in comments:
            copy = copies.get(comment.repo)
            if copy is None:
                found.append(PlacedComment(comment=comment, path=comment.path, place=GONE))
                continue
            now = changes[comment.repo]
            path = _find_path_now(comment, now)
            key = (comment.repo, path, comment.side)
            if key not in contents:
                contents[key] = await self._read_side(copy, now, path, comment.side)
            find = partial(_place_comment, comment, path, contents[key])
            found.append(await copy.run_in_thread(find))
        return found

    async def _read_side(
        self, copy: WorkingCopy, changes: RepositoryChanges, path: str, side: CommentSide
    ) -> bytes | None:
        """Return the content of a file on one side; C{None} if there is no text there."""
        file = next((each for each in changes.files if each.display_path == path), None)
        if side is CommentSide.NEW:
            raw = path.encode() if file is None else file.path
            (now,) = await copy.read_files([raw.rstrip(b"/")], FILE_BYTES)
            return None if now.is_binary else now.data
        if file is None:
            return await _read_unchanged_base(copy, changes, path)
        data = await read_base_content(copy, file, FILE_BYTES)
        return None if data is None or b"\0" in data[:8000] else data


async def _read_unchanged_base(
    copy: WorkingCopy, changes: RepositoryChanges, path: str
) -> bytes | None:
    words = ("cat-file", "blob", changes.base.tree.encode() + b":" + path.encode())
    try:
        data, cut = await copy.run_git(words, FILE_BYTES)
    except ServiceError:
        return None  # it is not in the base
    return None if cut else data


def _find_path_now(comment: ReviewComment, changes: RepositoryChanges) -> str:
    """Return the path of the comment's file now, which may have been renamed since."""
    names = {file.display_path for file in changes.files if file.new_mode or file.old_mode}
    if comment.path in names:
        return comment.path
    for file in changes.files:
        if (
            file.original is not None
            and file.original.decode("utf-8", "backslashreplace") == comment.path
        ):
            return file.display_path
    return comment.path


def _place_comment(comment: ReviewComment, path: str, data: bytes | None) -> PlacedComment:
    if data is None:
        return PlacedComment(comment=comment, path=path, place=GONE)
    place = find_anchor(comment.anchor, split_lines(data))
    return PlacedComment(comment=comment, path=path, place=place)


def _digest_comments(comments: Sequence[ReviewComment], note: str) -> str:
    """Return a name for exactly these comments in this form."""
    parts = [note, *(f"{each.id} {each.updated_at}" for each in comments)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
