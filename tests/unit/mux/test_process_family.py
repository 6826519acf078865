"""What is left of a pane's program, with real processes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.trial.unittest import TestCase

from tests.waiting import wait_until
from tservice.mux.interface import LeftoverProcess
from tservice.mux.local_transport import open_process
from tservice.mux.process_family import COMMAND_CHARS, MOST, LocalProcessFamily, read_process

WAITS = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); print(flush=True); input()"


class ProcessFamilyTests(TestCase):
    """A program in a session of its own, as the one of a pane."""

    def setUp(self) -> None:
        """Undo C{nohup}: a program inherits that hang-ups are ignored, and tmux resets that."""
        # Processes are found by it, also those of a test that runs at the same time.
        self.id_of_session = str(uuid.uuid4())
        inherited = signal.signal(signal.SIGHUP, signal.SIG_DFL)
        self.addCleanup(signal.signal, signal.SIGHUP, inherited)

    def program(self, script: str, *words: str) -> subprocess.Popen[bytes]:
        """It runs, and has said so by a line."""
        environ = {**os.environ, "SERVICE_SESSION_ID": self.id_of_session}
        child = subprocess.Popen(
            [*words, script],
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self.addCleanup(self.end, child)
        assert child.stdout is not None
        child.stdout.readline()
        return child

    def end(self, child: subprocess.Popen[bytes]) -> None:
        child.kill()
        child.wait()
        for pipe in filter(None, (child.stdin, child.stdout)):
            pipe.close()

    def started(self, read: Callable[[], list[int]]) -> list[int]:
        return wait_until("what it starts", read)

    def end_started(self, session: int) -> None:
        """End what a program started, also what that has started since."""

        def is_over() -> bool:
            pids = _of_terminal(session)
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return not pids

        wait_until("the end of what was started", is_over)

    async def left(self, script: str, count: int) -> tuple[list[int], tuple[LeftoverProcess, ...]]:
        """What runs behind a shell's script that has ended, and what is said to be left."""
        child = self.program(script, "sh", "-c")
        self.addCleanup(self.end_started, child.pid)
        family = await LocalProcessFamily.from_pid(reactor, child.pid, self.id_of_session)
        pids = self.started(lambda: ours if len(ours := _of_terminal(child.pid)) >= count else [])
        self.end(child)
        return pids, await family.find_leftovers()

    async def test_surviving_processes_are_named(self) -> None:
        script = "trap '' HUP; sleep 54321 & setsid sleep 54322 & echo; read wait"
        pids, left = await self.left(script, 1)
        self.assertEqual({"sleep 54321", "sleep 54322"}, {each.command for each in left})
        self.assertLessEqual(set(pids), {each.pid for each in left})
        for each in left:
            if each.pid not in pids:
                os.kill(each.pid, signal.SIGKILL)

    async def test_process_that_ends_within_the_grace_is_not_named(self) -> None:
        child = self.program("sleep 0.3 & echo; read wait", "sh", "-c")
        family = await LocalProcessFamily.from_pid(reactor, child.pid, self.id_of_session)
        self.end(child)
        self.assertEqual((), await family.find_leftovers())

    async def test_long_command_is_truncated_and_few_are_named(self) -> None:
        word = "x" * 300
        loop = f"for n in $(seq {MOST + 5}); do sh -c 'sleep 54323; : {word}' & done; echo; read w"
        _, left = await self.left(loop, MOST + 5)
        self.assertEqual(MOST, len(left))
        self.assertEqual({COMMAND_CHARS}, {len(e.command) for e in left if "x" in e.command})

    async def test_dash_jobs_are_hung_up(self) -> None:
        """Dash does not; it has no jobs that are disowned."""
        child = self.program("sleep 54324 & sleep 54325 & echo; read wait", "dash", "-c")
        family = await LocalProcessFamily.from_pid(reactor, child.pid, self.id_of_session)
        await family.hang_up_jobs()
        self.assertIsNone(child.poll(), "nothing is told while the shell is there")
        self.end(child)
        await family.hang_up_jobs()
        self.assertEqual((), await family.find_leftovers())

    def test_process_name_is_not_trusted(self) -> None:
        named = "open('/proc/self/comm', 'w').write('a) R 1 (b'); "
        child = self.program(named + WAITS, sys.executable, "-c")
        found = read_process(child.pid)
        assert found is not None
        self.assertEqual((os.getpid(), child.pid), (found.parent, found.terminal))

    def test_ended_process_has_no_survivors(self) -> None:
        child = self.program(WAITS, sys.executable, "-c")
        held = open_process(child.pid)
        assert held is not None
        self.addCleanup(held.close)
        self.end(child)
        found: list[object] = []
        family = Deferred.fromCoroutine(held.find_family(reactor, self.id_of_session))
        family.addCallback(lambda it: Deferred.fromCoroutine(it.find_leftovers())).addCallback(
            found.append
        )
        self.assertEqual([()], found)


def _of_terminal(leader: int) -> list[int]:
    found = (read_process(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return [each.pid for each in found if each and each.terminal == leader and each.pid != leader]
