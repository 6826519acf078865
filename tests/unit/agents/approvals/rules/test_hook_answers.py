"""Answers of approval rules to hooks that wait for a decision (protocol-hook-decision)."""

from __future__ import annotations

import json
from typing import Any

from twisted.internet.defer import Deferred

from tests.event_helpers import to_wire
from tests.unit.agents.approvals.rules.rule_case import RuleCase
from tests.unit.agents.dialog_client import permission_page
from tests.unit.sessions.harness import ADMIN, start_coroutine
from tservice.agents.approvals.approval_watch import CLOSING_MS
from tservice.agents.approvals.rules.model import RequestAnswer, RuleMatch
from tservice.core.callers.identity import Identity
from tservice.sessions.interfaces import Session

ALLOWED = {"behavior": "allow"}


class HookAnswerCase(RuleCase):
    """Agents whose hooks wait for a decision."""

    def request(self, session: Session, command: str = "npm test", **data: Any) -> Deferred[bytes]:
        """The agent's hook asks, and waits."""
        given = {
            "hook_event_name": "PermissionRequest",
            "session_id": "one",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "cwd": session.working_dir,
            **data,
        }
        held: Deferred[bytes] = start_coroutine(
            self.agents.channel.decisions.wait_for_decision(session.id, given, None)
        )
        return held

    def decision(self, held: Deferred[bytes]) -> Any:
        """Return the decision that the hook has got already."""
        return json.loads(self.successResultOf(held))["hookSpecificOutput"]["decision"]

    def dialog_events(self) -> list[str]:
        """Return the names of the events that tell of a dialog."""
        found = [event.name for event in self.machine.events]
        return [name for name in found if name.startswith(("approval:", "hook:", "session:bl"))]


class HookAnswerTests(HookAnswerCase):
    def test_rule_answers_at_once_and_nobody_is_told_of_a_dialog(self) -> None:
        rule = self.add("npm", "test", note="tests")
        session = self.ready()
        self.machine.events.clear()
        self.client(session).ask(permission_page("npm test"))
        held = self.request(session)
        self.assertEqual(ALLOWED, self.decision(held))
        self.client(session).leave("hook")
        self.spend(20)
        self.assertEqual(["approval:byRule"], self.dialog_events())
        (told,) = [to_wire(e) for e in self.machine.events if e.name == "approval:byRule"]
        self.assertEqual(
            {"sessionId": session.id, "tool": "Bash", "answer": "allowed", "rule": "tests"}, told
        )
        self.assertIsNone(self.inbox.get_item(session.id))
        self.assertEqual([], self.keys(session))
        (entry,) = self.audit.entries
        self.assertEqual(("approval.rule", session.id), (entry.action, entry.target))
        self.assertEqual((rule, "allowed"), (entry.detail["rule"], entry.detail["answer"]))
        (listed,) = self.rules.list_rules(ADMIN)
        self.assertEqual((1, "npm test"), (listed.stored.hits, listed.answers[0].request.subject))

    def test_rule_denies_as_the_key_does(self) -> None:
        self.add("git", "push", action="deny")
        session = self.ready()
        decision = self.decision(self.request(session, "git push origin main"))
        self.assertEqual(("deny", True), (decision["behavior"], decision["interrupt"]))
        (answered,) = self.rules.list_answers(ADMIN)
        self.assertEqual(RequestAnswer.DENIED, answered.answer)

    def test_what_no_rule_decides_waits_for_a_person(self) -> None:
        self.add("npm", "test")
        self.add(match=RuleMatch(exact="sudo ls"))
        self.add("git", "push", action="ask")
        self.account = Identity(username="admin", admin=False)
        for command, data in (
            ("npm test; rm x", {}),
            ("sudo ls", {}),
            ("git push", {}),
            ("npm test", {"cwd": "/"}),
            ("npm test", {"tool_input": {"command": "npm test", "other": 1}}),
            ("npm test", {"tool_name": "AskUserQuestion"}),
        ):
            session = self.ready()
            self.client(session).ask(permission_page(command))
            held = self.request(session, command, **data)
            self.spend(5)
            self.assertNoResult(held)
            self.assertIsNotNone(self.inbox.get_item(session.id), command)
            held.cancel()
            self.failureResultOf(held)
        self.assertEqual([], self.audit.entries)

    def test_rules_without_account_or_channel_answer_no_hook(self) -> None:
        self.add("npm", "test")
        session = self.ready()
        self.change_settings(approvals_inbox_enabled=False)
        self.assertEqual(b"", self.successResultOf(self.request(session)))
        self.change_settings(approvals_inbox_enabled=True)
        self.account = None
        self.assertNoResult(self.request(session))
        self.assertEqual([], self.rules.list_answers(ADMIN))

    def test_agent_of_an_agent_gets_no_answer(self) -> None:
        self.add("npm", "test")
        session = self.ready()
        self.hook(session, "session_start", session_id="one", source="startup")
        self.hook(session, "session_start", session_id="two", source="startup")
        self.assertEqual(b"", self.successResultOf(self.request(session, session_id="two")))
        self.assertEqual([], self.audit.entries)


class ClosingDialogTests(HookAnswerCase):
    """Dialogs that stand on the screen beside the answer of a rule."""

    def test_dialog_that_was_seen_before_its_hook_is_resolved_by_the_rule(self) -> None:
        self.add("npm", "test", note="tests")
        session = self.ready()
        self.client(session).ask(permission_page("npm test"))
        self.spend(2)
        self.assertIsNone(self.item(session).tool_name)
        self.machine.events.clear()
        self.assertEqual(ALLOWED, self.decision(self.request(session)))
        (told,) = [to_wire(e) for e in self.machine.events if e.name == "approval:resolved"]
        self.assertEqual(("answered", "tests"), (told["resolution"], told["rule"]))
        # One question, one event: who counts answers counts it once.
        self.assertEqual(["approval:resolved"], self.dialog_events())

    def test_dialog_of_another_tool_stays(self) -> None:
        self.add("npm", "test")
        session = self.ready()
        self.client(session).ask(permission_page("rm x"))
        other = self.request(session, "rm x")
        self.spend(3)
        self.assertEqual(ALLOWED, self.decision(self.request(session)))
        self.assertEqual("rm x", self.item(session).tool_summary)
        self.assertNoResult(other)

    def test_dialog_that_closes_late_makes_no_item(self) -> None:
        self.add("npm", "test")
        session = self.ready()
        client = self.client(session)
        self.machine.events.clear()
        client.ask(permission_page("npm test"))
        self.request(session)
        self.spend(CLOSING_MS / 1000 - 0.1)
        client.leave("hook")
        self.spend(20)
        self.assertEqual(["approval:byRule"], self.dialog_events())

    def test_dialog_that_ignores_the_answer_gets_a_key(self) -> None:
        self.add("npm", "test")
        session = self.ready()
        self.client(session).ask(permission_page("npm test"))
        self.request(session)
        self.spend(20)
        self.assertEqual([("npm test", "1")], self.client(session).left)

    def test_dialog_that_follows_soon_is_found(self) -> None:
        self.add("npm", "test")
        session = self.ready()
        client = self.client(session)
        client.ask(permission_page("npm test"))
        self.request(session)
        self.spend(0.1)
        client.leave("hook")
        client.ask(permission_page("rm x"))
        held = self.request(session, "rm x")
        self.spend(0.5)
        self.assertEqual("rm x", self.item(session).tool_summary)
        self.assertNoResult(held)
