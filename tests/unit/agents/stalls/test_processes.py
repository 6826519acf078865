"""Programs below an agent, in a made-up C{/proc} and on this machine."""

from __future__ import annotations

import os
import pty
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tservice.agents.stalls import processes
from tservice.agents.stalls.processes import (
    StartedProgram,
    StartedPrograms,
    find_waiting_program,
    read_started_programs,
)


def program(name: str, **fields: object) -> StartedProgram:
    given = {
        "pid": 1, "name": name, "state": "S", "terminal": 34816, "in_foreground": True,
        "has_terminal_open": True, "channel": "0", "ticks": 0, **fields,
    }  # fmt: skip
    return StartedProgram(**given)  # type: ignore[arg-type]


class ProgramTests(SynchronousTestCase):
    """L{find_waiting_program}, L{read_started_programs}."""

    def test_waiting_programs(self) -> None:
        for given, wanted in (
            (program("less"), "less"),
            (program("less", state="R"), None),
            (program("less", channel="pipe_read"), None),
            (program("less", has_terminal_open=False), None),
            (program("sudo", channel="n_tty_read"), "sudo"),
            (program("installer", channel="n_tty_read"), "installer"),
            (program("node"), None),
            (program("node", channel="ep_poll"), None),
            (program("cc1", state="R"), None),
            (program("git", state="T", in_foreground=False), "git"),
            (program("git", state="T"), None),
            (program("ssh", terminal=0), None),
        ):
            self.assertEqual(wanted, find_waiting_program([given]), given)

    def test_use_of_the_processor(self) -> None:
        before = StartedPrograms(ticks={1: 5})
        for ticks, used in (({1: 5}, False), ({1: 6}, True), ({1: 5, 2: 0}, True), ({}, False)):
            self.assertEqual(used, StartedPrograms(ticks=ticks).has_used_cpu_since(before))

    def make_process(
        self, proc: Path, pid: int, parent: int, name: str, started: float = 100.0
    ) -> None:
        folder = proc / str(pid)
        (folder / "fd").mkdir(parents=True)
        os.symlink("/dev/pts/3", folder / "fd" / "0")
        rest = ["S", parent, 70, 70, 34819, 70, *[0] * 5, 3, 4, *[0] * 6]
        rest += [round(started * os.sysconf("SC_CLK_TCK")), *[0] * 20]
        (folder / "stat").write_text(f"{pid} ({name}) " + " ".join(map(str, rest)))
        (folder / "wchan").write_text("n_tty_read")

    def test_descendants_are_read_at_any_depth(self) -> None:
        proc = Path(self.mktemp())
        self.make_process(proc, 10, 1, "claude", started=1.0)
        self.make_process(proc, 11, 10, "ba) sh")
        self.make_process(proc, 12, 11, "ssh")
        self.make_process(proc, 20, 1, "other")
        found = read_started_programs({"s": 10, "gone": 99}, proc)
        self.assertEqual({11: 7, 12: 7}, dict(found["s"].ticks))
        self.assertIn(found["s"].waiting, ("ssh", "ba) sh"))
        self.assertEqual(StartedPrograms(), found["gone"])

    def test_helpers_of_an_agent_do_not_count_but_their_tools_do(self) -> None:
        """Gemini CLI starts itself once more, and draws its spinner all the time."""
        proc = Path(self.mktemp())
        self.make_process(proc, 10, 1, "node", started=50.0)
        self.make_process(proc, 11, 10, "node", started=51.5)
        self.make_process(proc, 12, 11, "bash", started=90.0)
        self.assertEqual({12: 7}, dict(read_started_programs({"s": 10}, proc)["s"].ticks))

    def test_program_that_reads_a_real_terminal_has_it_open(self) -> None:
        pid, master = pty.fork()
        if pid == 0:
            os.execvp("cat", ["cat"])
        self.addCleanup(os.close, master)
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.kill, pid, 9)
        # The tests may have begun a moment ago.
        self.patch(processes, "HELPER_SECONDS", -1)
        found = read_started_programs({"s": os.getpid()})
        self.assertIn(pid, found["s"].ticks)
