"""What becomes of the tables of reviews."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from tests.unit.store.story_steps import StoryHarness, StoryStep
from tservice.git.interfaces import NO_FILE
from tservice.review.anchors import Anchor
from tservice.review.comment_model import CommentSide, CommentState, ReviewComment
from tservice.review.store import BaseKey, FileCopy, ReviewStore
from tservice.review.turns.store import (
    RecordedFile,
    RecordedTree,
    TurnStore,
    compress_content,
)

COMMENT = ReviewComment(
    id="1", session_id="s", repo=".", path="f", side=CommentSide.NEW, line=1, end_line=1, text="x",
    suggestion=None, state=CommentState.OPEN, author="ann", anchor=Anchor(line=1, lines=("a",)),
    hash=NO_FILE, base_commit=None, created_at=1, updated_at=1,
)  # fmt: skip
COPY = FileCopy(
    id="1", session_id="s", repo=".", path=b"f", mode="100644", content=b"x", hash=NO_FILE, at=1
)


TREE = RecordedTree(
    repo=".", commit="c", files=(RecordedFile(path=b"f", mode="100644", hash=NO_FILE),)
)


def tell_reviews(world: StoryHarness) -> Sequence[StoryStep]:
    store, turns = ReviewStore(world.database), TurnStore(world.database)
    other = evolve(COMMENT, id="2")
    sent = evolve(COMMENT, state=CommentState.SENT)
    key = BaseKey(owner="ann", place="local", folder="/w", repo=".")
    return [
        StoryStep(name="base", do=lambda: store.save_base(key, "main", 1)),
        StoryStep(name="no base", do=lambda: store.save_base(key, None, 1), needs="base"),
        StoryStep(name="began", do=lambda: store.save_start("s", ".", "c", 1), owed=True),
        StoryStep(name="seen", do=lambda: store.save_viewed("s", ".", "f", NO_FILE, 1)),
        StoryStep(name="not seen", do=lambda: store.delete_viewed("s", ".", "f"), needs="seen"),
        StoryStep(name="comment", do=lambda: store.save_comment(COMMENT)),
        StoryStep(name="other", do=lambda: store.save_comment(other)),
        StoryStep(name="sent", do=lambda: store.save_comments([sent]), needs="comment"),
        StoryStep(name="deleted", do=lambda: store.delete_comment("2"), needs="other"),
        StoryStep(name="copy", do=lambda: store.save_copy(COPY)),
        StoryStep(name="more", do=lambda: store.save_copy(evolve(COPY, id="2", at=2))),
        StoryStep(
            name="turn",
            do=lambda: turns.save_turn("s", 1, [TREE], {NO_FILE: compress_content(b"x")}),
        ),
        StoryStep(name="undone", do=lambda: store.delete_copy("2"), needs="more"),
    ]
