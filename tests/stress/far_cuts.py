"""Cuts of an ssh connection under numbered output and numbered input (architecture-far).

Run C{python -m tests.stress.far_cuts --seed 1 --run_cuts 300}.  A real sshd on loopback; each cut
kills
the process that serves the connection, or the ssh that holds it, at a random moment.  One pane
prints numbers, another one writes the numbers that are typed into it to a file.  It fails on a
number that is missing or doubled in what a reader gets (the stream, and a capture where the log has
a gap), on a capture that leaves a hole, and on an input that was lost or typed twice.
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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater, react

from tests.sshd import SSH, SshServer, children_read, find_children
from tests.waiting import PATIENCE
from tservice.core.kernel.events import EventHub
from tservice.core.kernel.late_binding import LateBinding
from tservice.core.locations.location import LocationId, LocationKind
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.process.child import ChildRunner
from tservice.hosts.connection import HostConnection, HostUnreachable
from tservice.hosts.host_events import HostEventPublisher
from tservice.hosts.host_links import HostLinks, HostRunners
from tservice.hosts.model import RemoteHost
from tservice.hosts.ssh_command import SshCommand, build_configuration
from tservice.hosts.wake_signals import HostWaker, PortProbe
from tservice.hosts.waking import HostWakeService
from tservice.mux.interface import InputMark, Liveness, MuxError, PaneSpec
from tservice.mux.remote.setup import RemoteSetups
from tservice.mux.tmux.multiplexer import TmuxMultiplexer
from tservice.mux.tmux.pane import TmuxPane

COUNTING = "i=0; while :; do i=$((i+1)); echo n$i.; [ $((i%5)) = 0 ] && sleep 0.05; done"
TAKING = 'stty -echo; while IFS= read -r line; do echo "$line" >>taken; echo "n$line."; done'

ABOVE = None
"""Rows above the screen that a reader asks for behind a gap: all, so that a hole is a fault."""

_NUMBER = re.compile(rb"n(\d+)\.\r?\n")


class PaneReader:
    """Reads a pane as a client does, and follows its numbers.

    @ivar last: the last number that was seen.
    @ivar faults: what was wrong.
    @ivar gaps: how often a capture took the place of the stream.
    """

    def __init__(self, name: str, pane: TmuxPane) -> None:
        self.last = 0
        self.faults: list[str] = []
        self.gaps = 0
        self._name, self._pane = name, pane
        self._offset, self._rest = pane.log.start, b""

    async def read(self) -> None:
        """Take what there is."""
        log = self._pane.log
        if not log.has_offset(self._offset):
            await self._again()
        while self._offset < log.end:
            data = log.read(self._offset, 65536)
            self._offset += len(data)
            self._rest += data
        self._follow(fresh=False)

    async def _again(self) -> None:
        try:
            seen = await self._pane.capture_content(ABOVE)
        except MuxError:
            return  # out of reach: later
        self.gaps += 1
        rows = [row.rstrip() for row in seen.lines[: seen.history + seen.cursor_y + 1]]
        self._rest, self._offset = b"\n".join(rows), seen.offset
        self._follow(fresh=True)

    def _follow(self, *, fresh: bool) -> None:
        end = 0
        for found in _NUMBER.finditer(self._rest):
            number, end = int(found[1]), found.end()
            if fresh and number <= self.last:
                continue
            if number != self.last + 1:
                self.faults.append(f"{self._name}: {number} follows {self.last}")
            self.last = number
        self._rest = self._rest[end:]


class PaneWriter:
    """Types numbers, each until it is known to have been typed.

    @ivar number: of the input that comes next.
    @ivar doubts: how often only the mark could tell.
    """

    def __init__(self, reactor: Any, pane: TmuxPane) -> None:
        self.number, self.doubts = 1, 0
        self._reactor, self._pane = reactor, pane
        self.over = False

    async def run(self) -> None:
        """Until C{over}."""
        while not self.over:
            try:
                mark = InputMark(id=f"in-{self.number}")
                await self._pane.write_bytes(b"%d\r" % self.number, mark)
            except MuxError:
                if not await self._typed():
                    continue
            self.number += 1
            await deferLater(self._reactor, 0.005)

    async def _typed(self) -> bool:
        self.doubts += 1
        while True:
            try:
                mark = await self._pane.read_last_mark()
            except MuxError:
                await deferLater(self._reactor, 0.05)
                continue
            return mark is not None and mark.id == f"in-{self.number}"


@frozen(kw_only=True)
class CutOutcome:
    """What a run gave."""

    faults: Sequence[str]
    figures: dict[str, Any]


class RemoteCuts:
    """One run in a folder of its own."""

    def __init__(self, reactor: Any, seed: int, folder: Path) -> None:
        self.reactor, self.random = reactor, random.Random(seed)
        self.folder = folder
        self.sshd = SshServer(folder / "far")
        (folder / "c").mkdir(mode=0o700)
        ssh = SshCommand(program=SSH, configuration=folder / "config", sockets=folder / "c")
        ssh.configuration.write_text(build_configuration(self.sshd.known))
        self.host = RemoteHost(
            id="h",
            label="far",
            host="127.0.0.1",
            username=os.environ.get("USER", "root"),
            port=self.sshd.port,
            identity_file=str(self.sshd.key),
        )
        self.links = HostLinks(
            clock=reactor,
            processes=reactor,
            ssh=ssh,
            env={"PATH": os.environ["PATH"], "HOME": str(folder)},
            find=lambda name: self.host,
            auto_reconnect=lambda: True,
            waker=self.waker,
            on_new_link=lambda link: None,
        )
        self.place = LocationRegistry({}).find_earlier_location(
            LocationId(kind=LocationKind.REMOTE, name="h")
        )
        self.mux = TmuxMultiplexer(
            reactor,
            reactor,
            {LocationKind.REMOTE: RemoteSetups(HostRunners(self.links))},
            token=lambda: secrets.token_hex(8),
            capacity=8 * 1024 * 1024,
        )

    def waker(self, host: RemoteHost, way: HostConnection) -> HostWakeService:
        """Of a host that never sleeps."""
        alarm = HostWaker(ChildRunner(self.reactor, self.reactor), self.reactor, {})
        told = HostEventPublisher(self.reactor, EventHub(), LateBinding("sessions"), host.id)
        return HostWakeService(self.reactor, host, way, alarm, PortProbe(self.reactor), told)

    def spec(self, program: str) -> PaneSpec:
        return PaneSpec(
            session_id=str(uuid.UUID(int=self.random.getrandbits(128), version=4)),
            argv=("sh", "-c", program),
            env={"TERM": "xterm-256color"},
            cwd=str(self.sshd.home),
            cols=80,
            rows=24,
            place=self.place,
        )

    async def run(self, cuts: int) -> CutOutcome:
        link = self.links.find_or_create_link("h")
        assert link is not None
        await link.fetch_facts()
        counting, taking = [await self.mux.create_pane(self.spec(it)) for it in (COUNTING, TAKING)]
        readers = [PaneReader("output", counting), PaneReader("input", taking)]
        writer = PaneWriter(self.reactor, taking)
        writing = Deferred.fromCoroutine(writer.run())
        for _ in range(cuts):
            await self.read_for(readers, self.random.uniform(0.0, 0.6))
            self.cut()
            await self.read_for(readers, self.random.uniform(0.0, 0.2))
            await self.back(readers, (counting, taking))
        await self.read_for(readers, 1.0)
        writer.over = True
        await writing
        await self.quiet(readers, writer.number - 1)
        faults = [fault for reader in readers for fault in reader.faults]
        taken = (self.sshd.home / "taken").read_text().split()
        if taken != [str(number) for number in range(1, writer.number)]:
            faults.append(f"inputs: {len(taken)} taken, {writer.number - 1} typed")
        figures = {
            "cuts": cuts,
            "numbers printed": readers[0].last,
            "inputs typed": writer.number - 1,
            "inputs that only the mark could tell": writer.doubts,
            "captures in place of the stream": sum(reader.gaps for reader in readers),
        }
        for pane in (counting, taking):
            await pane.kill()
        return CutOutcome(faults=faults, figures=figures)

    async def read_for(self, readers: Sequence[PaneReader], seconds: float) -> None:
        until = self.reactor.seconds() + seconds
        while self.reactor.seconds() < until:
            for reader in readers:
                await reader.read()
            await deferLater(self.reactor, 0.01)

    def cut(self) -> None:
        """At the far end, or at this one."""
        served = self.sshd.connections()
        if self.random.random() < 0.5:
            masters = find_children(os.getpid())
            served = [pid for pid in masters if b"ControlMaster=yes" in _words(pid)] or served
        for pid in served:
            for child in (*find_children(pid), pid):
                # A server that ran as somebody else forks once more for them.
                if child == pid or b"sshd" in _words(child):
                    _kill(child)

    async def back(self, readers: Sequence[PaneReader], panes: Sequence[TmuxPane]) -> None:
        """As somebody who tries at once; the next cut meets panes that are there."""
        link = self.links.find_or_create_link("h")
        assert link is not None
        while True:
            try:
                await link.connection.wait_for_attempt()
                break
            except HostUnreachable:
                await self.read_for(readers, 0.05)
        for pane in panes:
            while await pane.probe_process() is not Liveness.ALIVE and link.connection.is_up:
                await self.read_for(readers, 0.02)

    async def quiet(self, readers: Sequence[PaneReader], inputs: int) -> None:
        for _ in range(600):
            await self.read_for(readers, 0.1)
            if readers[1].last >= inputs:
                return

    async def close(self) -> None:
        await self.mux.close()
        self.links.close_all_links()
        # An ssh that was given up ends a moment later.
        end = self.reactor.seconds() + PATIENCE
        while children_read(self.reactor) and self.reactor.seconds() < end:
            await deferLater(self.reactor, 0.02)
        self.sshd.close()
        shutil.rmtree(self.folder, ignore_errors=True)


async def run_cuts(reactor: Any, seed: int, count: int) -> CutOutcome:
    """One run."""
    run = RemoteCuts(reactor, seed, Path(tempfile.mkdtemp(prefix="fc-")))
    try:
        return await run.run(count)
    finally:
        await run.close()


async def report(reactor: Any, seed: int, count: int) -> None:
    """Run and print the figures."""
    start = reactor.seconds()
    outcome = await run_cuts(reactor, seed, count)
    seconds = round(reactor.seconds() - start, 1)
    told = {"seed": seed, "seconds": seconds, **outcome.figures, "faults": outcome.faults}
    sys.stdout.write(json.dumps(told, indent=1) + "\n")
    if outcome.faults:
        raise SystemExit(1)


def _words(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cuts", type=int, default=300)
    chosen = parser.parse_args()
    react(lambda reactor: Deferred.fromCoroutine(report(reactor, chosen.seed, chosen.cuts)))


if __name__ == "__main__":
    main()
