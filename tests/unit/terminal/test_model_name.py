"""The model's name is read from where the CLI shows it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.unit.terminal.screen_builders import text_frame
from tservice.terminal.model_name import LENGTH, find_displayed_model, sanitize_text
from tservice.terminal.screen_rules import ScreenRules

RULES = ScreenRules.from_capabilities({"modelDetect": {"pattern": r"^model: (.*)$", "rows": 3}})


class DetectTests(SynchronousTestCase):
    def test_model_is_detected_in_the_last_rows(self) -> None:
        """Only the last rows that hold anything are searched, the lowest first."""
        self.assertEqual("b", find_displayed_model(text_frame("model: a\nmodel: b\nx"), RULES))
        self.assertEqual("b", find_displayed_model(text_frame("model: b\n\n\n\nx\n\ny"), RULES))
        self.assertIsNone(find_displayed_model(text_frame("model: a\nx\ny\nz"), RULES))

    def test_model_name_stops_at_another_style(self) -> None:
        """A provider in another colour is no part of the name; without colours nobody can tell."""
        detect = {"pattern": "^model: (.*)$", "rows": 3, "oneStyle": True}
        rules = ScreenRules.from_capabilities({"modelDetect": detect})
        row = "\x1b[97mmodel:\x1b[37m \x1b[36mBig Model\x1b[37m \x1b[90mprovider co\x1b[0m"
        self.assertEqual("Big Model", find_displayed_model(text_frame(row), rules))
        self.assertEqual(
            "Big Model provider",
            find_displayed_model(text_frame("model: Big Model provider"), rules),
        )

    def test_model_is_not_detected_without_a_rule_or_a_name(self) -> None:
        """A mode without the capability, a row without a name."""
        self.assertIsNone(find_displayed_model(text_frame("model: a"), ScreenRules()))
        self.assertIsNone(find_displayed_model(text_frame("model:  "), RULES))


class SanitiseTests(SynchronousTestCase):
    def test_control_characters_of_a_model_name_are_removed(self) -> None:
        """Control and direction characters go (protocol-session)."""
        self.assertEqual("a b c", sanitize_text(" a\x1bb\x00\t\u202ec\n"))
        self.assertIsNone(sanitize_text("\x07 \u200b"))

    @settings(max_examples=example_count(300), deadline=None)
    @given(st.text(max_size=200))
    def test_model_name_is_bounded_and_printable(self, text: str) -> None:
        """Never empty, never longer than 64, nothing but printable characters."""
        name = sanitize_text(text)
        if name is not None:
            self.assertTrue(0 < len(name) <= LENGTH)
            self.assertTrue(name.isprintable() or not name.isascii(), name)
            self.assertEqual(name, sanitize_text(name))
