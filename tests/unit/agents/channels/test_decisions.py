"""Dialogs that are answered through a held hook, and when they are not."""

from __future__ import annotations

import json
from typing import Any

from twisted.internet.defer import CancelledError, Deferred

from tests.event_helpers import to_wire
from tests.unit.agents.approvals_harness import ApprovalCase
from tests.unit.agents.dialog_client import permission_page, question_page
from tests.unit.sessions.harness import ADMIN, start_coroutine
from tservice.agents.channels import decision_intake, held_hooks
from tservice.core.kernel.errors import ErrorCode
from tservice.sessions.interfaces import InputRequest, Session

TOUCH = {"command": "touch made.txt", "description": "Make it"}
PORTS = {
    "questions": [
        {
            "question": "Which port shall it be?",
            "options": [{"label": "8080"}, {"label": "9090"}],
            "multiSelect": False,
        }
    ]
}
ALLOWED = {"behavior": "allow"}


class DecisionCase(ApprovalCase):
    """An agent whose hook is held while its dialog stands."""

    def hold(self, session: Session, tool: str = "Bash", **given: Any) -> Deferred[bytes]:
        """The agent's hook begins to wait."""
        data = {
            "hook_event_name": "PermissionRequest",
            "session_id": "one",
            "tool_name": tool,
            "tool_input": given or TOUCH,
        }
        held: Deferred[bytes] = start_coroutine(
            self.agents.channel.decisions.wait_for_decision(session.id, data, None)
        )
        return held

    def held_dialog(
        self, page: Any = None, tool: str = "Bash", **given: Any
    ) -> tuple[Session, Deferred[bytes]]:
        """A session that shows a dialog, whose hook waits."""
        session = self.ready()
        self.spend(5)
        self.client(session).ask(page or permission_page())
        held = self.hold(session, tool, **given)
        self.spend(3)
        return session, held

    def take(self, session: Session, held: Deferred[bytes], after: float = 0.0) -> None:
        """The agent takes what its hook printed, and closes the dialog.

        @param after: seconds until the dialog is closed.
        """
        client = self.client(session)

        def close_dialog(output: bytes) -> bytes:
            if output:
                self.machine.clock.callLater(after, client.leave, "hook")
            return output

        held.addCallback(close_dialog)

    def decision(self, held: Deferred[bytes]) -> Any:
        found = json.loads(self.successResultOf(held))["hookSpecificOutput"]
        self.assertEqual("PermissionRequest", found["hookEventName"])
        return found["decision"]

    def left(self, session: Session) -> list[tuple[str, str]]:
        return self.client(session).left


