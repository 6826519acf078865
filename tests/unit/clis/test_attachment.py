"""How agents take a file in a prompt, as the real ones were seen to (docs/howto/files.rst)."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tservice.clis.capabilities import AttachmentForm, CliCapabilities
from tservice.clis.stock_entries import load_stock_entries


class AttachmentTests(SynchronousTestCase):
    def test_what_is_typed(self) -> None:
        self.assertEqual("@/ws/a.png", AttachmentForm.AT.format_path("/ws/a.png"))
        for form in (AttachmentForm.PATH, AttachmentForm.PASTE):
            self.assertEqual("/ws/a.png", form.format_path("/ws/a.png"))

    def test_the_stock_entries(self) -> None:
        forms = {
            name: entry.capabilities.attachment for name, entry in load_stock_entries().items()
        }
        at = {name for name, form in forms.items() if form is AttachmentForm.AT}
        pasted = {name for name, form in forms.items() if form is AttachmentForm.PASTE}
        self.assertEqual(({"primary", "gemini"}, {"codex", "opencode"}), (at, pasted))

    def test_nothing_is_taken_for_granted(self) -> None:
        self.assertIs(AttachmentForm.PATH, CliCapabilities().attachment)
