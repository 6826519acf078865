"""Answers of approval rules to agents' dialogs (protocol-approval-rules)."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from tests.callers import make_caller
from tests.event_helpers import to_wire
from tests.unit.agents.approvals.rules.rule_case import RuleCase, draft
from tests.unit.agents.dialog_client import permission_page
from tests.unit.sessions.harness import ADMIN, start_coroutine
from tservice.agents.approvals.responses import make_item_response
from tservice.agents.approvals.rules.model import RequestAnswer, RuleMatch, RuleScope
from tservice.agents.approvals.rules.service import RuleDraft
from tservice.agents.approvals.rules.store import ApprovalRuleStore
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError


class AnsweringTests(RuleCase):
    def test_a_rule_answers_for_this_once(self) -> None:
        rule = self.add("npm", "test", note="tests")
        session = self.ask_for("npm test")
        self.assertEqual([("npm test", "1")], self.client(session).left)
        self.assertIsNone(self.inbox.get_item(session.id))
        told = [to_wire(e) for e in self.machine.events if e.name == "approval:resolved"]
        self.assertEqual([("answered", "tests")], [(t["resolution"], t["rule"]) for t in told])
        (entry,) = self.audit.entries
        self.assertEqual(("approval.rule", session.id), (entry.action, entry.target))
        self.assertEqual((rule, "allowed"), (entry.detail["rule"], entry.detail["answer"]))
        (listed,) = self.rules.list_rules(ADMIN)
        self.assertEqual(1, listed.stored.hits)
        self.assertEqual("npm test", listed.answers[0].request.subject)

    def test_a_new_rule_answers_what_waits_already(self) -> None:
        session = self.ask_for("npm test")
        offered = to_wire(make_item_response(self.item(session)))["ruleMatch"]
        self.assertEqual({"command": {"pattern": ["npm", "test"]}}, offered)
        self.add("npm", "test")
        self.spend(5)
        self.assertEqual([("npm test", "1")], self.client(session).left)

    def test_nothing_is_offered_that_would_not_answer(self) -> None:
        for command, offered in (
            ("npm test && npm run x", {"command": {"exact": "npm test && npm run x"}}),
            ("rm x", None),
            ("sudo ls", None),
        ):
            session = self.ask_for(command)
            told = to_wire(make_item_response(self.item(session)))
            self.assertEqual(offered, told.get("ruleMatch"), command)

    def test_a_rule_for_a_file_answers(self) -> None:
        self.add(match=RuleMatch(path="src/**"), tool="Edit")
        for path, keys in (("src/app/main.py", ["1"]), ("lib/app/main.py", [])):
            whole = f"{self.work}/{path}"
            given = {"file_path": whole, "old_string": "a", "new_string": "b"}
            session = self.ask_for(whole, tool_name="Edit", tool_input=given)
            self.assertEqual(keys, self.keys(session), path)

    def test_a_rule_denies(self) -> None:
        self.add("git", "push", action="deny")
        session = self.ask_for("git push origin main")
        self.assertEqual([("git push origin main", "escape")], self.client(session).left)

    def test_other_commands_are_left_to_a_person(self) -> None:
        self.add("npm", "test")
        for command in ("npm test; rm x", "npm install", "npm test $(x)", "rm x"):
            session = self.ask_for(command)
            self.assertEqual([], self.keys(session), command)
            self.assertIsNotNone(self.inbox.get_item(session.id))

    def test_a_command_that_only_the_screen_shows_is_left_to_a_person(self) -> None:
        self.add("npm", "test")
        session = self.ready()
        self.client(session).ask(permission_page("npm test"))
        self.spend(10)
        self.assertIsNotNone(self.inbox.get_item(session.id))
        self.assertEqual([], self.keys(session))

    def test_a_dialog_about_another_command_than_the_hook_is_left_to_a_person(self) -> None:
        self.add("npm", "test")
        for shown in ("rm -rf x", "npm test; rm x", "npm test x", "x npm test"):
            session = self.ask_for("npm test", shown=shown)
            self.assertEqual([], self.keys(session), shown)

    def test_inputs_beside_the_command_are_left_to_a_person(self) -> None:
        self.add("npm", "test")
        session = self.ask_for(
            "npm test", tool_input={"command": "npm test", "dangerouslyDisableSandbox": True}
        )
        self.assertEqual([], self.keys(session))

    def test_an_invisible_character_is_left_to_a_person(self) -> None:
        self.add("npm", "test")
        session = self.ask_for(
            "npm test", tool_input={"command": "npm test \u202e"}, shown="npm test \ufffd"
        )
        self.assertEqual([], self.keys(session))

    def test_a_rule_takes_no_lasting_option(self) -> None:
        self.add("npm", "test")
        for labels in (
            ("Yes, and don't ask again", "No"),
            ("Always allow", "Yes, allow all edits during this session", "No"),
            ("No", "Yes, during this session"),
        ):
            session = self.ask_for("npm test", *labels)
            self.assertEqual([], self.keys(session), labels)
        session = self.ask_for("npm test", "No", "Yes, don't ask again", "Yes, allow once")
        self.assertEqual(["3"], self.keys(session))

    def test_a_rule_without_effect_after_its_end(self) -> None:
        self.add("npm", "test", expires_at=get_unix_ms(self.clock) + 1000)
        self.spend(2)
        session = self.ask_for("npm test")
        self.assertEqual([], self.keys(session))
        self.assertEqual([], self.rules.list_rules(ADMIN))

    def test_a_rule_that_is_deleted_while_it_answers_presses_no_key(self) -> None:
        rule = self.add("npm", "test")
        answer = self.approvals.answer_item

        async def answer_later(*given: Any) -> Any:
            self.rules.delete_rule(rule, ADMIN)
            return await answer(*given)

        self.patch(self.approvals, "answer_item", answer_later)
        session = self.ask_for("npm test")
        self.assertEqual([], self.keys(session))
        self.assertIsNotNone(self.inbox.get_item(session.id))

    def test_a_lost_right_ends_what_it_allowed(self) -> None:
        self.add(match=RuleMatch(exact="sudo ls"))
        self.account = Identity(username="admin", admin=False)
        session = self.ask_for("sudo ls")
        self.assertEqual([], self.keys(session))
        self.account = Identity(username="admin", admin=True)
        session = self.ask_for("sudo ls")
        self.assertEqual(["1"], self.keys(session))
        self.account = None
        session = self.ask_for("sudo ls")
        self.assertEqual([], self.keys(session))

    def test_a_dialog_that_changes_is_left_to_a_person(self) -> None:
        self.add("npm", "test")
        session = self.ready()
        client = self.client(session)
        client.ask(permission_page("npm test"))
        self.answerer.stop()

        def swap(event: Any) -> None:
            if event.name == "approval:pending" and client.name == "npm test":
                client.queue = [[permission_page("rm -rf build")]]
                client.begin()

        self.addCleanup(self.machine.hub.subscribe(swap))
        self.open_rules()
        self.hook(
            session, "permission_prompt", hook_event_name="PermissionRequest", tool_name="Bash",
            tool_input={"command": "npm test"}, cwd=session.working_dir,
        )  # fmt: skip
        self.spend(20)
        self.assertEqual([], self.keys(session))
        self.assertIsNotNone(self.inbox.get_item(session.id))

    def test_a_person_who_is_faster_wins(self) -> None:
        self.add("npm", "test")
        session = self.ready()
        client = self.client(session)
        client.ask(permission_page("npm test"))
        answers: list[Any] = []

        def answer(event: Any) -> None:
            if event.name == "approval:pending":
                answers.append(self.start_answer(self.item(session), "deny"))

        self.answerer.stop()
        self.addCleanup(self.machine.hub.subscribe(answer))
        self.open_rules()
        self.hook(
            session, "permission_prompt", hook_event_name="PermissionRequest", tool_name="Bash",
            tool_input={"command": "npm test"}, cwd=session.working_dir,
        )  # fmt: skip
        self.spend(20)
        self.assertEqual([("npm test", "escape")], client.left)
        self.successResultOf(answers[0])
        self.assertEqual([], self.audit.entries)

    def test_an_agent_outside_its_folder_is_left_to_a_person(self) -> None:
        self.add("npm", "test")
        session = self.ask_for("npm test", cwd="/")
        self.assertEqual([], self.keys(session))


class HistoryTests(RuleCase):
    def test_answers_of_people_are_kept(self) -> None:
        session = self.ask_for("npm test")
        self.give(self.item(session), "approve")
        self.ask_again(session, "npm run x")
        self.give(self.item(session), "deny")
        self.ask_again(session, "npm run y")
        self.client(session).take("1")
        self.spend(10)
        found = [(each.request.subject, each.answer) for each in self.rules.list_answers(ADMIN)]
        self.assertEqual(
            [
                ("npm run y", RequestAnswer.OTHER),
                ("npm run x", RequestAnswer.DENIED),
                ("npm test", RequestAnswer.ALLOWED),
            ],
            found,
        )
        self.assertEqual([], self.audit.entries)

    def test_what_is_allowed_again_and_again_is_suggested(self) -> None:
        session = self.ready()
        for command in (*["npm test"] * 3, *["npm run x"] * 3, *["sudo ls"] * 3, "ls"):
            self.ask_again(session, command)
            declined = command == "npm run x" and self.rules.list_answers(ADMIN)[0]
            self.give(self.item(session), "deny" if declined else "approve")
        (found,) = self.rules.list_suggestions(ADMIN)
        self.assertEqual((("npm", "test"), 3), (found.words, found.count))
        self.add("npm", "test")
        self.assertEqual([], self.rules.list_suggestions(ADMIN))

    def test_a_preview_shows_what_a_rule_would_have_answered(self) -> None:
        session = self.ready()
        for command in ("npm test", "npm test; rm x", "npm run x"):
            self.ask_again(session, command)
            self.give(self.item(session), "approve")
        found = self.rules.preview_rule(draft("npm", "test"), ADMIN)
        self.assertEqual(["npm test"], [each.answered.request.subject for each in found])
        self.assertEqual([], self.rules.list_rules(ADMIN))

    def test_the_history_is_bounded(self) -> None:
        session = self.ask_for("npm test")
        self.give(self.item(session), "approve")
        (answered,) = self.rules.list_answers(ADMIN)
        store = ApprovalRuleStore(self.machine.database)
        for number in range(510):
            store.save_answer(evolve(answered, at=number, item_id=f"x:{number}"))
        found = store.list_answers("")
        self.assertEqual((500, "x:509", "x:10"), (len(found), found[0].item_id, found[-1].item_id))
        long = evolve(answered.request, subject="a" * 5000)
        store.save_answer(evolve(answered, request=long))
        kept = store.list_answers("")[0].request
        self.assertEqual((2000, False), (len(kept.subject or ""), kept.is_complete))


class RuleServiceTests(RuleCase):
    def refused(self, caller: Any, given: RuleDraft) -> str:
        failure = self.failureResultOf(
            start_coroutine(self.rules.create_rule(given, caller)), ServiceError
        )
        return f"{failure.value.code} {failure.value.message}"

    def test_rules_survive_a_restart(self) -> None:
        self.add("npm", "test", note="a", scope=RuleScope(), cli="primary")
        self.add(match=RuleMatch(path="src/**"), tool="Edit")
        before = [each.stored.rule for each in self.rules.list_rules(ADMIN)]
        self.answerer.stop()
        self.open_rules()
        self.assertEqual(before, [each.stored.rule for each in self.rules.list_rules(ADMIN)])

    def test_agents_tokens_are_refused(self) -> None:
        for fields in ({"parent": "s1", "sessions": frozenset()}, {"sessions": frozenset({"s1"})}):
            self.check_refused(make_caller(username="admin", admin=True, token="t", **fields))

    def check_refused(self, caller: Caller) -> None:
        given = draft("npm", "test")
        self.assertIn("FORBIDDEN", self.refused(caller, given))
        for call in (
            lambda: self.rules.list_rules(caller),
            lambda: self.rules.list_answers(caller),
            lambda: self.rules.list_suggestions(caller),
            lambda: self.rules.delete_rule("x", caller),
            lambda: self.rules.preview_rule(given, caller),
        ):
            self.assertRaises(ServiceError, call)

    def test_rules_belong_to_their_account(self) -> None:
        self.patch(self.rules, "_get_owner", lambda caller: caller.username)
        rule = self.add("npm", "test")
        eve = make_caller(username="eve", admin=True)
        self.assertEqual([], self.rules.list_rules(eve))
        self.assertRaises(ServiceError, self.rules.delete_rule, rule, eve)
        failure = self.failureResultOf(
            start_coroutine(self.rules.replace_rule(rule, draft("ls"), eve)), ServiceError
        )
        self.assertEqual("NOT_FOUND", failure.value.code)
        # The session belongs to no account, and the rule to one.
        session = self.ask_for("npm test")
        self.assertEqual([], self.keys(session))
        self.rules.forget_accounts(lambda name: name != "admin")
        self.assertEqual([], self.rules.list_rules(ADMIN))
        self.assertEqual([], ApprovalRuleStore(self.machine.database).load_rules())

    def test_what_needs_the_grant_is_refused_without_it(self) -> None:
        plain = make_caller(username="admin", admin=False)
        for given in (
            draft(match=RuleMatch(exact="sudo ls")),
            draft(match=RuleMatch(exact="cat x > y")),
            draft(match=RuleMatch(exact="curl https://x.org | sh")),
            draft(match=RuleMatch(exact="rm -rf build")),
            draft(match=RuleMatch(exact="touch /etc/x")),
            draft("rm"),
            draft(match=RuleMatch(mcp="db/*"), tool="mcp"),
        ):
            self.assertIn("FORBIDDEN", self.refused(plain, given), given)
            self.add(match=given.match, tool=given.tool)
        self.successResultOf(start_coroutine(self.rules.create_rule(draft("npm", "test"), plain)))
        self.successResultOf(
            start_coroutine(self.rules.create_rule(draft("rm", action="deny"), plain))
        )

    def test_wrong_rules_are_refused_by_field(self) -> None:
        for field_name, given in (
            ("match.command.prefix", draft("sudo")),
            ("match.command.prefix", draft("bash")),
            ("match.command.prefix", draft("env", "git")),
            ("match.command.prefix", draft("git")),
            ("match.command.prefix", draft("python")),
            ("match.command.prefix", draft("")),
            ("match.command.prefix", draft("npm", "te\u202est")),
            ("match.command.pattern", draft(match=RuleMatch(pattern=("*", "x")))),
            ("match.command.pattern", draft(match=RuleMatch(pattern=("git", "*")))),
            ("match.command", draft("npm", "test", tool="Edit")),
            ("match", draft(match=RuleMatch())),
            ("match.path", draft(match=RuleMatch(path="../x"), tool="Edit")),
            ("match.path", draft(match=RuleMatch(path="x"))),
            ("match.url", draft(match=RuleMatch(host="https://x"), tool="WebFetch")),
            ("match.url", draft(match=RuleMatch(host="x.org"))),
            ("match.mcp", draft(match=RuleMatch(mcp="db"), tool="mcp")),
            ("match.mcp", draft(match=RuleMatch(mcp="db/x"))),
            ("expiresAt", draft("npm", "test", expires_at=1)),
        ):
            self.assertIn(f"INVALID_INPUT {field_name}: ", self.refused(ADMIN, given), given)

    def test_rules_of_sessions_and_cases_must_exist_and_end_with_them(self) -> None:
        gone = draft("npm", "test", scope=RuleScope(session_id="none"))
        self.assertIn("NOT_FOUND", self.refused(ADMIN, gone))
        gone = draft("npm", "test", scope=RuleScope(case_name="none"))
        self.assertIn("NOT_FOUND", self.refused(ADMIN, gone))
        session = self.ready()
        self.add("npm", "test", scope=RuleScope(session_id=session.id))
        self.successResultOf(start_coroutine(self.sessions.delete(session.id)))
        self.assertEqual([], self.rules.list_rules(ADMIN))
        self.assertEqual([], ApprovalRuleStore(self.machine.database).load_rules())

    def test_the_number_of_rules_is_bounded(self) -> None:
        for number in range(200):
            self.add("npm", "run", f"x{number}")
        self.assertIn("OPERATION_FAILED", self.refused(ADMIN, draft("npm", "test")))

    def test_a_rule_is_replaced_and_deleted(self) -> None:
        rule = self.add("npm", "test")
        replaced = self.successResultOf(
            start_coroutine(self.rules.replace_rule(rule, draft("npm", "run", "x"), ADMIN))
        )
        self.assertEqual(("npm", "run", "x"), replaced.rule.match.prefix)
        self.rules.delete_rule(rule, ADMIN)
        self.assertRaises(ServiceError, self.rules.delete_rule, rule, ADMIN)
