"""How agents take a file in a prompt, as the real ones were seen to (docs/howto/files.rst)."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tservice.clis.capabilities import AttachmentForm, CliCapabilities
from tservice.clis.stock_entries import load_stock_entries


class AttachmentTests(SynchronousTestCase):
    def test_attachment_text_follows_the_form(self) -> None:
        self.assertEqual("@/ws/a.png", AttachmentForm.AT.format_path("/ws/a.png"))
        for form in (AttachmentForm.PATH, AttachmentForm.PASTE):
            self.assertEqual("/ws/a.png", form.format_path("/ws/a.png"))

    def test_stock_entries_have_their_attachment_form(self) -> None:
        forms = {
            name: entry.capabilities.attachment for name, entry in load_stock_entries().items()
        }
        at = {name for name, form in forms.items() if form is AttachmentForm.AT}
        pasted = {name for name, form in forms.items() if form is AttachmentForm.PASTE}
        self.assertEqual(
            ({"primary", "gemini", "copilot", "qwen"}, {"codex", "opencode"}), (at, pasted)
        )

    def test_attachment_form_is_path_by_default(self) -> None:
        self.assertIs(AttachmentForm.PATH, CliCapabilities().attachment)
