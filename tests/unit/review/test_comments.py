"""Comments that follow their lines, and the prompt that sends them."""

from __future__ import annotations

import os
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred, gatherResults

from tests.unit.review.review_harness import ANN, SESSION_ID, ReviewTestCase
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.review.anchors import AnchorState
from tservice.review.comment_model import (
    MAX_COMMENTS,
    PROMPT_LENGTH,
    CommentSide,
    CommentState,
    PlacedComment,
    ReplyState,
)
from tservice.review.comments import CommentChange, CommentRequest, SendRequest, SentReview
from tservice.sessions.interfaces import InputDelivery


class CommentTests(ReviewTestCase):
    """Comments on one file of ten lines, of which one was changed."""

    def setUp(self) -> None:
        super().setUp()
        self.lines = [f"line {number}" for number in range(1, 11)]
        self.commit(f=self.joined())
        self.lines[4] = "line five"
        self.write("f", self.joined())

    def joined(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)

    async def create(self, line: int = 5, **fields: Any) -> PlacedComment:
        values: dict[str, Any] = {
            "repo": None, "path": "f", "side": CommentSide.NEW, "line": line, "end_line": line,
            "text": "please", "suggestion": None, "base": None, **fields,
        }  # fmt: skip
        request = CommentRequest(**values)
        return await self.world.comments.create_comment(SESSION_ID, request, ANN)

    async def place(self) -> PlacedComment:
        (found,) = await self.world.comments.list_comments(SESSION_ID)
        return found

    async def send(self, **fields: Any) -> SentReview:
        request = SendRequest(**fields)
        return await self.world.comments.send_comments(SESSION_ID, request, ANN)

    async def test_comments_of_an_unknown_session_are_not_found(self) -> None:
        await self.refuse(404, self.world.comments.list_comments("s2"))

    async def test_comment_stays_at_its_line(self) -> None:
        made = await self.create()
        self.assertEqual(("line five",), made.comment.anchor.lines)
        found = await self.place()
        self.assertEqual((AnchorState.SAME, 5), (found.place.state, found.place.line))
        self.assertEqual(made.comment, found.comment)

    async def test_comment_follows_its_line(self) -> None:
        await self.create()
        self.lines[:0] = ["a", "b"]
        self.write("f", self.joined())
        found = await self.place()
        self.assertEqual((AnchorState.MOVED, 7), (found.place.state, found.place.line))

    async def test_comment_on_a_changed_line_is_outdated(self) -> None:
        await self.create()
        self.lines[4] = "line FIVE"
        self.write("f", self.joined())
        found = await self.place()
        self.assertTrue(found.is_outdated)
        self.assertEqual(("line FIVE",), tuple(found.place.lines))

    async def test_comment_on_a_removed_file_is_gone(self) -> None:
        await self.create()
        (self.folder / "f").unlink()
        self.assertIs(AnchorState.GONE, (await self.place()).place.state)

    async def test_comment_follows_a_renamed_file(self) -> None:
        await self.create()
        os.rename(self.folder / "f", self.folder / "g")
        self.world.clock.advance(10)
        self.run_add()
        found = await self.place()
        self.assertEqual(("g", AnchorState.SAME), (found.path, found.place.state))

    def run_add(self) -> None:
        from tests.unit.git.random_repositories import run_git

        run_git(self.folder, "add", "-A")

    async def test_comment_on_the_old_side_stands_on_the_base(self) -> None:
        made = await self.create(side=CommentSide.OLD)
        self.assertEqual(("line 5",), made.comment.anchor.lines)
        self.assertIs(AnchorState.SAME, (await self.place()).place.state)

    async def test_lines_that_are_not_there_are_refused(self) -> None:
        for first, last in ((11, 11), (5, 11)):
            await self.refuse(400, self.create(line=first, end_line=last))
        await self.refuse(404, self.create(path="other"))

    async def test_control_characters_are_refused(self) -> None:
        await self.refuse(400, self.create(text="a\x1b[201~b"))
        await self.refuse(400, self.create(suggestion="\x03"))

    async def test_binary_file_has_no_comments(self) -> None:
        self.write("b", b"\0binary")
        await self.refuse(422, self.create(path="b", line=1, end_line=1))

    async def test_number_of_comments_is_bounded(self) -> None:
        made = await self.create()
        for number in range(MAX_COMMENTS - 1):
            self.world.store.save_comment(evolve(made.comment, id=f"more {number}"))
        await self.refuse(422, self.create())

    async def test_right_lost_while_the_file_was_read_adds_nothing(self) -> None:
        def refuse_now() -> None:
            raise ServiceError(ErrorCode.FORBIDDEN, "gone")

        request = CommentRequest(
            repo=None, path="f", side=CommentSide.NEW, line=5, end_line=5, text="x",
            suggestion=None, base=None,
        )  # fmt: skip
        make = self.world.comments.create_comment(
            SESSION_ID, request, evolve(ANN, reauthorize=refuse_now)
        )
        await self.refuse(403, make)
        self.assertEqual([], self.world.store.list_comments(SESSION_ID))

    async def test_open_comment_can_be_edited_and_deleted(self) -> None:
        made = await self.create()
        change = CommentChange(text="better", suggestion="do it")
        await self.world.comments.update_comment(SESSION_ID, made.comment.id, change)
        found = (await self.place()).comment
        self.assertEqual(("better", "do it"), (found.text, found.suggestion))
        self.world.comments.delete_comment(SESSION_ID, made.comment.id)
        self.assertEqual([], self.world.store.list_comments(SESSION_ID))

    # -- sending

    async def test_prompt_quotes_each_comment(self) -> None:
        await self.create(text="Use a number", suggestion="line 5")
        await self.create(line=7, end_line=8, text="Join these")
        sent = await self.send(note="Thanks!")
        self.assertEqual(["c1", "c2"], [comment.id for comment in sent.comments])
        (typed,) = self.world.sessions.inputs
        self.assertEqual(
            """\
Please work on these 2 review comments about your changes. Line numbers are those of the files as they are now.

1. f, line 5 (comment c1)
```
  line 2
  line 3
  line 4
> line five
  line 6
  line 7
  line 8
```
Use a number
Suggested replacement:
```
line 5
```

2. f, lines 7 to 8 (comment c2)
```
  line 4
  line five
  line 6
> line 7
> line 8
  line 9
  line 10
```
Join these

Thanks!

When you are done, answer each comment with the tool reply_review_comment, if you have it.""",  # noqa: E501
            typed.text,
        )
        self.assertEqual((True, True, ANN), (typed.use_mux, typed.may_wait, typed.sender))

    async def test_sent_comments_are_not_sent_again(self) -> None:
        await self.create()
        await self.send()
        self.assertIs(CommentState.SENT, (await self.place()).comment.state)
        await self.refuse(409, self.send())
        self.assertEqual(1, len(self.world.sessions.inputs))

    async def test_two_calls_at_once_type_one_prompt(self) -> None:
        await self.create()
        calls = [Deferred.fromCoroutine(self.send()) for _ in range(3)]
        for call in calls:
            call.addErrback(lambda failure: failure.trap(ServiceError))
        await gatherResults(calls)
        self.assertEqual(1, len(self.world.sessions.inputs))

    async def test_repeated_call_after_a_crash_is_a_duplicate(self) -> None:
        """The prompt was typed, and the service ended before it recorded that."""
        made = await self.create()
        await self.send()
        self.world.store.save_comment(evolve(made.comment, state=CommentState.OPEN, sent_at=None))
        sent = await self.send()
        self.assertTrue(sent.delivery.duplicate)
        self.assertEqual(1, len(self.world.sessions.inputs))
        self.assertIs(CommentState.SENT, (await self.place()).comment.state)

    async def test_reopened_comment_is_typed_again(self) -> None:
        made = await self.create()
        await self.send()
        self.world.clock.advance(1)
        change = CommentChange(state=CommentState.OPEN)
        await self.world.comments.update_comment(SESSION_ID, made.comment.id, change)
        await self.send()
        self.assertEqual(2, len(self.world.sessions.inputs))

    async def test_nothing_is_sent_while_the_agent_works_unless_asked(self) -> None:
        await self.create()
        self.world.sessions.set_busy()
        error = await self.refuse(409, self.send())
        self.assertIs(ErrorCode.SESSION_BUSY, error.code)
        await self.send(even_while_busy=True)
        self.assertEqual(1, len(self.world.sessions.inputs))

    async def test_dropped_prompt_leaves_the_comments_open(self) -> None:
        await self.create()
        self.world.sessions.delivery = InputDelivery(delivered=False, buffered=True, dropped=True)
        await self.refuse(422, self.send())
        self.assertIs(CommentState.OPEN, (await self.place()).comment.state)

    async def test_chosen_comments_are_sent_alone(self) -> None:
        await self.create()
        await self.create(line=7, end_line=7)
        await self.send(comment_ids=["c2"])
        states = [comment.state.value for comment in self.world.store.list_comments(SESSION_ID)]
        self.assertEqual(["open", "sent"], states)
        await self.refuse(404, self.send(comment_ids=["c9"]))
        await self.refuse(409, self.send(comment_ids=["c2"]))

    async def test_outdated_comment_says_so(self) -> None:
        await self.create()
        self.lines[4] = "line FIVE"
        self.write("f", self.joined())
        await self.send()
        self.assertIn("which changed since", self.world.sessions.inputs[0].text)

    async def test_setting_replaces_the_template_once(self) -> None:
        self.world.template = "Look: {comments}"
        await self.create(text="{note} {count}")
        await self.send(note="hidden")
        text = self.world.sessions.inputs[0].text
        self.assertTrue(text.startswith("Look: 1. f, line 5"))
        self.assertTrue(text.endswith("{note} {count}"))

    async def test_prompt_is_bounded(self) -> None:
        for number in range(20):
            await self.create(text=f"{number} " + "x" * (PROMPT_LENGTH // 10))
        await self.refuse(413, self.send())
        self.assertEqual([], self.world.sessions.inputs)

    async def test_quoted_lines_are_clean(self) -> None:
        self.write("f", "one\n```\n\x1b[31mred\n" + "y" * 900 + "\n")
        await self.create(line=2, end_line=4)
        await self.send()
        text = self.world.sessions.inputs[0].text
        self.assertIn("````\n", text)
        self.assertIn("> ?[31mred", text)
        self.assertNotIn("\x1b", text)
        self.assertNotIn("y" * 501, text)

    # -- replies

    async def test_agent_answers_a_sent_comment(self) -> None:
        await self.create()
        reply = self.world.comments.reply_to_comment
        error = self.assertRaises(ServiceError, reply, SESSION_ID, "c1", ReplyState.DONE, "early")
        self.assertEqual(409, error.status)
        await self.send()
        reply(SESSION_ID, "c1", ReplyState.QUESTION, "why?")
        found = (await self.place()).comment.reply
        assert found is not None
        self.assertEqual((ReplyState.QUESTION, "why?"), (found.state, found.text))
        error = self.assertRaises(ServiceError, reply, "s2", "c1", ReplyState.DONE, "")
        self.assertEqual(404, error.status)