class AnswerByHookTests(DecisionCase):
    """Answers that need no key."""

    def test_approval_reaches_the_agent_without_a_key(self) -> None:
        session, held = self.held_dialog()
        self.take(session, held)
        self.give(self.item(session), "approve")
        self.assertEqual(ALLOWED, self.decision(held))
        self.assertEqual([("touch made.txt", "hook")], self.left(session))
        self.assertEqual([], self.client(session).pressed)
        self.assertIsNone(self.inbox.get_item(session.id))
        self.assertEqual(("resolved", "answered"), self.told()[-1])

    def test_agent_of_a_busy_machine_has_time_to_close_its_dialog(self) -> None:
        session, held = self.held_dialog()
        self.take(session, held, after=6.0)
        self.give(self.item(session), "deny")
        self.assertEqual("deny", self.decision(held)["behavior"])
        self.assertEqual([("touch made.txt", "hook")], self.left(session))

    def test_option_yes_is_an_approval(self) -> None:
        session, held = self.held_dialog()
        self.take(session, held)
        self.give(self.item(session), "option", option=1)
        self.assertEqual(ALLOWED, self.decision(held))

    def test_denial_ends_the_turn_and_a_reason_continues_it(self) -> None:
        for fields, message, ends in (
            ({}, "The user does not want to proceed with this tool use.", True),
            ({"reason": "use mv"}, "use mv", False),
        ):
            session, held = self.held_dialog()
            self.take(session, held)
            self.give(self.item(session), "deny", **fields)
            self.assertEqual(
                {"behavior": "deny", "message": message, "interrupt": ends}, self.decision(held)
            )

    def test_item_says_that_its_denial_can_have_a_reason(self) -> None:
        _, held = self.held_dialog()
        told = [to_wire(e) for e in self.machine.events if e.name == "approval:pending"]
        self.assertEqual([True], [each["takesReason"] for each in told])
        (listed,) = self.approvals.list_known(ADMIN)
        self.assertTrue(listed.takes_reason)
        held.cancel()
        self.failureResultOf(held, CancelledError)
        (listed,) = self.approvals.list_known(ADMIN)
        self.assertIsNone(listed.takes_reason)

    def test_question_takes_text_and_no_reason(self) -> None:
        page = question_page("Port", "8080", "9090")
        self.held_dialog(page, "AskUserQuestion", **PORTS)
        (listed,) = self.approvals.list_known(ADMIN)
        self.assertIsNone(listed.takes_reason)

    def test_option_no_is_a_denial(self) -> None:
        session, held = self.held_dialog()
        self.take(session, held)
        self.give(self.item(session), "option", option=3)
        self.assertEqual("deny", self.decision(held)["behavior"])

    def test_question_is_answered_by_the_label_of_its_option(self) -> None:
        page = question_page("Port", "8080", "9090")
        for action, fields, said in (
            ("option", {"option": 2}, "9090"),
            ("approve", {}, "8080"),
            ("text", {"text": "any free one"}, "any free one"),
        ):
            session, held = self.held_dialog(page, "AskUserQuestion", **PORTS)
            self.take(session, held)
            self.give(self.item(session), action, **fields)
            answers = {"Which port shall it be?": said}
            self.assertEqual(
                {"behavior": "allow", "updatedInput": {**PORTS, "answers": answers}},
                self.decision(held),
            )

    def test_question_with_several_choices_is_answered_by_their_labels(self) -> None:
        asked = {"questions": [{**PORTS["questions"][0], "multiSelect": True}]}
        page = question_page("Port", "8080", "9090", multi=True)
        session, held = self.held_dialog(page, "AskUserQuestion", **asked)
        self.take(session, held)
        self.give(self.item(session), "options", options=(1, 2))
        answers = self.decision(held)["updatedInput"]["answers"]
        self.assertEqual({"Which port shall it be?": "8080, 9090"}, answers)


class AnswerByKeysTests(DecisionCase):
    """Answers that the hook cannot give, or no longer."""

    def test_rule_is_chosen_by_its_key(self) -> None:
        session, held = self.held_dialog()
        self.give(self.item(session), "option", option=2)
        self.assertEqual([("touch made.txt", "2")], self.left(session))
        self.assertEqual(b"", self.successResultOf(held))

    def test_key_of_a_person_ends_the_hold(self) -> None:
        session, held = self.held_dialog()
        self.run_now(self.sessions.send_key(session.id, "Down"))
        self.spend(1)
        item = self.item(session)
        self.give(item, "option", option=1)
        self.assertEqual(b"", self.successResultOf(held))
        self.assertEqual([("touch made.txt", "1")], self.left(session))

    def test_person_answers_in_the_terminal(self) -> None:
        session, held = self.held_dialog()
        self.client(session).leave("1")
        self.spend(3)
        self.assertEqual(b"", self.successResultOf(held))
        self.assertEqual(("resolved", "resolved_in_terminal"), self.told()[-1])

    def test_other_options_than_the_agents_are_left_to_keys(self) -> None:
        asked = {"questions": [{**PORTS["questions"][0], "options": [{"label": "x"}, {}]}]}
        page = question_page("Port", "8080", "9090")
        session, _ = self.held_dialog(page, "AskUserQuestion", **asked)
        self.give(self.item(session), "option", option=1)
        self.assertEqual([("ask Port", "1")], self.left(session))

    def test_reason_needs_a_held_hook(self) -> None:
        session = self.asked(permission_page(), tool_name="Bash", tool_input=TOUCH)
        found = self.refused_answer(self.item(session), "deny", reason="no")
        self.assertEqual(ErrorCode.CONFLICT, found[0])
        self.assertEqual([], self.left(session))

    def test_decision_that_the_agent_ignores_is_reported(self) -> None:
        session, held = self.held_dialog()
        found = self.refused_answer(self.item(session), "approve")
        self.assertEqual(
            (ErrorCode.OPERATION_FAILED, "the dialog did not react to the answer"), found
        )
        self.assertEqual(ALLOWED, self.decision(held))
        # The next answer goes by keys.
        self.give(self.item(session), "approve")
        self.assertEqual([("touch made.txt", "1")], self.left(session))

    def test_key_at_the_same_time_is_reported(self) -> None:
        session, held = self.held_dialog()

        def press(output: bytes) -> bytes:
            self.run_now(self.sessions.send_input(session.id, InputRequest(text="3")))
            return output

        held.addCallback(press)
        code, _ = self.refused_answer(self.item(session), "approve")
        self.assertEqual(ErrorCode.CONFLICT, code)
        self.assertEqual([("touch made.txt", "3")], self.left(session))


