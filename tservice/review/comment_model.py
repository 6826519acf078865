"""Records of comments on lines, and the prompt that sends them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from attrs import frozen

from tservice.core.kernel.errors import ErrorCode, ServiceError, make_field_error
from tservice.review.anchors import Anchor, AnchorPlace, AnchorState

MAX_COMMENTS = 500
"""Maximum number of comments of one session."""
TEXT_LENGTH = 8000
"""Maximum characters of a comment, and of a suggestion."""
PROMPT_LENGTH = 60_000
"""Maximum characters of the prompt with all comments."""
QUOTED_LINES = 3
"""Number of lines around a comment's own that the prompt quotes."""
MAX_QUOTED = 30
"""Maximum number of a comment's own lines that the prompt quotes."""
TEMPLATE = (
    "Please work on these {count} review comments about your changes. Line numbers are those of the"
    " files as they are now.\n\n{comments}\n\n{note}"
)
"""Prompt that sends comments, unless a setting replaces it."""
REPLY_HINT = (
    "When you are done, answer each comment with the tool reply_review_comment, if you have it."
)


class CommentSide(StrEnum):
    """Side of a comparison."""

    OLD = "old"
    NEW = "new"


class CommentState(StrEnum):
    """State of a comment."""

    OPEN = "open"
    SENT = "sent"
    RESOLVED = "resolved"


class ReplyState(StrEnum):
    """An agent's answer to a comment."""

    DONE = "done"
    QUESTION = "question"
    DECLINED = "declined"


@frozen(kw_only=True)
class CommentReply:
    """Answer of an agent; C{at} in Unix milliseconds."""

    state: ReplyState
    text: str
    at: int


@frozen(kw_only=True)
class ReviewComment:
    """Comment on lines of a file.

    @ivar repo: path of the repository, relative to the workspace.
    @ivar path: path of the file when the comment was written, as clients see it.
    @ivar line: first line when the comment was written.
    @ivar suggestion: text that could replace the lines.
    @ivar hash: hash of the file when the comment was written.
    @ivar base_commit: the base when the comment was written.
    """

    id: str
    session_id: str
    repo: str
    path: str
    side: CommentSide
    line: int
    end_line: int
    text: str
    suggestion: str | None
    state: CommentState
    author: str
    anchor: Anchor
    hash: str
    base_commit: str | None
    created_at: int
    updated_at: int
    sent_at: int | None = None
    reply: CommentReply | None = None


@frozen(kw_only=True)
class PlacedComment:
    """Comment with its place in the file as it is now.

    @ivar path: path of the file now.
    """

    comment: ReviewComment
    path: str
    place: AnchorPlace

    @property
    def is_outdated(self) -> bool:
        """True if the commented lines are no longer there."""
        return self.place.state in (AnchorState.CHANGED, AnchorState.GONE)


def check_comment_text(text: str, named: str) -> str:
    """Return a text that can be part of a prompt.

    @param named: the name of the request's field, for the error text.
    @raise ServiceError: 400.
    """
    if any((ord(sign) < 32 and sign not in "\n\t") or ord(sign) == 127 for sign in text):
        raise make_field_error(named, "must not contain control characters")
    return text


def format_prompt(template: str, comments: Sequence[PlacedComment], note: str) -> str:
    """Return the prompt that sends C{comments}.

    @param template: text with C{{comments}}, C{{note}} and C{{count}}; empty for L{TEMPLATE}.
    @raise ServiceError: 413 if the prompt is too long.
    """
    blocks = [_format_comment(number, each) for number, each in enumerate(comments, 1)]
    parts = {
        "{comments}": "\n\n".join(blocks),
        "{note}": f"{note.strip()}\n\n{REPLY_HINT}".strip(),
        "{count}": str(len(comments)),
    }
    text = _fill_template(template or TEMPLATE, parts).strip()
    if len(text) > PROMPT_LENGTH:
        message = f"the comments are longer than {PROMPT_LENGTH} characters: send fewer at a time"
        raise ServiceError(ErrorCode.PAYLOAD_TOO_LARGE, message)
    return text


def _fill_template(template: str, parts: dict[str, str]) -> str:
    """Replace the placeholders once, so that a comment may contain one."""
    text = ""
    while template:
        found = min(
            ((template.find(name), name) for name in parts if name in template), default=None
        )
        if found is None:
            return text + template
        at, name = found
        text += template[:at] + parts[name]
        template = template[at + len(name) :]
    return text


def _format_comment(number: int, placed: PlacedComment) -> str:
    comment = placed.comment
    lines = [f"{number}. {_describe_place(placed)} (comment {comment.id})", *_quote_lines(placed)]
    lines += [comment.text.strip()]
    if comment.suggestion is not None:
        lines += ["Suggested replacement:", *_fence(comment.suggestion.rstrip("\n").split("\n"))]
    return "\n".join(lines)


def _describe_place(placed: PlacedComment) -> str:
    comment, place = placed.comment, placed.place
    path = placed.path if comment.repo == "." else f"{comment.repo}/{placed.path}"
    first, last = place.line or comment.line, place.end_line or comment.end_line
    where = f"line {first}" if first == last else f"lines {first} to {last}"
    if comment.side is CommentSide.OLD:
        return f"{path}, {where} of the version before your changes"
    if place.state is AnchorState.GONE:
        return f"{path}, lines that were removed since"
    if place.state is AnchorState.CHANGED:
        return f"{path}, {where}, which changed since the comment was written"
    return f"{path}, {where}"


def _quote_lines(placed: PlacedComment) -> list[str]:
    """Return the commented lines, marked, with the lines around them."""
    anchor = placed.comment.anchor
    own = [*anchor.lines[:MAX_QUOTED]]
    more = ["> ..."] if len(anchor.lines) > len(own) else []
    quoted = [
        *(f"  {line}" for line in anchor.before[-QUOTED_LINES:]),
        *(f"> {line}" for line in own),
        *more,
        *(f"  {line}" for line in anchor.after[:QUOTED_LINES]),
    ]
    return _fence([_clean_line(line) for line in quoted])


def _fence(lines: Sequence[str]) -> list[str]:
    """Enclose lines in marks that none of them contains."""
    mark = "```"
    while any(line.lstrip("> ").startswith(mark) for line in lines):
        mark += "`"
    return [mark, *lines, mark]


def _clean_line(line: str) -> str:
    """Return a quoted line without control characters, cut where it is very long."""
    shown = "".join(
        sign if sign == "\t" or (ord(sign) >= 32 and ord(sign) != 127) else "?" for sign in line
    )
    return shown if len(shown) <= 500 else shown[:500] + "..."
