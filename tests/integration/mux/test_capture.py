"""Captures belong to one position of the stream, and replay to the same screen."""

from __future__ import annotations

import random
import re

from tests.integration.mux.harness import TmuxTestCase, logged_output
from tservice.mux.interface import PaneCapture
from tservice.mux.tmux.pane import TmuxPane
from tservice.terminal.frames.snapshot import build_snapshot

SCREENS = [
    rb"plain\r\n\033[1;31mred\033[0m and \033[44mblue   \033[K\r\n\033[7mreverse      \033[m",
    rb"\033[38;5;200mp\033[48;2;10;20;30mq     \r\n     x\033[m\r\n\r\n\033[4mwide \344\275\240",
    rb"\033(0lqqk\033(B box\r\n\033[3;10Hmoved\033[5;1H\033[2K\033[41mfull\033[K\033[m",
    rb"\033[2;5r\033[?6h\033[2;2Hin the region\033[?7l\033[4h",
    rb"main\033[?1049h\033[4;4Halternate \033[42m  \033[m\033[?25l\033[?1h\033=\033[?1002;1006h",
]


def numbers(data: bytes) -> list[int]:
    return [int(found) for found in re.findall(rb"(\d+)\r?\n", data)]


class RealCaptureTests(TmuxTestCase):
    async def showing(self, data: bytes, cols: int = 40, rows: int = 8) -> TmuxPane:
        """A pane that prints C{data} and then stays."""
        path = self.folder / f"shown-{random.random()}"
        path.write_bytes(data)
        script = f"stty raw -echo; cat {path}; printf '\\033]9;\\007'; sleep 60"
        pane = await self.mux.create_pane(self.spec("sh", "-c", script, cols=cols, rows=rows))
        await self.until(lambda: logged_output(pane).endswith(b"\x1b]9;\x07"), "the picture")
        return pane

    def same(self, want: PaneCapture, got: PaneCapture) -> None:
        def rows(capture: PaneCapture) -> list[bytes]:
            return [line.rstrip(b" ") for line in capture.lines]

        for name in ("cursor_x", "cursor_y", "cursor_visible", "alternate_screen", "history"):
            self.assertEqual(getattr(want, name), getattr(got, name), name)
        self.assertEqual((want.modes, want.finish), (got.modes, got.finish))
        self.assertEqual(rows(want), rows(got))
        self.assertEqual([r.rstrip() for r in want.main], [r.rstrip() for r in got.main])

    async def test_replayed_snapshot_restores_the_screen(self) -> None:
        """A fresh terminal that is shown a replay is in the same state, seen by tmux itself."""
        for picture in SCREENS:
            data = picture.decode("unicode_escape").encode("latin-1")
            want = await (await self.showing(data)).capture_content(None)
            self.same(want, await (await self.showing(build_snapshot(want))).capture_content(None))

    async def test_capture_replay_with_history_gives_the_same_screen(self) -> None:
        text = b"".join(b"\x1b[3%dmline %d\x1b[m\r\n" % (n % 8, n) for n in range(50))
        want = await (await self.showing(text)).capture_content(None)
        self.assertEqual(43, want.history)
        self.same(want, await (await self.showing(build_snapshot(want))).capture_content(None))

    async def more(self, pane: TmuxPane) -> None:
        """Wait until the pane has gone on for a while, if it does."""
        end = pane.log.end + 5000
        await self.until(lambda: pane.log.end > end or pane.log.end > 2_400_000, "more")

    async def test_offset_of_a_capture_is_exact(self) -> None:
        """What the log holds from the capture's offset goes on where the picture ends."""
        pane = await self.mux.create_pane(
            self.spec("sh", "-c", "read x; seq 100000 400000; sleep 60")
        )
        await pane.write_bytes(b"\r")
        for history in (0, 1500, 30, None, 0, 5000, 100, 0):
            await self.pause(0.02)
            found = await pane.capture_content(history)
            text = b"\n".join(line.rstrip() for line in found.lines)
            await self.more(pane)
            after = logged_output(pane, found.offset)[:3000]
            got = [number for number in numbers(text + after) if number >= 100000]
            want = list(range(got[0], got[0] + len(got)))
            self.assertEqual(want[1:-1], got[1:-1], f"history {history}")

    async def test_long_history_of_a_quiet_pane_is_read_in_pages(self) -> None:
        pane = await self.mux.create_pane(self.spec("sh", "-c", "seq 1 12345; printf ok; sleep 60"))
        await self.until(lambda: logged_output(pane).endswith(b"ok"), "the numbers")
        found = await pane.capture_content(None)
        shown = [line.removeprefix(b"\x1b[m\x1b(B").strip() for line in found.lines]
        self.assertEqual([b"%d" % n for n in range(1, 12346)], shown[:12345])
        self.assertEqual(12346 - 24, found.history)
        some = await pane.capture_content(2500)
        self.assertEqual(2500, some.history)
        strip = [line.removeprefix(b"\x1b[m\x1b(B") for line in some.lines]
        self.assertEqual([b"%d" % n for n in range(9823, 12346)], strip[:2523])

    async def test_captured_history_is_bounded(self) -> None:
        pane = await self.mux.create_pane(
            self.spec("sh", "-c", "seq 1 5000; printf ok; sleep 60", history_limit=500)
        )
        await self.until(lambda: logged_output(pane).endswith(b"ok"), "the numbers")
        found = await pane.capture_content(None)
        self.assertLessEqual(found.history, 500)
        self.assertEqual(b"5000", found.lines[-2].strip())
