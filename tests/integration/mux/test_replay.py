"""The page's terminal shows after a reload what it showed of the live stream."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

from tests.browser.mock_service import node_path
from tests.integration.mux.harness import TmuxTestCase, logged_output
from tservice.terminal.frames.snapshot import build_snapshot

WEB = Path(__file__).parents[3] / "web"
COLS, ROWS = 31, 8
SAMPLES = 60
MORE = b"behind \x1b[1mthe picture\x1b[m, over more than one of its rows"

NARROW = [
    b"\r\n",
    b"\r\n\r\n",
    b"x" * 100,
    b"x" * COLS,
    b"x" * (COLS - 1),
    b"word " * 17,
    b"two blanks  " * 9,
    b" " * 40 + b"|",
    "é€ß".encode() * 15,
    b"\x1b[31m" + b"red " * 20 + b"\x1b[m",
    b"\x1b[44m" + b"ground" * 12 + b"\x1b[m",
    b"\x1b[7;38;5;200m" + b"many" * 8 + b"\x1b[27m" + b"styles" * 9 + b"\x1b[m",
    b"a\r\nb\r\nc\r\nd\r\n",
    b"tab\tstop\t" * 2 + b"\r\n",
    b"\r\x1b[2K",
    b"\r\x1b[K",
]
"""What programs print that write lines, and redraw the last one."""

LINES = [*NARROW, "日本語".encode() * 9, "x日".encode() * 21]
# Where a wide character does not fit, tmux leaves what stood in the last column.
PLACED = [*NARROW, b"\x1b[3;5H", b"\x1b[1;1H", b"\x1b[8;20H", b"\x1b[K", b"\x1b[1;%dH" % COLS]


class ReplayTests(TmuxTestCase):
    async def reading(self, data: bytes) -> tuple[bytes, bytes]:
        """What the live stream was, and the snapshot of it."""
        path = self.folder / f"shown-{random.random()}"
        path.write_bytes(data + b"\x1b]9;\x07")
        script = f"stty raw -echo; cat {path}; sleep 60"
        pane = await self.mux.create_pane(self.spec("sh", "-c", script, cols=COLS, rows=ROWS))
        await self.until(lambda: logged_output(pane).endswith(b"\x1b]9;\x07"), "the picture")
        found = await pane.capture_content(2000)
        live = logged_output(pane)
        await pane.kill()
        return live, build_snapshot(found)

    def shown(self, streams: list[bytes], then: bytes) -> list[Any]:
        size = {"cols": COLS, "rows": ROWS, "wider": 53}
        wanted = [
            {**size, "data": data.decode("latin-1"), "then": then.decode()} for data in streams
        ]
        script = Path(__file__).with_name("emulator.mjs")
        words = [str(node_path()), "--no-warnings", str(script), str(WEB)]
        done = subprocess.run(
            words, input=json.dumps(wanted), capture_output=True, text=True, check=True, timeout=60
        )
        answers: list[Any] = json.loads(done.stdout)
        return answers

    async def compared(
        self,
        samples: list[bytes],
        then: bytes = MORE,
        *,
        lines: bool = True,
        edge: bool = True,
    ) -> None:
        """
        @param lines: compare what is wrapped, too, and what becomes of it in a wider window.
        @param edge: also between the history and the screen.
        """
        pairs = [await self.reading(sample) for sample in samples]
        live = self.shown([pair[0] for pair in pairs], then)
        again = self.shown([pair[1] for pair in pairs], then)
        for sample, one, two in zip(samples, live, again, strict=True):
            moments = ("first", "second", "resized") if edge else ("first", "second")
            for moment in moments if lines else moments[:1]:
                want, got = (trimmed(each[moment], lines, edge) for each in (one, two))
                self.assertEqual(want, got, (moment, sample))

    async def test_wrapped_lines_are_replayed(self) -> None:
        """Rows, what is wrapped, the caret, what is printed next, and a wider window."""
        await self.compared([printing(LINES, n) for n in range(SAMPLES)])

    async def test_moving_caret_is_replayed(self) -> None:
        """A row that is written anew and ended is still wrapped for tmux, and not for xterm."""
        await self.compared([printing(PLACED, n) for n in range(SAMPLES)], lines=False)

    async def test_full_screen_programs_are_replayed(self) -> None:
        """The main screen behind one is compared once it is over.

        tmux forgets that a line of the history goes on in the screen when a program takes that.
        """
        samples = [
            printing(LINES, n) + b"\x1b[?1049h\x1b[H" + printing(LINES, -n) for n in range(SAMPLES)
        ]
        await self.compared(samples, b"\x1b[?1049l", edge=False)


def printing(pieces: list[bytes], seed: int) -> bytes:
    chance = random.Random(seed)
    return b"".join(chance.choices(pieces, k=chance.randint(1, 14)))


def trimmed(shown: Any, lines: bool, edge: bool) -> Any:
    """Without the empty rows below."""
    rows = [(wrapped and lines, text) for wrapped, text in shown["rows"]]
    if not edge:
        rows[shown["base"]] = (False, rows[shown["base"]][1])
    while rows and rows[-1] == (False, ""):
        rows.pop()
    return {**shown, "rows": rows}
