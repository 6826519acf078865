"""Whoever approves a command sees all of it, or is told what is missing (protocol-approvals)."""

from __future__ import annotations

from typing import Any

from tests.event_helpers import to_wire
from tests.frames import load
from tests.frames.score import RULES
from tests.unit.agents.approvals_harness import ApprovalCase
from tests.unit.agents.dialog_client import permission_page, question_page
from tests.unit.sessions.harness import ADMIN
from tservice.agents.approvals.answer_steps import AnswerAction, parse_answer
from tservice.agents.approvals.model import update_from_dialog
from tservice.agents.approvals.responses import make_item_response
from tservice.agents.approvals.store import ApprovalStore
from tservice.agents.model import COMMAND_CHARS, reduce_data
from tservice.core.kernel.errors import ErrorCode
from tservice.sessions.interfaces import Session
from tservice.terminal.dialogs.dialogs import read_dialog
from tservice.terminal.frames.screen_frame import ScreenFrame

RULE = "─" * 80
ENDING = (" Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel")
HARM = "; rm -rf /srv/data"


class WholeCommandCase(ApprovalCase):
    def told_of(self, session: Session) -> dict[str, Any]:
        """The item as clients get it."""
        found: dict[str, Any] = to_wire(make_item_response(self.item(session)))
        return found

    def asks(self, command: str, **others: Any) -> dict[str, Any]:
        given = {"command": command, **others}
        return self.told_of(self.asked(permission_page(), tool_name="Bash", tool_input=given))


