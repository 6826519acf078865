"""Lines that are wrapped over rows, alike for every multiplexer."""

from __future__ import annotations

from typing import Any

LONG, WIDE = b"0123456789" * 20, ("w" + "日本" * 30).encode()
"""Lines of three rows and of two; nothing fits into the last column of the fourth row."""


def logged_text(pane: Any) -> bytes:
    """Everything that the log holds."""
    return bytes(pane.log.read(pane.log.start, pane.log.end - pane.log.start))


class LineContract:
    """A part of the suite; C{self} is as there."""

    async def wrapped_lines(self: Any, below: int) -> Any:
        """A pane that shows two lines over five rows, and so many rows below these."""
        pane, _ = await self.shell()
        wide = "".join(f"\\{byte:03o}" for byte in WIDE)
        escaped = f"\\033[2J\\033[H{LONG.decode()}\\r\\n{wide}" + "\\r\\n" * below + "end1"
        await self.emit_output(pane, escaped)
        await self.until(lambda: logged_text(pane).endswith(b"end1"), "the lines")
        return pane

    async def test_capture_marks_wrapped_lines(self: Any) -> None:
        found = await (await self.wrapped_lines(1)).capture_content()
        self.assertEqual(frozenset({0, 1, 3}), found.wrapped)
        self.assertEqual(24, len(found.lines))
        self.assertEqual(LONG, b"".join(found.lines[:3]))
        self.assertEqual(WIDE, b"".join(found.lines[3:5]))

    async def test_capture_joins_a_line_across_the_edge_of_the_screen(self: Any) -> None:
        found = await (await self.wrapped_lines(20)).capture_content(1)
        self.assertEqual((1, 1), (found.history, found.history_rows))
        self.assertEqual(frozenset({0, 1, 3}), found.wrapped)
        self.assertEqual(LONG, b"".join(found.lines[:3]))

    async def test_capture_joins_wrapped_lines_of_the_history(self: Any) -> None:
        found = await (await self.wrapped_lines(29)).capture_content(10)
        self.assertEqual((7, 10), (found.history, found.history_rows))
        self.assertEqual([LONG, WIDE, b""], list(found.lines[:3]))
        self.assertEqual(frozenset(), found.wrapped)

    async def test_wrapped_lines_below_a_full_screen_program(self: Any) -> None:
        pane, _ = await self.shell()
        long = "0123456789" * 20
        await self.emit_output(pane, f"\\033[2J\\033[H{long}\\033[?1049h\\033[2;1H{long}end")
        await self.until(lambda: logged_text(pane).endswith(b"end"), "the program")
        found = await pane.capture_content()
        self.assertEqual(frozenset({0, 1}), found.main_wrapped)
        self.assertEqual(long.encode(), b"".join(found.main[:3]))
        self.assertEqual(frozenset({1, 2}), found.wrapped)
        self.assertEqual(long.encode() + b"end", b"".join(found.lines[1:4]))

    async def test_caret_after_the_last_column(self: Any) -> None:
        """The next character wraps, also in the terminal that is shown the capture."""
        pane, _ = await self.shell()
        await self.emit_output(pane, "\\033[2J\\033[H" + "x" * 79 + "\\033[31my")
        await self.until(lambda: logged_text(pane).endswith(b"y"), "the row")
        found = await pane.capture_content()
        self.assertEqual((79, 0), (found.cursor_x, found.cursor_y))
        self.assertTrue(found.finish.startswith(b"\x1b[1;1H" + b"x" * 79), found.finish)
