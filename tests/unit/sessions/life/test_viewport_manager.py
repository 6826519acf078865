"""Whose colours a session has (protocol-colours)."""

from __future__ import annotations

from tests.callers import GRANTED
from tests.unit.sessions.harness import SessionCase
from tservice.mux.interface import DARK, LIGHT, MuxTimeout, TerminalColours
from tservice.sessions.record.viewport import SizeRequest, ViewportKind

RED = TerminalColours(foreground="#ffffff", background="#aa0000")


class ColoursTests(SessionCase):
    def setUp(self) -> None:
        super().setUp()
        self.session = self.shell()

    def told(self) -> TerminalColours:
        return self.pane(self.session).colours

    def claim(self, viewer: str) -> None:
        wish = SizeRequest(cols=90, rows=30, viewport=ViewportKind.DESKTOP, viewer=viewer)
        self.run_now(self.sessions.resize_pane(self.session.id, wish))

    def test_colour_setting_applies_without_a_viewer(self) -> None:
        self.assertEqual(DARK, self.told())
        self.machine.settings.change_settings({"terminalGround": "light"})
        self.assertEqual(LIGHT, self.told())
        self.assertEqual(LIGHT, self.pane(self.shell()).spec.colours)

    def test_colours_of_the_viewer_that_holds_the_size_apply(self) -> None:
        self.sessions.set_viewer_colours(self.session.id, "one", LIGHT)
        self.assertEqual(DARK, self.told(), "its size does not hold yet")
        self.claim("one")
        self.assertEqual(LIGHT, self.told())
        self.sessions.set_viewer_colours(self.session.id, "two", RED)
        self.assertEqual(LIGHT, self.told())
        self.claim("two")
        self.assertEqual(RED, self.told())
        self.sessions.set_viewer_colours(self.session.id, "two", DARK)
        self.assertEqual(DARK, self.told())
        self.run_now(self.sessions.remove_viewer(self.session.id, "two"))
        self.assertEqual(LIGHT, self.told(), "the heir's")
        self.run_now(self.sessions.remove_viewer(self.session.id, "one"))
        self.assertEqual(DARK, self.told())
        self.assertEqual({}, self.sessions.get_live_session(self.session.id).colours)

    def test_restarted_program_gets_the_colours_of_the_viewer(self) -> None:
        self.sessions.set_viewer_colours(self.session.id, "one", LIGHT)
        self.claim("one")
        self.pane(self.session).exit_program(0)
        self.run_now(self.sessions.start(self.session.id, GRANTED))
        self.assertEqual(LIGHT, self.pane(self.session).spec.colours)

    def test_program_starts_with_the_colours_of_the_last_viewer(self) -> None:
        self.sessions.set_viewer_colours(self.session.id, "one", RED)
        self.assertEqual(DARK, self.told(), "its size does not hold")
        self.assertEqual(RED, self.pane(self.shell()).spec.colours)

    def test_unanswered_colour_change_is_repeated(self) -> None:
        self.claim("one")
        self.pane(self.session).inject_fault("set_colours", MuxTimeout("no answer"))
        self.sessions.set_viewer_colours(self.session.id, "one", LIGHT)
        self.assertEqual(DARK, self.told())
        self.sessions.set_viewer_colours(self.session.id, "one", LIGHT)
        self.assertEqual(LIGHT, self.told())
