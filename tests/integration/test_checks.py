"""Checks as real processes: their limits, and that none of them is left."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from typing import Any
from unittest import SkipTest

from attrs import evolve
from twisted.internet import reactor
from twisted.internet.defer import Deferred, ensureDeferred
from twisted.internet.task import deferLater
from twisted.trial.unittest import TestCase

from tests.waiting import PATIENCE
from tservice.checks.launch import CheckPlace
from tservice.checks.model import Check, CheckResult, CheckState
from tservice.checks.output_tail import OUTPUT_BYTES, TAIL_BYTES
from tservice.checks.report import SHOWN_CHARS
from tservice.checks.runner import CheckRunner
from tservice.core.locations.location import Location, LocationShell
from tservice.core.process.child import ChildRunner, find_child_tools
from tservice.core.users.os_users import make_missing_user
from tservice.mux.remote.shell_quoting import HEARING
from tservice.runtime.local_location_setup import build_own_location

GRAB = """
exec 2>&1
(echo taken > /dev/tty) && echo got the terminal
tty
read -r line && echo "read: $line"
[ -t 0 ] || [ -t 1 ] || echo no terminal
"""


class CheckProcessTests(TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).resolve()
        self.folder.mkdir(parents=True)
        tools = find_child_tools(os.environ["PATH"])
        self.children = ChildRunner(reactor, reactor, tools)
        self.runner = CheckRunner(reactor, self.children)
        self.addCleanup(self.runner.stop)
        environ = {"PATH": os.environ["PATH"], "MARK": self.mark}
        own = build_own_location(self.folder, environ, self.folder, lambda names: None)
        self.place = CheckPlace(
            location=self.reach(own), folder=str(self.folder), search_path=os.environ["PATH"]
        )

    def reach(self, own: Location) -> Location:
        """Return the location as these tests reach it."""
        return own

    @property
    def mark(self) -> str:
        return f"check-{os.getpid()}-{self.id()}"

    def count_left(self) -> int:
        """Return the number of processes that a check has left."""
        mark, left = self.mark.encode(), 0
        for entry in Path("/proc").iterdir():
            try:
                left += entry.name.isdigit() and mark in (entry / "environ").read_bytes()
            except OSError:
                continue
        return left

    def begin(self, command: str, seconds: int = int(PATIENCE)) -> Deferred[CheckResult]:
        check = Check(name="x", command=command, timeout_seconds=seconds)
        return ensureDeferred(self.runner.run_check(self.place, check, lambda text: text))

    async def wait_for_file(self, name: str) -> None:
        while not (self.folder / name).exists():
            await deferLater(reactor, 0.02)

    async def test_result_has_status_output_and_counts(self) -> None:
        found = await self.begin("pwd; echo bad >&2; echo 3 passed; exit 4")
        self.assertEqual((CheckState.FAILED, 4, 3), (found.state, found.status, found.passed))
        self.assertEqual([str(self.folder), "bad", "3 passed"], found.output.split("\n"))
        good = await self.begin("true")
        self.assertEqual((CheckState.PASSED, 0), (good.state, good.status))

    async def test_hanging_check_ends_at_its_deadline(self) -> None:
        found = await self.begin("trap '' TERM INT HUP; while :; do sleep 1; done", 1)
        self.assertEqual(CheckState.TIMED_OUT, found.state)
        self.assertEqual("it did not end within 1 s", found.reason)
        self.assertEqual(0, self.count_left())

    async def test_forking_check_leaves_nothing(self) -> None:
        script = "for i in 1 2 3 4 5 6 7 8; do setsid sh -c 'setsid sleep 600 & sleep 600' & done"
        self.assertEqual(CheckState.PASSED, (await self.begin(script)).state)
        self.assertEqual(0, self.count_left())

    async def test_flooding_check_is_ended(self) -> None:
        for script in ("yes flood", "yes flood >&2", "yes flood & yes more; wait"):
            found = await self.begin(script)
            self.assertEqual(CheckState.FLOODED, found.state)
            self.assertLessEqual(len(found.output), SHOWN_CHARS)
        self.assertLess(TAIL_BYTES, OUTPUT_BYTES)
        self.assertEqual(0, self.count_left())

    async def test_check_has_neither_terminal_nor_input(self) -> None:
        found = await self.begin(GRAB)
        for words in ("got the terminal", "read:"):
            self.assertNotIn(words, found.output)
        self.assertIn("not a tty", found.output)
        self.assertIn("no terminal", found.output)

    async def test_check_has_low_priority(self) -> None:
        found = await self.begin("nice")
        now = os.getpriority(os.PRIO_PROCESS, 0)
        self.assertEqual(str(min(19, now + 10)), found.output)

    async def test_cancelled_check_is_ended_first(self) -> None:
        running = self.begin("echo before; touch begun; trap '' TERM; sleep 600 & wait; sleep 600")
        await self.wait_for_file("begun")
        running.cancel()
        found = await running
        self.assertEqual((CheckState.CANCELLED, "before"), (found.state, found.output))
        self.assertEqual((0, 0), (self.count_left(), self.runner.running))

    async def test_stopping_the_runner_interrupts_a_check(self) -> None:
        running = self.begin("touch begun; sleep 600")
        await self.wait_for_file("begun")
        await self.runner.stop()
        self.assertEqual(CheckState.INTERRUPTED, (await running).state)

    async def test_missing_folder_is_reported(self) -> None:
        self.place = evolve(self.place, folder="/absent")
        found = await self.begin("true")
        self.assertEqual((CheckState.FAILED, 126), (found.state, found.status))

    async def test_another_user_runs_it_with_its_own_environment(self) -> None:
        if os.geteuid() != 0:
            raise SkipTest("only root can start something as another user")
        user = make_missing_user("nobody", pwd.getpwnam("nobody").pw_uid)
        own: Any = self.place.location
        self.place = evolve(
            self.place, folder="/", location=evolve(own, user=user, is_isolated=True)
        )
        found = await self.begin('id -u; echo "$TERM"; env | grep -c TSERVICE_GIVEN')
        self.assertEqual([str(user.uid), "dumb", "0"], found.output.split("\n"))


class ShellCheckProcessTests(CheckProcessTests):
    """The same in a location that is reached by a shell, which is one of this machine."""

    shell: tuple[str, ...] = ("/bin/sh",)

    def reach(self, own: Location) -> Location:
        argv = (*self.shell, *HEARING[1:])
        return evolve(own, find_shell=lambda: LocationShell(argv=argv, env=self.environ))

    @property
    def environ(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"]}

    async def test_another_user_runs_it_with_its_own_environment(self) -> None:
        raise SkipTest("such a location has one user")

    async def test_process_that_leaves_its_session_is_ended_at_the_deadline(self) -> None:
        found = await self.begin("setsid sh -c 'trap \"\" TERM; sleep 600; :' & sleep 600", 1)
        self.assertEqual(CheckState.TIMED_OUT, found.state)
        self.assertEqual(0, self.count_left())

    def put_behind_a_way(self) -> None:
        """Have the way end before the shell, as an ssh client does."""
        relay = ("/bin/sh", "-c", 'cat | setsid "$0" "$@"', *self.shell, *HEARING[1:])
        location = evolve(
            self.place.location, find_shell=lambda: LocationShell(argv=relay, env=self.environ)
        )
        self.place = evolve(self.place, location=location)

    async def wait_until_none_is_left(self) -> None:
        while self.count_left():
            await deferLater(reactor, 0.05)

    async def test_stopping_the_runner_interrupts_a_check(self) -> None:
        self.put_behind_a_way()
        await super().test_stopping_the_runner_interrupts_a_check()
        await self.wait_until_none_is_left()

    async def test_process_that_leaves_its_session_is_ended_with_the_runner(self) -> None:
        self.put_behind_a_way()
        command = "setsid sh -c 'trap \"\" TERM; sleep 600; :' & touch begun; sleep 600"
        running = self.begin(command)
        await self.wait_for_file("begun")
        await self.runner.stop()
        await running
        await self.wait_until_none_is_left()

    async def test_check_ends_by_a_broken_pipe_as_usual(self) -> None:
        found = await self.begin("sh -c 'kill -PIPE $$'; echo $?")
        self.assertEqual("141", found.output)

    async def test_lost_way_is_reported_and_ends_the_processes(self) -> None:
        self.put_behind_a_way()
        running = self.begin("touch begun; sleep 600")
        await self.wait_for_file("begun")
        (local,) = self.children._running
        assert local.transport is not None
        local.transport.signalProcess("KILL")
        found = await running
        self.assertEqual(CheckState.UNAVAILABLE, found.state)
        self.assertIn("the connection ended before the check did", found.reason or "")
        await self.wait_until_none_is_left()

    async def test_location_that_cannot_bound_it_says_why(self) -> None:
        (self.folder / "bin").mkdir()
        for name in ("sh", "grep", "sleep", "env"):
            (self.folder / "bin" / name).symlink_to(f"/bin/{name}")
        self.place = evolve(self.place, search_path=str(self.folder / "bin"))
        found = await self.begin("touch begun")
        self.assertEqual(CheckState.UNAVAILABLE, found.state)
        self.assertIn("has neither setsid nor perl", found.reason or "")
        self.assertFalse((self.folder / "begun").exists())

    async def test_location_out_of_reach_says_why(self) -> None:
        def fail() -> LocationShell:
            raise OSError(113, "the host is out of reach")

        location = evolve(self.place.location, find_shell=fail)
        self.place = evolve(self.place, location=location)
        found = await self.begin("true")
        self.assertEqual(CheckState.UNAVAILABLE, found.state)
        self.assertIn("out of reach", found.reason or "")


class BashCheckProcessTests(ShellCheckProcessTests):
    shell = ("/bin/bash",)


class BusyboxCheckProcessTests(ShellCheckProcessTests):
    shell = ("/usr/bin/busybox", "sh")
