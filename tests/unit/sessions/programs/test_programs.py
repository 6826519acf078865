"""What runs in the panes: foreground programs, exit marks and listening sockets."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.defer import Deferred, fail, succeed
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from tests.unit.sessions.harness import SessionCase
from tservice.core.kernel.errors import make_failure_error
from tservice.core.workers.worker_pool import IThreads
from tservice.sessions.programs.process_reading import (
    PORTS,
    ListeningSockets,
    PaneProgram,
    name_program,
    read_foreground,
    read_listening_sockets,
)
from tservice.sessions.programs.watch import EVERY, Look, ProgramWatch
from tservice.sessions.record.model import ForegroundProgram, NameSource, Session

NOW = 2_000_000_000_000
HEAD = "  sl  local_address rem_address st\n"


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (["bash", "./build.sh", "all"], "build.sh"),
        (["/usr/bin/python3.12", "manage.py", "runserver"], "manage.py"),
        (["python3", "-m", "http.server"], "python3"),
        (["/usr/bin/make", "-j4"], "make"),
        (["npm run dev", ""], "npm run dev"),
        (["-bash"], "bash"),
        (["vim", "/etc/x"], "vim"),
        (["a\x1b[31m"], "a [31m"),
        ([""], ""),
        ([], ""),
    ],
)
def test_name_of_a_program(argv: list[str], name: str) -> None:
    assert name_program(argv) == name


class ProcFolder:
    """C{/proc} of a machine, as the tests lay it out."""

    def __init__(self, folder: Path) -> None:
        self.path = folder
        (folder / "net").mkdir(parents=True)
        (folder / "uptime").write_text("1000.00 900.00\n")
        self.listen()

    def add_process(
        self, pid: int, *, group: int, foreground: int, started: float = 0.0,
        argv: Sequence[str] = (), session: str = "", sockets: Sequence[int] = (),
    ) -> None:  # fmt: skip
        folder = self.path / str(pid)
        (folder / "fd").mkdir(parents=True)
        ticks = int(started * os.sysconf("SC_CLK_TCK"))
        rest = f"S 1 {group} 1 34816 {foreground} " + "0 " * 13 + f"{ticks} 0"
        (folder / "stat").write_text(f"{pid} (a) b (c) {rest}")
        (folder / "cmdline").write_text("\0".join(argv) + "\0")
        (folder / "environ").write_text(f"A=b\0SERVICE_SESSION_ID={session}\0")
        for number, inode in enumerate(sockets):
            (folder / "fd" / str(number)).symlink_to(f"socket:[{inode}]")

    def listen(self, **ports: int) -> None:
        """Make sockets listen, by their inode."""
        rows = [
            f" 0: 0100007F:{port:04X} 00000000:0000 0A 0:0 0:0 0 1000 0 {inode[1:]} 1\n"
            for inode, port in ports.items()
        ]
        other = " 1: 0100007F:0050 0100007F:1F90 01 0:0 0:0 0 1000 0 99 1\n"
        (self.path / "net" / "tcp").write_text(HEAD + "".join(rows) + other)


class ProcCase(SynchronousTestCase):
    def setUp(self) -> None:
        self.proc = ProcFolder(Path(self.mktemp()))
        self.shell = PaneProgram(session_id="s", pid=10, is_shell=True)
        self.agent = PaneProgram(session_id="a", pid=20, is_shell=False)

    def sockets(self, before: ListeningSockets) -> ListeningSockets:
        return read_listening_sockets(before, [self.shell, self.agent], self.proc.path)


class ForegroundTests(ProcCase):
    def read(self) -> ForegroundProgram | None:
        return read_foreground(self.shell, NOW, self.proc.path)

    def test_shell_at_its_prompt_runs_nothing(self) -> None:
        self.proc.add_process(10, group=10, foreground=10)
        self.assertIsNone(self.read())

    def test_program_in_the_foreground_and_its_start(self) -> None:
        self.proc.add_process(10, group=10, foreground=30)
        self.proc.add_process(30, group=30, foreground=30, started=760.0, argv=["sh", "build.sh"])
        self.assertEqual(ForegroundProgram(name="build.sh", since=NOW - 240_000), self.read())

    def test_processes_that_are_gone(self) -> None:
        self.assertIsNone(self.read())
        self.proc.add_process(10, group=10, foreground=30)
        self.assertIsNone(self.read())


class SocketTests(ProcCase):
    def setUp(self) -> None:
        super().setUp()
        self.proc.add_process(10, group=10, foreground=11, session="s")
        self.proc.add_process(11, group=11, foreground=11, session="s", sockets=[1, 2])
        self.proc.add_process(20, group=20, foreground=20, session="a", sockets=[3])
        self.proc.add_process(21, group=20, foreground=20, session="a", sockets=[4])
        self.proc.add_process(22, group=22, foreground=20, session="a", sockets=[5])
        self.proc.add_process(30, group=30, foreground=30, session="other", sockets=[6])

    def test_each_port_belongs_to_the_session_of_its_program(self) -> None:
        self.proc.listen(i1=5173, i2=3000, i3=4000, i4=4001, i5=8000, i6=9000, i7=22)
        found = self.sockets(ListeningSockets())
        self.assertEqual((3000, 5173), found.list_ports("s"))
        self.assertEqual((8000,), found.list_ports("a"), "not those of the agent itself")
        self.assertIsNone(found.list_ports("other"))

    def test_port_on_both_protocols_counts_once(self) -> None:
        self.proc.listen(i1=5173, i2=5173)
        self.assertEqual((5173,), self.sockets(ListeningSockets()).list_ports("s"))

    def test_known_sockets_are_not_looked_up_again(self) -> None:
        self.proc.listen(i1=5173)
        found = self.sockets(ListeningSockets())
        (self.proc.path / "11" / "environ").unlink()
        self.proc.listen(i1=5173, i2=3000)
        again = self.sockets(found)
        self.assertEqual((5173,), again.list_ports("s"))
        self.proc.listen(i2=3000)
        self.assertIsNone(self.sockets(again).list_ports("s"))

    def test_number_of_ports_is_bounded(self) -> None:
        ports = {inode: number for number, inode in enumerate(range(100, 140), 4000)}
        many = ListeningSockets(ports=ports, owners=dict.fromkeys(ports, "s"))
        self.assertEqual(tuple(range(4000, 4000 + PORTS)), many.list_ports("s"))


@implementer(IThreads)
class HeldThreads:
    """Runs work at once.

    @ivar error: the failure of all work; C{None} for none.
    """

    def __init__(self) -> None:
        self.error: Exception | None = None

    def run(self, work: Callable[[], Any], **given: Any) -> Deferred[Any]:
        return fail(self.error) if self.error else succeed(work())


class WatchTests(SessionCase):
    def setUp(self) -> None:
        super().setUp()
        self.foreground: dict[str, ForegroundProgram | None] = {}
        self.sockets = ListeningSockets()
        self.asked: list[list[PaneProgram]] = []
        self.threads = HeldThreads()
        self.watch = ProgramWatch(
            self.clock, self.sessions, self.machine.clis, self.threads, self.read
        )
        self.session = self.shell()
        self.watch.start()
        self.addCleanup(self.watch.stop)

    def read(self, programs: Sequence[PaneProgram], before: ListeningSockets, now: int) -> Look:
        self.asked.append(list(programs))
        return Look(sockets=self.sockets, foreground=dict(self.foreground))

    def record(self) -> Session:
        return self.sessions.get(self.session.id)

    def print(self, data: bytes) -> None:
        self.pane(self.session).emit_output(data)

    def run_program(self, name: str, since: int) -> None:
        self.foreground[self.session.id] = ForegroundProgram(name=name, since=since)
        self.clock.advance(EVERY)

    def test_foreground_program_is_recorded_until_it_ends(self) -> None:
        self.run_program("build.sh", NOW)
        self.run_program("build.sh", NOW + 9)
        self.assertEqual(ForegroundProgram(name="build.sh", since=NOW), self.record().foreground)
        told = [each for each in self.machine.events if each.name == "session:updated"]
        self.foreground.clear()
        self.clock.advance(EVERY)
        self.assertIsNone(self.record().foreground)
        self.clock.advance(EVERY)
        now = [each for each in self.machine.events if each.name == "session:updated"]
        self.assertEqual(len(told) + 1, len(now), "nothing is told that did not change")

    def test_exit_status_is_that_of_the_last_command(self) -> None:
        self.clock.advance(EVERY)
        self.assertIsNone(self.record().last_exit_status)
        self.print(b"\x1b]133;D;0\x07$ false\r\n\x1b]133;D;1\x07$ ")
        self.clock.advance(EVERY)
        self.assertEqual(1, self.record().last_exit_status)
        self.run_program("vim", NOW)
        self.assertIsNone(self.record().last_exit_status)
        self.foreground.clear()
        self.print(b"\x1b]133;D")
        self.clock.advance(EVERY)
        self.print(b";130\x07$ ")
        self.clock.advance(EVERY)
        self.assertEqual(130, self.record().last_exit_status)

    def test_ports_and_all_else_go_with_the_process(self) -> None:
        self.sockets = ListeningSockets(ports={1: 5173}, owners={1: self.session.id})
        self.print(b"\x1b]133;D;2\x07")
        self.clock.advance(EVERY)
        self.assertEqual((5173,), self.record().server_ports)
        self.pane(self.session).exit_program(0)
        self.clock.advance(EVERY)
        found = self.record()
        self.assertEqual((None, None), (found.server_ports, found.last_exit_status))
        asked = len(self.asked)
        self.clock.advance(EVERY)
        self.assertEqual(asked, len(self.asked), "no pane, no look")

    def test_failed_look_changes_nothing_and_the_next_one_comes(self) -> None:
        self.run_program("vim", NOW)
        self.threads.error = make_failure_error("too much waits")
        self.clock.advance(EVERY)
        self.assertEqual("vim", getattr(self.record().foreground, "name", None))
        self.threads.error = None
        self.foreground.clear()
        self.clock.advance(EVERY)
        self.assertIsNone(self.record().foreground)

    def test_agent_names_its_session_once(self) -> None:
        agent = self.create(mode="primary", start=True)

        def title(text: str) -> None:
            self.pane(agent).emit_output(f"\x1b]2;{text}\x07".encode())
            self.clock.advance(EVERY)

        for text in ("host", "✳ Claude Code", "✳"):
            title(text)
        self.assertEqual(agent.name, self.sessions.get(agent.id).name)
        title("✳ Mend the parser of dates and all of its many tests")
        named = self.sessions.get(agent.id)
        self.assertEqual("Mend the parser of dates and all of…", named.name)
        self.assertEqual(NameSource.AUTO, named.name_source)
        title("✳ Something else entirely")
        self.assertEqual(named.name, self.sessions.get(agent.id).name)