class WholeCommandHookTests(WholeCommandCase):
    """Agents whose hooks tell the command."""

    def test_command_of_526_characters_is_shown_whole_with_its_risk(self) -> None:
        command = "echo " + "a" * (521 - len(HARM)) + HARM
        item = self.asks(command, description="Say something", timeout=5)
        self.assertEqual(526, len(command))
        self.assertEqual((command, True), (item["toolSummary"], item["complete"]))
        self.assertEqual("Deletes files for good", item["riskHint"])
        self.assertNotIn("toolMissing", item)

    def test_command_beyond_the_bound_says_how_much_is_missing(self) -> None:
        command = "echo " + "a" * COMMAND_CHARS + HARM
        item = self.asks(command)
        shown = item["toolSummary"]
        self.assertLessEqual(len(shown), COMMAND_CHARS)
        kept = shown.partition("…")[0]
        missing = len(command) - len(kept)
        self.assertEqual(f"{kept}… ({missing} more characters)", shown)
        self.assertEqual((missing, False), (item["toolMissing"], item["complete"]))
        self.assertEqual("Is too long to be shown completely", item["riskHint"])

    def test_commands_that_differ_beyond_the_bound_have_different_frames(self) -> None:
        long = "echo " + "a" * COMMAND_CHARS
        other = long[: -len(HARM)] + HARM
        session = self.asked(permission_page(), tool_name="Bash", tool_input={"command": long})
        before = self.told_of(session)
        given = {"command": other}
        self.hook(session, "tool_ended", tool_name="Bash", tool_input={"command": long})
        self.hook(session, "permission_prompt", tool_name="Bash", tool_input=given)
        self.spend(3)
        after = self.told_of(session)
        self.assertNotEqual(before["id"], after["id"])
        self.assertNotEqual(before["frame"], after["frame"])
        answer = parse_answer(AnswerAction.APPROVE, expect_frame=before["frame"])
        giving = self.approvals.answer_item(after["id"], answer, ADMIN)
        self.assert_refused(ErrorCode.CONFLICT, giving)
        self.assertEqual([], self.client(session).log)

    def test_frame_hash_of_the_item_is_accepted_with_an_answer(self) -> None:
        session = self.asked(
            permission_page(), tool_name="Bash", tool_input={"command": "touch made.txt"}
        )
        item = self.item(session)
        shown = self.told_of(session)
        self.assertNotEqual(item.frame, shown["frame"])
        self.give(item, "approve", expect_frame=shown["frame"])
        self.assertEqual([("touch made.txt", "1")], self.client(session).log)

    def test_other_tool_inputs_are_named(self) -> None:
        item = self.asks("make", dangerouslyDisableSandbox=True)
        self.assertEqual(
            (["dangerouslyDisableSandbox"], False), (item["toolOther"], item["complete"])
        )
        again = ApprovalStore(self.machine.database).load_items()
        self.assertEqual([("dangerouslyDisableSandbox",)], [each.tool_other for each in again])

    def test_names_of_other_inputs_are_bounded(self) -> None:
        given = {f"{at:03}{'n' * 300}": at for at in range(500)}
        kept = reduce_data({"tool_input": given})["tool_other"]
        self.assertEqual(20, len(kept))
        self.assertLessEqual(max(map(len, kept)), 100)

    def test_address_of_a_fetch_is_its_summary(self) -> None:
        given = {"url": f"https://example.org/{'p' * 600}?secret=1", "prompt": "read"}
        session = self.asked(permission_page(given["url"]), tool_name="WebFetch", tool_input=given)
        item = self.told_of(session)
        self.assertEqual((given["url"], ["prompt"]), (item["toolSummary"], item["toolOther"]))

    def test_completeness_is_given_for_permissions_only(self) -> None:
        session = self.asked(question_page("Colour", "Red", "Blue"), tool_name="AskUserQuestion")
        self.assertNotIn("complete", self.told_of(session))

    def test_permission_without_the_text_of_its_tool_is_not_complete(self) -> None:
        item = self.told_of(self.asked(permission_page("rm -rf build")))
        self.assertEqual((False, "Deletes files for good"), (item["complete"], item["riskHint"]))

    def test_plan_of_the_agent_is_part_of_its_item(self) -> None:
        plan = "# Plan\n\n1. Look at the code\n"
        asked = self.asked(
            permission_page(), tool_name="ExitPlanMode", tool_input={"plan": plan, "other": 1}
        )
        told = self.told_of(asked)
        self.assertEqual((plan, False), (told["plan"], told["complete"]))
        long = self.asked(
            permission_page(), tool_name="ExitPlanMode", tool_input={"plan": "x" * 20_000}
        )
        self.assertLess(len(self.told_of(long)["plan"]), 17_000)
        other = self.asked(permission_page(), tool_name="Task", tool_input={"plan": plan})
        self.assertNotIn("plan", self.told_of(other))

    def test_rows_above_the_context_are_counted(self) -> None:
        session = self.asked(permission_page(), tool_name="Bash", tool_input={"command": "make"})
        rows = [RULE, " Bash command", *(f"   step {n}" for n in range(45)), *ENDING]
        dialog = read_dialog(
            ScreenFrame.from_capture("\n".join(rows).encode(), 80), RULES["claude"]
        )
        assert dialog is not None
        shown = to_wire(make_item_response(update_from_dialog(self.item(session), dialog)))
        self.assertEqual("… (20 more rows above)", shown["context"].split("\n")[0])


class WholeCommandScreenTests(WholeCommandCase):
    """Agents without hooks, whose dialogs show the command."""

    def test_command_is_read_from_the_dialog(self) -> None:
        for name in ("codex/80x24_approval", "gemini/80x24_approval", "opencode/80x24_approval"):
            (shown,) = (each for each in load() if str(each) == name)
            capture = (shown.best if shown.cli == "opencode" else shown.plain).decode()
            session = self.agent(name.replace("/", "-"), mode=shown.cli)
            self.spend(4)
            self.show(session, capture)
            self.spend(5)
            item = self.told_of(session)
            self.assertEqual(("Shell", "touch made"), (item["toolName"], item["toolSummary"]), name)
            self.assertIs(True, item["complete"])
            self.assertNotIn("riskHint", item)
            harm = capture.replace("touch made", "rm -rf /mn")
            self.show(session, harm)
            self.spend(5)
            item = self.told_of(session)
            self.assertEqual("rm -rf /mn", item["toolSummary"], name)
            self.assertEqual("Deletes files for good", item.get("riskHint"), name)
