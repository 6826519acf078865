"""The login shell's PATH: read once, within bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from twisted.internet.error import ProcessDone
from twisted.internet.task import Clock
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from tservice.clis.login_path import (
    OUTPUT_LIMIT,
    PATH_LIMIT,
    TIME_LIMITS,
    LoginPathReader,
    LoginShell,
)

BEGIN, END = b"\ntservice-path\n", b"\ntservice-end\n"


class LoginShellChild:
    """A shell as its transport."""

    def __init__(self, protocol: Any, argv: list[str], env: dict[str, str], pid: int) -> None:
        self.protocol, self.argv, self.env = protocol, argv, env
        self.pid: int | None = pid
        self.closed = False
        protocol.makeConnection(self)

    def closeStdin(self) -> None:
        """It is given nothing to read."""

    def loseConnection(self) -> None:
        self.closed = True

    def end(self) -> None:
        self.pid = None
        self.protocol.processEnded(Failure(ProcessDone(0)))


class LoginPathTests(SynchronousTestCase):
    """With children that the test plays."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.children: list[LoginShellChild] = []
        self.killed: list[int] = []
        self.told: list[str] = []
        self.program = "/bin/bash"
        self.refuses = False
        self.login = self.made()
        self.addCleanup(lambda: self.assertEqual([], self.clock.getDelayedCalls()))

    def made(self) -> LoginPathReader:
        async def program() -> str:
            return self.program

        async def answering(path: str) -> str:
            return path.replace(":/dead", "")

        processes: Any = self
        shell = LoginShell(
            clock=self.clock,
            processes=processes,
            environ={"PATH": "/bin", "SERVICE_PASSWORD": "hidden"},
            home=Path("/h"),
            program=program,
            answering=answering,
            kill_group=lambda pid, number: self.killed.append(pid),
        )
        return LoginPathReader(shell, self.told.append)

    def spawnProcess(
        self, protocol: Any, program: str, argv: list[str], env: dict[str, str], path: str
    ) -> None:
        if self.refuses:
            raise OSError(2, "No such file or directory")
        self.assertEqual("/h", path)
        self.children.append(LoginShellChild(protocol, argv, env, 100 + len(self.children)))

    def say(self, data: bytes, number: int = -1) -> None:
        self.children[number].protocol.outReceived(data)

    def test_path_is_read_among_noise(self) -> None:
        done = self.login.wait_known()
        (child,) = self.children
        self.assertEqual(["/bin/bash", "-bash", "-i", "-c"], child.argv[-5:-1])
        self.assertEqual({"PATH": "/bin", "HOME": "/h", "TERM": "dumb"}, child.env)
        self.say(b"hello\nPATH=/wrong\n" + BEGIN[:7])
        self.assertNoResult(done)
        self.say(BEGIN[7:] + b"/odd:/dead:relative:/bin:/odd" + END)
        self.successResultOf(done)
        self.assertEqual((["/odd:/bin"], None), (self.told, self.login.problem))
        self.assertEqual(([], True), (self.killed, child.closed))
        self.successResultOf(self.login.wait_known())
        self.assertEqual(1, len(self.children))

    def test_simultaneous_callers_share_one_child(self) -> None:
        waiting = [self.login.wait_known() for _ in range(3)]
        waiting[0].cancel()
        self.failureResultOf(waiting[0])
        self.assertEqual(1, len(self.children))
        self.say(BEGIN + b"/odd" + END)
        for each in waiting[1:]:
            self.successResultOf(each)

    def test_unresponsive_shell_is_killed(self) -> None:
        """It is asked once more as one that is not interactive."""
        done = self.login.wait_known()
        self.clock.advance(TIME_LIMITS[0][1])
        self.assertEqual([100], self.killed)
        self.assertEqual(["/bin/bash", "-bash", "-c"], self.children[1].argv[-4:-1])
        self.clock.advance(TIME_LIMITS[1][1])
        self.successResultOf(done)
        self.assertEqual(([100, 101], []), (self.killed, self.told))
        self.assertEqual("/bin/bash: it did not answer within 3 s", self.login.problem)

    def test_second_attempt_may_answer(self) -> None:
        done = self.login.wait_known()
        self.children[0].end()
        self.say(BEGIN + b"/odd" + END)
        self.successResultOf(done)
        self.assertEqual((["/odd"], None), (self.told, self.login.problem))

    def test_login_shell_output_is_bounded(self) -> None:
        done = self.login.wait_known()
        for number in range(2):
            self.say(b"x" * OUTPUT_LIMIT, number)
        self.successResultOf(done)
        self.assertEqual([100, 101], self.killed)
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
        self.assertEqual([], self.children)

    def test_missing_shell_is_reported(self) -> None:
        self.refuses = True
        self.successResultOf(self.login.wait_known())
        self.assertEqual(
            "/bin/bash: it cannot be started: No such file or directory", self.login.problem
        )

    def test_closing_ends_the_login_shell(self) -> None:
        done = self.login.wait_known()
        self.login.close()
        self.assertEqual([100], self.killed)
        self.assertEqual(1, len(self.children))
        self.successResultOf(done)
        self.login.close()