class HoldTests(DecisionCase):
    """The life of a hold."""

    def test_hold_ends_with_the_turn_and_with_the_session(self) -> None:
        for end in ("stop", "prompt_submitted", "session_end"):
            session, held = self.held_dialog()
            self.assertNoResult(held)
            self.hook(session, end)
            self.assertEqual(b"", self.successResultOf(held))
        session, held = self.held_dialog()
        self.run_now(self.sessions.delete(session.id))
        self.assertEqual(b"", self.successResultOf(held))

    def test_hold_ends_after_its_limit(self) -> None:
        _, held = self.held_dialog()
        self.clock.advance(held_hooks.HOLD_SECONDS)
        self.assertEqual(b"", self.successResultOf(held))

    def test_hook_without_a_dialog_is_released(self) -> None:
        session = self.ready()
        held = self.hold(session)
        self.spend(held_hooks.GRACE - 1)
        self.assertNoResult(held)
        self.spend(2)
        self.assertEqual(b"", self.successResultOf(held))

    def test_hook_that_is_gone_is_forgotten(self) -> None:
        session, held = self.held_dialog()
        held.cancel()
        self.failureResultOf(held, CancelledError)
        self.give(self.item(session), "approve")
        self.assertEqual([("touch made.txt", "1")], self.left(session))

    def test_stopping_service_releases_hooks(self) -> None:
        _, held = self.held_dialog()
        self.agents.channel.close()
        self.assertEqual(b"", self.successResultOf(held))

    def test_number_of_holds_is_bounded(self) -> None:
        session, first = self.held_dialog()
        others = [
            self.hold(session, command=f"touch {n}") for n in range(held_hooks.MOST_IN_SESSION)
        ]
        self.assertEqual(b"", self.successResultOf(first))
        for held in others:
            self.assertNoResult(held)
        self.patch(held_hooks, "MOST", held_hooks.MOST_IN_SESSION)
        self.assertNoResult(self.hold(self.ready()))
        self.assertEqual(b"", self.successResultOf(others[0]))

    def test_parallel_dialogs_have_their_own_holds(self) -> None:
        session, first = self.held_dialog()
        self.client(session).ask(permission_page("touch other.txt"))
        second = self.hold(session, command="touch other.txt")
        self.take(session, first)
        self.take(session, second)
        self.give(self.item(session), "approve")
        self.assertEqual(ALLOWED, self.decision(first))
        self.assertNoResult(second)
        self.spend(3)
        self.give(self.item(session), "deny", reason="no")
        self.assertEqual("deny", self.decision(second)["behavior"])
        self.assertEqual(
            [("touch made.txt", "hook"), ("touch other.txt", "hook")], self.left(session)
        )

    def test_hooks_that_may_not_wait_return_at_once(self) -> None:
        session, first = self.held_dialog()
        self.assertNoResult(first)
        for changes in (
            {"approvals_inbox_enabled": False},
            {"approvals_inbox_enabled": True, "agent_channels_off": ("primary",)},
        ):
            self.change_settings(**changes)
            self.assertEqual(b"", self.successResultOf(self.hold(session)))
        self.change_settings(agent_channels_off=())
        large = {"command": "x" * decision_intake.INPUT_CHARS}
        self.assertEqual(b"", self.successResultOf(self.hold(session, **large)))

    def test_agent_of_an_agent_does_not_wait(self) -> None:
        session = self.ready()
        self.hook(session, "session_start", session_id="one", source="startup")
        self.hook(session, "session_start", session_id="two", source="startup")
        data = {"session_id": "two", "tool_name": "Bash", "tool_input": TOUCH}
        held = start_coroutine(
            self.agents.channel.decisions.wait_for_decision(session.id, data, None)
        )
        self.assertEqual(b"", self.successResultOf(held))
