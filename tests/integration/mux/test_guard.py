"""Keys bound to screens, on the real tmux, with recorded screens of the real clients."""

from __future__ import annotations

from attrs import evolve

from tests.frames import capture
from tests.integration.mux.harness import TmuxTestCase
from tservice.mux.interface import IPane, ScreenGuard

ID = "0a1b2c3d-0000-4000-8000-00000000000b"
SCREENS = (
    "120x40_bash_dialog",
    "120x40_plan_dialog",
    "120x40_question",
    "120x40_multiple_two_ticked",
    "120x40_fetch_dialog",
    "120x40_form",
    "120x40_edit_dialog",
)


class RecordedScreens(TmuxTestCase):
    """Whatever a client draws, the server finds it where it stands, and nothing else there."""

    async def shown(self, pane: IPane, name: str) -> ScreenGuard:
        """Show a recording; the guard compares rows only."""
        path = capture("claude", name, ansi=True)
        # In two words, so that the echo of the line is not taken for it.
        line = f"eval printf '\\033[H\\033[2J'; head -n 38 {path}; printf '\\033[mE''ND'; read -r x"
        # Only what comes from here on: the screen before ended with the same word.
        begin = pane.log.end
        await pane.write_bytes(line.encode() + b"\r")
        await self.until(lambda: pane.log.read(begin, pane.log.end - begin)[-3:] == b"END", name)
        return self.rows_only(await pane.guard_screen())

    def rows_only(self, guard: ScreenGuard) -> ScreenGuard:
        return evolve(guard, still=False, seal=(guard.seal[0], None))

    async def test_guard_matches_its_own_screen_and_no_other(self) -> None:
        pane = await self.mux.create_pane(evolve(self.spec(), session_id=ID, cols=120, rows=40))
        for name in SCREENS:
            guard = await self.shown(pane, name)
            rows = range(guard.capture.rows)
            lines = list(guard.capture.lines)
            at = next(i for i, line in enumerate(lines) if b"?" in line)
            lines[at] = lines[at].replace(b"?", b" at once?", 1)
            other = evolve(guard, capture=evolve(guard.capture, lines=tuple(lines)))
            self.assertFalse(await pane.press_if("1", other, rows), name)
            guard = self.rows_only(await pane.guard_screen())
            self.assertTrue(await pane.press_if("1", guard, rows), name)
            await pane.write_bytes(b"\r")
