"""What an agent asks before its first prompt is an item like any other (protocol-approvals)."""

from __future__ import annotations

from tests.frames import HERE
from tests.unit.agents.approvals_harness import ApprovalCase
from tests.unit.agents.recorded_dialogs import recorded_dialogs_of
from tests.unit.sessions.harness import start_coroutine
from tservice.agents.approvals.model import ApprovalResolution, ItemKind
from tservice.agents.approvals.responses import make_item_response
from tservice.sessions.interfaces import Session
from tservice.terminal.dialogs.dialog_kinds import DialogKind

FIRST = {
    DialogKind.TRUST,
    DialogKind.BYPASS,
    DialogKind.API_KEY,
    DialogKind.MCP,
    DialogKind.NOTICE,
}
MODES = {"codex": "codex", "gemini": "gemini", "opencode": "opencode"}
TRUST = (
    " Accessing workspace:\n\n /srv/project\n\n"
    " Quick safety check: Is this a project you trust?\n\n"
    " ❯ 1. Yes, I trust this folder\n   2. No, exit\n\n Enter to confirm · Esc to cancel"
)


def recorded(cli: str, name: str) -> str:
    return (HERE / cli / f"{name}.txt").read_text("utf-8")


class FirstDialogTests(ApprovalCase):
    def starting(self, mode: str, screen: str) -> Session:
        """An agent that has just started, and what it shows."""
        session = self.agent("", mode=mode)
        self.show(session, screen)
        return session

    def test_recorded_first_dialogs_make_items_with_their_options(self) -> None:
        shown = [each for cli in MODES for each in recorded_dialogs_of(cli)]
        first = [each for each in shown if each.dialog.kind in FIRST and each.cli != "opencode"]
        self.assertGreater(len(first), 5)
        for each in first:
            session = self.starting(MODES[each.cli], "\n".join(each.frame.rows))
            self.spend(5)
            item = self.item(session)
            self.assertEqual(each.dialog.kind, item.dialog, each.name)
            self.assertEqual(
                [option.label for option in each.dialog.options],
                [option.label for option in item.options],
                each.name,
            )
            self.inbox.resolve_item(item, ApprovalResolution.DISMISSED)
            start_coroutine(self.sessions.delete(session.id))
            self.spend(2)

    def test_trust_dialog_of_codex_says_what_it_asks_and_is_not_harmless(self) -> None:
        session = self.starting("codex", recorded("codex", "120x40_trust"))
        self.spend(5)
        item = self.item(session)
        self.assertEqual((ItemKind.PERMISSION, "trust"), (item.kind, item.dialog))
        self.assertIn("Trust this folder?", item.message or "")
        self.assertIs(False, make_item_response(item).complete)
        self.assertEqual([("pending", "permission")], self.told())

    def test_notice_of_a_new_model_offers_its_choices(self) -> None:
        session = self.starting("codex", recorded("codex", "10_first"))
        self.spend(5)
        labels = [option.label for option in self.item(session).options]
        self.assertEqual(["Try new model", "Use existing model"], labels)

    def test_trust_dialog_that_the_service_answers_makes_no_item(self) -> None:
        session = self.starting("primary", TRUST)
        self.spend(0.5)
        self.assertIsNone(self.inbox.get_item(session.id))
        self.assertEqual([], self.told())

    def test_trust_dialog_that_the_service_gave_up_makes_an_item(self) -> None:
        session = self.starting("primary", TRUST)
        # The program takes none of the keys.
        self.spend(30)
        self.assertTrue(self.screen(session).pressed)
        self.assertEqual("trust", self.item(session).dialog)
