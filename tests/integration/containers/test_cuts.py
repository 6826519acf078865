"""The engine's exec, cut at random under numbered output and numbered input.

C{CONTAINER_CUTS} says how often; a stress run takes more.
"""

from __future__ import annotations

import os
import random
import re
import signal
import time
from contextlib import suppress as passing
from pathlib import Path
from typing import Any

from tests.integration.containers.engines import DockerEngine
from tests.integration.containers.harness import ContainerTestCase
from tests.integration.mux.harness import RecordingPaneListener
from tests.run_figures import report_figure
from tests.waiting import PATIENCE
from tservice.mux.interface import InputMark, MuxError, PaneGone

CUTS = int(os.environ.get("CONTAINER_CUTS", "4"))
SEED = int(os.environ.get("CONTAINER_CUTS_SEED", "1"))

_PLAIN = re.compile(rb"\x1b(\[m|\(B)")

COUNTER = """
n=0
while IFS= read -r line; do
  n=$((n+1)); printf 'got %s %s\\n' "$n" "$line"
  i=0; while [ $i -lt 40 ]; do i=$((i+1)); printf 'row %s.%s of many\\n' "$n" "$i"; done
done
"""
"""Answers each line with its number and 40 numbered rows."""


class PodmanCutTests(ContainerTestCase):
    """A cut kills the client on this machine; its other half ends inside."""

    timeout = 600 + 10 * CUTS

    async def test_container_input_is_neither_doubled_nor_lost_over_cuts(self) -> None:
        """Every line is typed once, by the mark that tells of it; all rows stand in the end."""
        choose = random.Random(SEED)
        pane: Any = await self.mux.create_pane(self.spec("sh", "-c", f"stty -echo; {COUNTER}"))
        heard = RecordingPaneListener()
        pane.add_listener(heard)
        cuts = 0
        for number in range(1, CUTS + 1):
            mark = f"in-{number}"
            if choose.random() < 0.8:
                cuts += self.cut(pane.session_id)
            while not await self.is_typed(pane, mark):
                with passing(MuxError):
                    await pane.write_bytes(b"line %d\r" % number, InputMark(id=mark))
            if choose.random() < 0.8:
                cuts += self.cut(pane.session_id)
            await self.until_rows(pane, number)
        found = await self.content(pane)
        self.assertEqual(
            [b"got %d line %d" % (n, n) for n in range(1, CUTS + 1)],
            re.findall(rb"^got .*$", found, re.MULTILINE),
        )
        self.assertEqual(
            [b"row %d.%d of many" % (n, i) for n in range(1, CUTS + 1) for i in range(1, 41)],
            re.findall(rb"^row .*$", found, re.MULTILINE),
        )
        self.assertGreater(cuts, 0)
        self.assertEqual((0, []), (heard.lost, heard.exits))
        where = f"containers of {self.kind.name.value}"
        report_figure(f"{where}: {cuts} cuts of the exec, {CUTS} inputs typed once, all rows there")

    async def is_typed(self, pane: Any, mark: str) -> bool:
        """Whether the far tmux says that this input was the last; asked until it answers."""
        while True:
            try:
                last = await pane.read_last_mark()
            except PaneGone:
                raise
            except MuxError:
                continue
            return last is not None and last.id == mark and last.done > 0

    async def until_rows(self, pane: Any, number: int) -> None:
        last = b"row %d.40 of many" % number
        end = time.monotonic() + PATIENCE
        while last not in await self.content(pane):
            if time.monotonic() > end:
                self.fail(f"waited in vain for {last!r}")
            await self.pause(0.05)

    async def content(self, pane: Any) -> bytes:
        """All that the far tmux holds."""
        while True:
            try:
                found = await pane.capture_content(None)
            except PaneGone:
                raise
            except MuxError:
                continue
            # Each thousand rows begin with plain colours.
            return b"\n".join(_PLAIN.sub(b"", line).rstrip() for line in found.lines)

    def cut(self, session_id: str) -> int:
        """Kill the engine's command that carries this session's client; how many there were."""
        killed = 0
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            words = _words(entry)
            if words[1:2] == ["exec"] and any(session_id in word for word in words):
                with passing(ProcessLookupError):
                    os.kill(int(entry.parent.name), signal.SIGKILL)
                    killed += 1
        return killed


class DockerCutTests(PodmanCutTests):
    """The same with docker, whose client is another program."""

    kind = DockerEngine


def _words(cmdline: Path) -> list[str]:
    try:
        return cmdline.read_text(errors="replace").split("\0")
    except OSError:
        return []


del ContainerTestCase
