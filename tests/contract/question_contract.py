"""What programs ask of their terminal, answered alike by every multiplexer."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from tests.contract.line_contract import logged_text
from tservice.mux.interface import LIGHT

GROUND = b"11;rgb:fdfd/fdfd/fcfc"


class QuestionContract:
    """A part of the suite; C{self} is as there."""

    async def asked(self: Any, pane: Any, escaped: str, answer: bytes) -> None:
        """Wait for the answer, which the terminal echoes; it comes once."""
        await self.emit_output(pane, escaped + "asked")
        await self.until(lambda: answer in logged_text(pane), repr(answer))
        for _ in range(3):
            await pane.capture_content()
        self.assertEqual(1, logged_text(pane).count(answer))

    async def test_background_colour_is_reported(self: Any) -> None:
        """Of both ways to end a question; with nobody looking on."""
        pane, _ = await self.shell()
        await self.asked(pane, "\\033]11;?\\007", b"11;rgb:0a0a/0d0d/1010")

    async def test_text_colour_is_reported(self: Any) -> None:
        pane, _ = await self.shell()
        await self.asked(pane, "\\033]10;?\\033\\134", b"10;rgb:dbdb/e3e3/eaea")

    async def test_changed_colours_are_reported(self: Any) -> None:
        pane, _ = await self.shell()
        await pane.set_colours(LIGHT)
        await self.asked(pane, "\\033]11;?\\007", GROUND)

    async def test_terminal_colours_are_known_to_a_program_from_the_start(self: Any) -> None:
        pane = await self.mux.create_pane(evolve(self.line_shell(), colours=LIGHT))
        await self.until(lambda: logged_text(pane).endswith(b"$ "), "the prompt")
        await self.asked(pane, "\\033]11;?\\007", GROUND)

    async def test_glyph_widths_match_the_cells_of_the_caret(self: Any) -> None:
        """As many cells as the caret moves on, for each that is shown."""
        pane, _ = await self.shell()
        found = await pane.get_glyph_runs()
        chosen = [run for run in found if run[0] in (0x1F7E0, 0x1FA70, 0x2630, 0x1FAE8)]
        self.assertTrue(chosen)
        shown = "".join(chr(first) for first, _, _ in chosen)
        escaped = "".join(f"\\{byte:03o}" for byte in shown.encode())
        await self.emit_output(pane, f"\\033[2J\\033[H{escaped}\\033]9;\\007")
        await self.until(lambda: logged_text(pane).endswith(b"\x1b]9;\x07"), "the characters")
        self.assertEqual(
            sum(width for _, _, width in chosen), (await pane.capture_content()).cursor_x
        )

    async def test_modes_are_reported(self: Any) -> None:
        pane, _ = await self.shell()
        await self.asked(pane, "\\033[?2004$p\\033[?1049$p\\033[?2027$p", b"?2004;1$y")
        for answer in (b"?1049;2$y", b"?2027;0$y"):
            self.assertEqual(1, logged_text(pane).count(answer), answer)
