"""The signal C{blocked} comes once the inbox has the item (protocol-signals)."""

from __future__ import annotations

from tests.unit.agents.approvals_harness import ApprovalCase
from tests.unit.agents.dialog_client import permission_page
from tservice.core.kernel.events import Event, EventName
from tservice.sessions.interfaces import Session


class BlockedSignalTests(ApprovalCase):
    """L{tservice.agents.activity.blocked_signals.BlockedSignals}."""

    def pending_at_blocked(self, session: Session) -> list[str | None]:
        """Fill the returned list with what the inbox holds at each C{session:blocked}."""
        found: list[str | None] = []

        def handle_event(event: Event) -> None:
            if event.name is EventName.SESSION_BLOCKED:
                item = self.inbox.get_item(session.id)
                found.append(None if item is None else item.id)

        self.addCleanup(self.machine.hub.subscribe(handle_event))
        return found

    def test_item_is_pending_before_blocked_is_told(self) -> None:
        """The hook comes before the dialog is drawn; who hears the signal reads the inbox next."""
        session = self.ready()
        found = self.pending_at_blocked(session)
        self.hook(session, "permission_prompt", hook_event_name="PermissionRequest")
        self.spend(0.3)
        self.client(session).ask(permission_page())
        self.spend(3)
        self.assertEqual([f"{session.id}:1"], found)

    def test_newer_dialog_is_pending_before_blocked_is_told(self) -> None:
        session = self.agent("x", mode="codex")
        self.spend(4)
        found = self.pending_at_blocked(session)
        for command in ("touch made.txt", "rm x"):
            self.client(session).ask(permission_page(command))
        self.spend(5)
        self.client(session).leave("elsewhere")
        self.spend(5)
        self.assertEqual([f"{session.id}:1", f"{session.id}:2"], found)

    def test_hook_whose_dialog_is_not_found_blocks_later(self) -> None:
        """Only while it is not known that nothing waits."""
        session = self.ready()
        self.hook(session, "prompt_submitted")
        self.hook(session, "permission_prompt", hook_event_name="PermissionRequest")
        self.spend(3)
        self.assert_signals(["working", "blocked", "idle"])
        self.hook(session, "permission_prompt", hook_event_name="PermissionRequest")
        self.hook(session, "stop")
        self.spend(3)
        self.assert_signals(["working", "stop", "idle"])
