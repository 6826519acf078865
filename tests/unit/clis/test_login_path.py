"""The login shell's PATH: read once, within bounds."""

from __future__ import annotations

import signal
from pathlib import Path

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.fakes.child_processes import FIRST_PID, FakeProcesses
from tservice.clis.login_path import (
    OUTPUT_LIMIT,
    PATH_LIMIT,
    TIME_LIMITS,
    LoginPathReader,
    LoginShell,
)

BEGIN, END = b"\ntservice-path\n", b"\ntservice-end\n"


class LoginPathTests(SynchronousTestCase):
    """With children that the test plays."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.processes = FakeProcesses()
        self.told: list[str] = []
        self.program = "/bin/bash"
        self.login = self.made()
        self.addCleanup(lambda: self.assertEqual([], self.clock.getDelayedCalls()))

    def made(self) -> LoginPathReader:
        async def program() -> str:
            return self.program

        async def answering(path: str) -> str:
            return path.replace(":/dead", "")

        shell = LoginShell(
            children=self.processes.make_runner(self.clock),
            environ={"PATH": "/bin", "SERVICE_PASSWORD": "hidden"},
            home=Path("/h"),
            program=program,
            answering=answering,
        )
        return LoginPathReader(shell, self.told.append)

    @property
    def killed(self) -> list[int]:
        return [pid for pid, number in self.processes.sent if number == signal.SIGKILL]

    def say(self, data: bytes, number: int = -1) -> None:
        """Let a shell print something and end."""
        self.processes.spawned[number].protocol.outReceived(data)
        if self.processes.spawned[number].pid is not None:
            self.processes.spawned[number].finish(0)

    def test_path_is_read_among_noise(self) -> None:
        done = self.login.wait_known()
        [call] = self.processes.calls
        self.assertEqual(["/bin/bash", "-bash", "-i", "-c"], call["args"][-5:-1])
        self.assertEqual({"PATH": "/bin", "HOME": "/h", "TERM": "dumb"}, call["env"])
        self.assertEqual("/h", call["path"])
        shell = self.processes.spawned[0]
        shell.protocol.outReceived(b"hello\nPATH=/wrong\n" + BEGIN[:7])
        self.assertNoResult(done)
        self.say(BEGIN[7:] + b"/odd:/dead:relative:/bin:/odd" + END)
        self.successResultOf(done)
        self.assertEqual((["/odd:/bin"], None), (self.told, self.login.problem))
        self.assertEqual([], self.killed)
        self.successResultOf(self.login.wait_known())
        self.assertEqual(1, len(self.processes.spawned))

    def test_simultaneous_callers_share_one_child(self) -> None:
        waiting = [self.login.wait_known() for _ in range(3)]
        waiting[0].cancel()
        self.failureResultOf(waiting[0])
        self.assertEqual(1, len(self.processes.spawned))
        self.say(BEGIN + b"/odd" + END)
        for each in waiting[1:]:
            self.successResultOf(each)

    def test_unresponsive_shell_is_killed(self) -> None:
        """It is asked once more as one that is not interactive."""
        done = self.login.wait_known()
        self.clock.advance(TIME_LIMITS[0][1])
        self.assertEqual([FIRST_PID], self.killed)
        self.assertEqual(["/bin/bash", "-bash", "-c"], self.processes.calls[1]["args"][-4:-1])
        self.clock.advance(TIME_LIMITS[1][1])
        self.successResultOf(done)
        self.assertEqual(([FIRST_PID, FIRST_PID + 1], []), (self.killed, self.told))
        self.assertEqual("/bin/bash: it did not answer within 3 s", self.login.problem)

    def test_second_attempt_may_answer(self) -> None:
        done = self.login.wait_known()
        self.processes.spawned[0].finish(0)
        self.say(BEGIN + b"/odd" + END)
        self.successResultOf(done)
        self.assertEqual((["/odd"], None), (self.told, self.login.problem))

    def test_login_shell_output_is_bounded(self) -> None:
        done = self.login.wait_known()
        for number in range(2):
            self.say(b"x" * (OUTPUT_LIMIT + 1), number)
        self.successResultOf(done)
        self.assertEqual([FIRST_PID, FIRST_PID + 1], self.killed)
        self.assertEqual("/bin/bash: it prints too much", self.login.problem)

    def test_oversized_path_is_ignored(self) -> None:
        done = self.login.wait_known()
        for _ in range(2):
            self.say(BEGIN + b"/" + b"x" * PATH_LIMIT + END)
        self.successResultOf(done)
        self.assertEqual([], self.told)

    def test_account_without_login_starts_nothing(self) -> None:
        for program in ("/usr/sbin/nologin", "", "bash"):
            self.program = program
            login = self.made()
            self.successResultOf(login.wait_known())
            self.assertIn("is not a login shell", login.problem or "")
        self.assertEqual([], self.processes.spawned)

    def test_missing_shell_is_reported(self) -> None:
        self.processes.error = OSError(2, "No such file or directory")
        self.successResultOf(self.login.wait_known())
        self.assertEqual(
            "/bin/bash: it cannot be started: No such file or directory", self.login.problem
        )

    def test_closing_ends_the_login_shell(self) -> None:
        done = self.login.wait_known()
        self.login.close()
        self.assertEqual([FIRST_PID], self.killed)
        self.assertEqual(1, len(self.processes.spawned))
        self.successResultOf(done)
        self.login.close()
