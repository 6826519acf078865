"""Giving answers key by key (protocol-approvals)."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.unit.agents.approvals_harness import ApprovalCase
from tests.unit.agents.dialog_client import BUSY, permission_page, question_page
from tests.unit.agents.harness import COMPOSER, RULE
from tests.unit.sessions.harness import ADMIN
from tservice.agents.approvals.answer_steps import AnswerAction, parse_answer
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.mux.interface import MuxTimeout


class PermissionAnswerTests(ApprovalCase):
    """Dialogs that a digit closes."""

    def test_approve_presses_the_first_digit_without_enter(self) -> None:
        session = self.asked(permission_page())
        self.client(session).after = BUSY
        item = self.item(session)
        self.told()
        self.assertEqual(item.id, self.give(item, "approve").id)
        self.assertEqual([("touch made.txt", "1")], self.client(session).log)
        self.assertEqual([("resolved", "answered")], self.told())
        self.assertFalse(self.approvals.is_blocked(session.id))

    def test_approve_skips_a_refusal_that_stands_first(self) -> None:
        session = self.asked(permission_page(labels=["No", "Yes"]))
        self.give(self.item(session), "approve")
        self.assertEqual([("touch made.txt", "2")], self.client(session).left)

    def test_deny_presses_escape(self) -> None:
        session = self.asked(permission_page())
        self.give(self.item(session), "deny")
        self.assertEqual([("touch made.txt", "escape")], self.client(session).left)

    def test_option_presses_its_digit(self) -> None:
        session = self.asked(permission_page())
        self.give(self.item(session), "option", option=2, expect_frame=self.item(session).frame)
        self.assertEqual([("touch made.txt", "2")], self.client(session).left)

    def test_option_that_does_not_exist_is_refused(self) -> None:
        session = self.asked(permission_page())
        code, text = self.refused_answer(self.item(session), "option", option=4)
        self.assertEqual((ErrorCode.INVALID_INPUT, True), (code, text.startswith("option: ")))
        for action, fields in (("text", {"text": "x"}), ("options", {"options": (1,)})):
            code, _ = self.refused_answer(self.item(session), action, **fields)
            self.assertEqual(ErrorCode.INVALID_INPUT, code)
        self.assertEqual([], self.client(session).log)

    def test_enter_is_pressed_only_where_the_frame_asks_for_it(self) -> None:
        session = self.ready()
        self.client(session).confirms = True
        self.client(session).ask(permission_page())
        self.hook(session, "permission_prompt")
        self.spend(3)
        self.give(self.item(session), "option", option=3)
        log = [key for _, key in self.client(session).log]
        self.assertEqual(
            (["3", "Enter"], [("touch made.txt", "3")]), (log, self.client(session).left)
        )

    def test_ineffective_digit_is_reported_and_not_repeated(self) -> None:
        session = self.asked(permission_page())
        self.client(session).deaf = True
        for _ in range(2):
            code, _ = self.refused_answer(self.item(session), "approve")
            self.assertEqual(ErrorCode.OPERATION_FAILED, code)
        self.assertEqual(1, len(self.client(session).log))
        self.assertTrue(self.approvals.is_blocked(session.id))

    def test_dialog_that_left_the_screen_is_gone(self) -> None:
        session = self.asked(permission_page())
        item = self.item(session)
        self.client(session).leave("elsewhere")
        given = self.start_answer(item, "approve")
        self.spend(20)
        self.assertEqual(ErrorCode.CONFLICT, self.failureResultOf(given, ServiceError).value.code)
        self.assertEqual([], self.client(session).log)

    def test_dialog_replaced_by_another_is_superseded(self) -> None:
        session = self.asked(permission_page())
        item = self.item(session)
        self.client(session).ask(permission_page("rm -rf /"))
        self.client(session).leave("elsewhere")
        given = self.start_answer(item, "approve")
        self.spend(20)
        self.assertEqual(ErrorCode.CONFLICT, self.failureResultOf(given, ServiceError).value.code)
        self.assertEqual([], self.client(session).log)
        self.assertEqual("superseded", self.told()[-2][1])

    def test_expected_frame_is_compared_before_the_answer(self) -> None:
        session = self.asked(permission_page())
        code, text = self.refused_answer(self.item(session), "approve", expect_frame="0" * 32)
        self.assertEqual((ErrorCode.CONFLICT, True), (code, "expectFrame" in text))

    def test_items_are_answered_one_at_a_time(self) -> None:
        session = self.asked(permission_page())
        item = self.item(session)
        first = self.start_answer(item, "approve")
        second = self.start_answer(item, "deny")
        self.assertEqual(ErrorCode.CONFLICT, self.failureResultOf(second, ServiceError).value.code)
        self.spend(20)
        self.successResultOf(first)
        self.assertEqual(1, len(self.client(session).log))
        self.assert_refused(
            ErrorCode.NOT_FOUND,
            self.approvals.answer_item(item.id, parse_answer(AnswerAction.DENY), ADMIN),
        )

    def test_answer_waits_for_a_key_typed_by_a_person(self) -> None:
        """Their digit is on its way: the program has not answered it yet."""
        session = self.asked(permission_page())
        client = self.client(session)
        client.deaf = True
        self.type(session, "3", use_mux=False)
        given = self.start_answer(self.item(session), "approve")
        self.spend(0.2)
        client.deaf = False
        client.leave("3")
        client.ask(permission_page("rm -rf /"))
        self.spend(20)
        self.failureResultOf(given, ServiceError)
        self.assertEqual([("touch made.txt", "3")], client.log)

    def test_lost_terminal_response_fails_and_presses_no_second_key(self) -> None:
        """Nobody knows whether the key was pressed, so it is not pressed again."""
        session = self.asked(permission_page())
        self.pane(session).inject_fault("press_if", MuxTimeout("no answer"), effect=True)
        self.client(session).deaf = True
        for _ in range(2):
            code, _ = self.refused_answer(self.item(session), "approve")
            self.assertEqual(ErrorCode.OPERATION_FAILED, code)
        self.assertEqual(1, len(self.client(session).log))

    def test_restless_screen_is_still_answered(self) -> None:
        """The rows of the dialog decide; what moves elsewhere does not matter."""
        session = self.asked(permission_page())
        self.pane(session).is_never_quiet = True
        self.give(self.item(session), "approve")
        self.assertEqual([("touch made.txt", "1")], self.client(session).left)

    def test_unnumbered_options_are_chosen_by_cursor_keys(self) -> None:
        session = self.ready()
        screen = self.client(session)
        text = f"{RULE}\n Do you want to proceed?\n\n   Allow\n ❯ Deny\n\n Esc to cancel"
        self.show(session, text)
        moved = text.replace("   Allow", " ❯ Allow").replace("❯ Deny", "  Deny")
        screen.answers = {b"\x1b[A": moved, b"\r": COMPOSER}
        self.hook(session, "permission_prompt")
        self.spend(3)
        self.give(self.item(session), "approve")
        self.assertEqual([b"\x1b[A", b"\r"], screen.pressed)


class QuestionAnswerTests(ApprovalCase):
    """Questions of one and of several pages."""

    def test_single_choice_question_is_answered_by_its_digit(self) -> None:
        session = self.asked(question_page("Colour", "Red", "Green"), tool_name="AskUserQuestion")
        self.assertEqual("question", self.item(session).kind)
        self.give(self.item(session), "option", option=2)
        self.assertEqual([("ask Colour", "2")], self.client(session).left)

    def test_question_is_answered_in_own_words(self) -> None:
        session = self.asked(question_page("Colour", "Red", "Green"), tool_name="AskUserQuestion")
        self.give(self.item(session), "text", text="a deep blue, 7 parts")
        self.assertEqual([("ask Colour", "a deep blue, 7 parts")], self.client(session).left)
        self.assertEqual("Enter", self.client(session).log[-1][1])

    def test_own_words_are_not_added_to_a_draft(self) -> None:
        page = question_page("Colour", "Red", "Green")
        page.typed = "half a sentence"
        session = self.asked(page)
        code, _ = self.refused_answer(self.item(session), "text", text="blue")
        self.assertEqual((ErrorCode.CONFLICT, []), (code, self.client(session).log))

    def test_multiple_choice_answers_are_ticked_verified_and_submitted(self) -> None:
        page = question_page("Checks", "Types", "Style", "Unit tests", multi=True)
        page.ticked = {2}
        session = self.asked(page)
        self.give(self.item(session), "options", options=(1, 3))
        self.assertEqual("1,3", page.answer)
        self.assertEqual([("review", "submitted")], self.client(session).left)
        keys = [key for _, key in self.client(session).log]
        self.assertEqual(["1", "2", "3", "Right", "1"], keys)

    def test_multiple_choice_question_accepts_options_only(self) -> None:
        session = self.asked(question_page("Checks", "Types", "Style", multi=True))
        for action, fields in (
            ("approve", {}),
            ("text", {"text": "x"}),
            ("options", {"options": (3,)}),
            ("options", {"options": (9,)}),
        ):
            code, _ = self.refused_answer(self.item(session), action, **fields)
            self.assertEqual(ErrorCode.INVALID_INPUT, code, (action, fields))
        self.assertEqual([], self.client(session).log)

    def test_several_questions_share_one_item(self) -> None:
        pages = (
            question_page("Colour", "Red", "Green"),
            question_page("Checks", "Types", "Style", multi=True),
            question_page("Library", "One", "Two"),
        )
        session = self.asked(*pages)
        item = self.item(session)
        self.told()
        self.give(item, "option", option=1)
        second = self.item(session)
        self.assertEqual(item.id, second.id)
        self.assertNotEqual(item.frame, second.frame)
        self.give(second, "options", options=(2,))
        self.give(self.item(session), "option", option=2)
        self.assertEqual("Submit answers", self.item(session).options[0].label)
        self.assertEqual({("updated", "question")}, set(self.told()))
        self.give(self.item(session), "approve")
        self.assertEqual(["1", "2", "2"], [page.answer for page in pages])
        self.assertEqual([("review", "submitted")], self.client(session).left)

    def test_review_with_an_unanswered_question_is_left_to_the_person(self) -> None:
        pages = (question_page("Colour", "Red"), question_page("Checks", "A", "B", multi=True))
        session = self.ready()
        client = self.client(session)
        client.ask(*pages)
        client.at = 1
        client.draw()
        self.hook(session, "permission_prompt")
        self.spend(3)
        self.give(self.item(session), "options", options=(1,))
        self.assertEqual(([], "review"), (client.left, client.name))


class AnswerStepTests(SynchronousTestCase):
    """The pure rules."""

    def test_each_action_requires_its_fields(self) -> None:
        for action, fields, name in (
            (AnswerAction.OPTION, {}, "option"),
            (AnswerAction.OPTIONS, {"options": ()}, "options"),
            (AnswerAction.OPTIONS, {"options": (1, 1)}, "options"),
            (AnswerAction.OPTION, {"option": 10}, "option"),
            (AnswerAction.TEXT, {"text": "  "}, "text"),
            (AnswerAction.TEXT, {"text": "x" * 4001}, "text"),
            (AnswerAction.APPROVE, {"text": "x"}, "text"),
            (AnswerAction.DENY, {"option": 1}, "option"),
            (AnswerAction.OPTION, {"option": 1, "options": (1,)}, "options"),
        ):
            with self.assertRaises(ServiceError) as caught:
                parse_answer(action, **fields)
            self.assertTrue(caught.exception.message.startswith(f"{name}: "), fields)


class AnyAnswerTests(ApprovalCase):
    """Any answer to any dialog."""

    @settings(
        max_examples=example_count(60), deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.data())
    def test_any_answer_presses_only_its_own_keys(self, data: st.DataObject) -> None:
        """Whatever is answered, digits are of options that were asked for, and it ends."""
        labels = data.draw(
            st.lists(
                st.text("abcdefg", min_size=1, max_size=8), min_size=2, max_size=6, unique=True
            )
        )
        multi = data.draw(st.booleans())
        tabbed = data.draw(st.booleans())
        page = (
            question_page("Tab", *labels, multi=multi) if tabbed else permission_page("ls", labels)
        )
        action = data.draw(st.sampled_from(AnswerAction))
        numbers = st.integers(1, 9)
        fields: dict[str, Any] = {}
        if action is AnswerAction.OPTION:
            fields["option"] = data.draw(numbers)
        elif action is AnswerAction.OPTIONS:
            fields["options"] = tuple(data.draw(st.sets(numbers, min_size=1)))
        elif action is AnswerAction.TEXT:
            fields["text"] = data.draw(st.text("xyz ", min_size=1).filter(str.strip))
        session = self.asked(page)
        client = self.client(session)
        given_answer = self.start_answer(self.item(session), action.value, **fields)
        self.spend(40)
        given_answer.addErrback(lambda why: why.trap(ServiceError))
        self.successResultOf(given_answer)
        self.run_now(self.sessions.delete(session.id))
        keys = [key for name, key in client.log if name != "review"]
        allowed = {"Escape"} if action is AnswerAction.DENY else _allowed(action, fields, page.free)
        self.assertLessEqual({key for key in keys if "\x1b[200~" not in key}, allowed)


def _allowed(action: AnswerAction, fields: dict[str, Any], free: int) -> set[str]:
    if action is AnswerAction.APPROVE:
        return {"1"}
    if action is AnswerAction.OPTION:
        return {str(fields["option"]), "Right"}
    if action is AnswerAction.TEXT:
        return {str(free), "Enter", str(fields["text"])}
    return {*map(str, fields["options"]), "Right"}
