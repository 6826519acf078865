"""A seeded soak of the multiplexer: everything at once over several servers.

Run C{python -m tests.stress.mux_soak --seed 1 --ops 5000}.  It prints what it did and fails on a
broken invariant: a number missing or doubled in a stream that claims to be whole, a listener told
twice, a capture of the wrong size, a server that died without being killed, a call that ended in
anything but a result or a L{MuxError}.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import secrets
import shutil
import signal
import sys
import tempfile
import uuid
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.task import deferLater, react
from twisted.internet.utils import getProcessValue
from zope.interface import implementer

from tests.runtime_harness import HERE, own_setups
from tests.waiting import PATIENCE
from tservice.mux.interface import (
    InputMark,
    IPaneListener,
    Liveness,
    MuxError,
    PaneExit,
    PaneSpec,
)
from tservice.mux.local_transport import LocalTransport
from tservice.mux.tmux.multiplexer import TmuxMultiplexer
from tservice.mux.tmux.pane import TmuxPane
from tservice.mux.tmux.sockets import SocketFolder

TMUX = shutil.which("tmux") or "/usr/bin/tmux"

PROGRAM = """
stty -echo
while IFS= read -r line; do
  case $line in
    flood*) seq -f "n%.0f." ${line#flood};;
    exit*) exit ${line#exit };;
  esac
done
"""
"""Floods are runs of numbers, so that a hole or a double shows."""

_NUMBER = re.compile(rb"n(\d+)\.\r\n")


@implementer(IPaneListener)
class SoakSlot:
    """One place for a pane, and what must be true of it."""

    def __init__(self, soak: MuxSoak) -> None:
        self.soak = soak
        self.pane: TmuxPane | None = None
        self.told = 0
        self.expected_loss = False
        self.done: deque[str] = deque(maxlen=12)
        self.read = 0
        self.rest = b""
        self.last: int | None = None

    def started(self, pane: TmuxPane) -> None:
        self.pane, self.told, self.expected_loss = pane, 0, False
        self.begin_reading()
        pane.add_listener(self)
        pane.log.subscribe(self.printed)

    def begin_reading(self) -> None:
        assert self.pane is not None
        self.read, self.rest, self.last = self.pane.log.end, b"", None

    def printed(self) -> None:
        """Follow the stream as a reader does; skip what a gap says is missing."""
        assert self.pane is not None
        log = self.pane.log
        if not log.has_offset(self.read):
            self.soak.counts["gaps seen"] += 1
            self.begin_reading()
            return
        data = self.rest + log.read(self.read, log.end - self.read)
        self.read = log.end
        self.soak.bytes += len(data) - len(self.rest)
        cut = data.rfind(b"\n") + 1
        self.rest = data[cut:][-4096:]
        for found in _NUMBER.finditer(data, 0, cut):
            number = int(found[1])
            if self.last is not None and number not in (self.last + 1, 1):
                self.soak.wrong(f"{number} after {self.last}")
            self.last = number

    def pane_exited(self, ending: PaneExit) -> None:
        self._ended()
        self.soak.counts["exits told"] += 1

    def pane_lost(self) -> None:
        self._ended()
        self.soak.counts["losses told"] += 1
        if not self.expected_loss:
            self.soak.wrong(f"a server died by itself after {list(self.done)}")

    def pane_resized(self, cols: int, rows: int) -> None:
        self.soak.counts["resizes told"] += 1

    def pane_titled(self, title: str) -> None:
        """Nothing here sets one."""

    def _ended(self) -> None:
        self.told += 1
        if self.told > 1:
            self.soak.wrong("an end was told twice")


class MuxSoak:
    """The operations, in a random order that the seed gives."""

    def __init__(self, reactor: Any, seed: int, folder: Path, servers: int) -> None:
        self.reactor = reactor
        self.random = random.Random(seed)
        self.mux = TmuxMultiplexer(
            reactor,
            reactor,
            own_setups(LocalTransport(TMUX, shutil.which("setpriv")), SocketFolder(folder)),
            token=lambda: secrets.token_hex(8),
            capacity=4 * 1024 * 1024,
        )
        self.counts: Counter[str] = Counter()
        self.bytes = 0
        self.faults: list[str] = []
        self.slots = [SoakSlot(self) for _ in range(servers)]
        self.left = 0

    def wrong(self, what: str) -> None:
        """An invariant is broken."""
        self.faults.append(what)

    async def run(self, operations: int) -> None:
        """Do so many operations on all slots at once, then end everything."""
        self.left = operations
        await gatherResults([Deferred.fromCoroutine(self.work(slot)) for slot in self.slots])
        for slot in self.slots:
            if slot.pane is not None and not slot.pane.link.is_closed:
                slot.expected_loss = True
                await slot.pane.kill()
        for session_id in await self.mux.find_session_ids():
            # What was killed left its socket; everything else is gone.
            if await self.mux.adopt_pane(session_id, HERE) is not None:
                self.wrong(f"{session_id} still runs")
        await self.mux.close()

    async def work(self, slot: SoakSlot) -> None:
        """One slot's operations, one after the other."""
        while self.left > 0 and len(self.faults) < 20:
            self.left -= 1
            if slot.pane is None or slot.pane.link.is_closed or slot.pane.ending is not None:
                await self.fresh(slot)
            name, weight = zip(*OPERATIONS.items(), strict=True)
            chosen = self.random.choices(name, [share for share, _ in weight])[0]
            self.counts[chosen] += 1
            slot.done.append(chosen)
            assert slot.pane is not None
            try:
                await OPERATIONS[chosen][1](self, slot, slot.pane)
            except MuxError as error:
                self.counts[type(error).__name__] += 1
            await self.pause(self.random.random() * 0.004)

    async def fresh(self, slot: SoakSlot) -> None:
        """A new pane in place of one that is over."""
        if slot.pane is not None and not slot.pane.link.is_closed:
            await slot.pane.kill()
        spec = PaneSpec(
            session_id=str(uuid.UUID(int=self.random.getrandbits(128))),
            argv=("sh", "-c", PROGRAM),
            env={"PATH": os.environ["PATH"]},
            cwd="/",
            place=HERE,
        )
        slot.started(await self.mux.create_pane(spec))
        self.counts["creates"] += 1

    def pause(self, seconds: float) -> Deferred[None]:
        return deferLater(self.reactor, seconds, lambda: None)

    async def flood(self, slot: SoakSlot, pane: TmuxPane) -> None:
        await pane.write_bytes(
            b"flood 1 %d\r" % self.random.randint(1, 30_000), InputMark(id="soak")
        )

    async def resize(self, slot: SoakSlot, pane: TmuxPane) -> None:
        size = self.random.randint(2, 300), self.random.randint(2, 100)
        await pane.resize(*size)
        if (pane.cols, pane.rows) != size:
            self.wrong(f"{size} became {(pane.cols, pane.rows)}")

    async def capture(self, slot: SoakSlot, pane: TmuxPane) -> None:
        found = await pane.capture_content(self.random.choice((0, 0, 100, 3000, None)))
        if len(found.lines) != found.history + found.rows:
            self.wrong(f"{len(found.lines)} lines, not {found.history}+{found.rows}")

    async def paste(self, slot: SoakSlot, pane: TmuxPane) -> None:
        await pane.paste("x y\n" * self.random.randint(1, 400), InputMark(id="soak", step="pasted"))
        if await pane.read_last_mark() != InputMark(id="soak", step="pasted"):
            self.wrong("the mark of a paste is missing")

    async def kill_client(self, slot: SoakSlot, pane: TmuxPane) -> None:
        client = pane.link._current
        if client is not None:
            client.kill_process()

    async def stop_client(self, slot: SoakSlot, pane: TmuxPane) -> None:
        client = pane.link._current
        pid = None if client is None or client._process is None else client._process.pid
        if pid is not None:
            await self.stop(pid)

    async def stop_server(self, slot: SoakSlot, pane: TmuxPane) -> None:
        await self.stop(await self.server(pane))

    async def stop(self, pid: int) -> None:
        self.send(pid, signal.SIGSTOP)
        await self.pause(self.random.random() * 0.05)
        self.send(pid, signal.SIGCONT)

    def send(self, pid: int, number: int) -> None:
        """Signal a process that may just have ended."""
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            self.counts["already over"] += 1

    async def kill_server(self, slot: SoakSlot, pane: TmuxPane) -> None:
        pid = await self.server(pane)
        slot.expected_loss = True
        os.kill(pid, signal.SIGKILL)
        await self.pause(0.05)

    async def kill_program(self, slot: SoakSlot, pane: TmuxPane) -> None:
        if pane.pid is not None:
            self.send(pane.pid, signal.SIGKILL)
            await self.pause(0.02)

    async def exit(self, slot: SoakSlot, pane: TmuxPane) -> None:
        await pane.write_bytes(b"exit 3\r")
        await self.pause(0.02)

    async def nap(self, slot: SoakSlot, pane: TmuxPane) -> None:
        await pane.pause_output()
        await self.pause(self.random.random() * 0.02)
        await pane.resume_output()

    async def probe(self, slot: SoakSlot, pane: TmuxPane) -> None:
        if await pane.probe_process() is Liveness.DEAD:
            end = self.reactor.seconds() + PATIENCE
            while not slot.told:
                if self.reactor.seconds() > end:
                    self.wrong("a pane is dead and nobody was told")
                    return
                await self.pause(0.01)

    async def adopt(self, slot: SoakSlot, pane: TmuxPane) -> None:
        again = await self.mux.adopt_pane(pane.session_id, HERE)
        if again is None:
            self.wrong("a pane that runs was not found")
        else:
            slot.started(again)

    async def server(self, pane: TmuxPane) -> int:
        blocks = await pane.link.send_command(b"display-message -p '#{pid}'")
        return int(blocks[0].lines[0])


Operation = Callable[[MuxSoak, SoakSlot, TmuxPane], Awaitable[None]]
OPERATIONS: dict[str, tuple[int, Operation]] = {
    "flood": (30, MuxSoak.flood),
    "resize": (20, MuxSoak.resize),
    "capture": (20, MuxSoak.capture),
    "paste": (10, MuxSoak.paste),
    "pause": (8, MuxSoak.nap),
    "probe": (8, MuxSoak.probe),
    "kill client": (4, MuxSoak.kill_client),
    "stop client": (3, MuxSoak.stop_client),
    "stop server": (3, MuxSoak.stop_server),
    "kill server": (2, MuxSoak.kill_server),
    "kill program": (2, MuxSoak.kill_program),
    "exit": (3, MuxSoak.exit),
    "adopt": (2, MuxSoak.adopt),
}
"""How often each is done, and what it does."""


async def run_soak(reactor: Any, seed: int, operations: int, servers: int = 8) -> MuxSoak:
    """Run one soak in a folder of its own and remove it."""
    folder = Path(tempfile.mkdtemp(prefix="ts-"))
    try:
        run = MuxSoak(reactor, seed, folder, servers)
        await run.run(operations)
    finally:
        for path in (folder / "mux").glob("*.sock"):
            await getProcessValue(TMUX, ["-N", "-S", str(path), "kill-server"], env={})
        shutil.rmtree(folder)
    return run


async def report(reactor: Any, seed: int, operations: int) -> None:
    """Run a soak and print its figures."""
    start = reactor.seconds()
    run = await run_soak(reactor, seed, operations)
    figures = {
        "seed": seed,
        "operations": operations,
        "seconds": round(reactor.seconds() - start, 1),
        "bytes": run.bytes,
        "counts": dict(sorted(run.counts.items())),
        "faults": run.faults,
    }
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")
    if run.faults:
        raise SystemExit(1)


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ops", type=int, default=5000)
    chosen = parser.parse_args()
    react(lambda reactor: Deferred.fromCoroutine(report(reactor, chosen.seed, chosen.ops)))


if __name__ == "__main__":
    main()
