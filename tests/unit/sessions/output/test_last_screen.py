"""The terminal of a session whose host is out of reach (protocol-terminal)."""

from __future__ import annotations

from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred

from tests.unit.sessions.input.accept.offline_harness import OfflineHostCase
from tservice.core.kernel.clock import get_unix_ms
from tservice.mux.interface import COMMAND_TIMEOUT, MuxTimeout
from tservice.sessions.interfaces import SavedScreen
from tservice.sessions.life.launcher import NoSavedState
from tservice.sessions.output.last_screen import AFTER


class StaleTests(OfflineHostCase):
    def read(self, **more: Any) -> dict[str, Any]:
        wanted = {"full": False, "lines": None, "tail": None, **more}
        reading = self.sessions.read_screen(self.session.id, **wanted)
        data: dict[str, Any] = self.successResultOf(Deferred.fromCoroutine(reading)).data
        return data

    def prints(self, text: bytes) -> int:
        """When it was seen."""
        self.pane(self.session).emit_output(text)
        self.clock.advance(AFTER)
        return get_unix_ms(self.clock)

    def test_stale_screen_has_its_time(self) -> None:
        self.far.there = True
        at = self.prints(b"\x1b[2J\x1b[Hbuilding\r\n\x1b[31mdone")
        self.far.there = False
        self.clock.advance(600)
        found = self.read()
        self.assertEqual((True, at), (found["stale"], found["staleAt"]))
        self.assertTrue(found["terminalBuffer"].startswith("building\r\n\x1b[0;31mdone"), found)
        self.assertEqual({"x": 4, "y": 1}, found["cursor"])
        self.assertEqual("visible", self.read(full=True)["source"])
        self.assertEqual("tail", self.read(tail=5)["truncationReason"])

    def test_screen_is_fresh_again_when_the_host_returns(self) -> None:
        self.far.there = True
        self.prints(b"one")
        self.far.there = False
        self.assertTrue(self.read()["stale"])
        self.pane(self.session).emit_output(b" two")
        self.back()
        found = self.read()
        self.assertNotIn("stale", found)
        self.assertIn("one two", found["terminalBuffer"])

    def test_lost_host_not_yet_noticed_gives_the_stale_screen(self) -> None:
        self.far.there = True
        self.prints(b"here")
        self.pane(self.session).inject_fault("capture", MuxTimeout("no answer"))
        found = self.read()
        self.assertTrue(found["stale"])
        self.assertIn("here", found["terminalBuffer"])

    def test_stale_screen_is_no_older_than_the_last_read(self) -> None:
        self.far.there = True
        self.pane(self.session).emit_output(b"just now")
        self.assertIn("just now", self.read()["terminalBuffer"])
        self.far.there = False
        self.assertIn("just now", self.read()["terminalBuffer"])

    def test_printing_pane_is_captured_at_a_bounded_rate(self) -> None:
        """A pane that prints without a pause is looked at four times a second."""
        self.far.there = True
        looks: list[float] = []
        pane = self.pane(self.session)
        grid = pane.grid
        state = grid.get_state

        def counted() -> Any:
            looks.append(self.clock.seconds())
            return state()

        self.patch(grid, "get_state", counted)
        for _ in range(100):
            pane.emit_output(b".")
            self.clock.advance(0.01)
        self.assertIn(len(looks), range(3, 6))

    def test_stored_screen_is_shown_after_a_restart(self) -> None:
        """After a restart of the service, what it had written down."""
        kept = SavedScreen(b"\r\n".join(b"row %d" % n for n in range(99)), 1234)

        class Recollection(NoSavedState):
            async def find_saved_screen(self, session: object) -> SavedScreen | None:
                return kept

        live = self.sessions.get_live_session(self.session.id)
        live.last_screen = None
        self.assertEqual(("", True), (self.read()["terminalBuffer"], self.read()["stale"]))
        deps = evolve(self.sessions._deps, recollection=Recollection())
        self.patch(self.sessions, "_deps", deps)
        found = self.read()
        self.assertEqual((True, 1234), (found["stale"], found["staleAt"]))
        self.assertEqual(live.record.rows, len(found["terminalBuffer"].split("\r\n")))
        self.assertTrue(found["terminalBuffer"].endswith("row 98"))

    def test_unresponsive_local_terminal_is_an_error(self) -> None:
        session = self.shell()
        self.pane(session).stop_answering()
        wanted = self.sessions.read_screen(session.id, full=False, lines=None, tail=None)
        reading = Deferred.fromCoroutine(wanted)
        self.clock.advance(COMMAND_TIMEOUT)
        self.assertEqual(422, self.failureResultOf(reading).value.status)
