"""Child processes with the real kernel: their limits, their families, and that none is left."""

from __future__ import annotations

import os
import pwd
import select
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any
from unittest import SkipTest

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater
from twisted.trial.unittest import SynchronousTestCase, TestCase

from tests.integration.harness import ROOT
from tests.waiting import PATIENCE
from tservice.core.process.child import (
    ChildCommand,
    ChildFamily,
    ChildProcess,
    ChildResult,
    ChildRunner,
    ChildTools,
    find_child_tools,
)
from tservice.core.process.landlock import (
    apply_rules,
    is_supported,
    make_folder_rules,
    make_program_rules,
)
from tservice.core.users.os_users import make_missing_user
from tservice.git.process.fence import SYSTEM

ENV = {b"PATH": os.fsencode(os.environ["PATH"]), b"ODD": b"\xff \n"}
TOOLS = find_child_tools(os.environ["PATH"])
FAMILY = """
trap '' TERM
(trap '' TERM; exec sleep 600) &
echo $!
wait
sleep 600
"""
AWAY = "setsid sleep 600 & echo $!; until [ $(ps -o sid= -p $!) -eq $! ]; do sleep 0.05; done"
"""Starts a process that leaves the group and holds the pipes; says its number."""


def lives(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class ChildCase(TestCase):
    tools = TOOLS

    def setUp(self) -> None:
        self.children = ChildRunner(reactor, reactor, self.tools)
        self.addCleanup(self.children.stop)

    def command(self, script: str, **fields: Any) -> ChildCommand:
        argv = ("/bin/sh", "-c", script)
        return ChildCommand(argv=argv, env=ENV, **{"seconds": PATIENCE, **fields})

    async def run_script(self, script: str, **fields: Any) -> ChildResult:
        return await self.children.run(self.command(script, **fields))

    def begin(self, script: str, **fields: Any) -> tuple[ChildProcess, Deferred[int]]:
        """Start a script; its first line is a number."""
        first: Deferred[int] = Deferred()

        def hear(data: bytes) -> bool:
            if not first.called:
                first.callback(int(data.split()[0]))
            return True

        return self.children.start(self.command(script, **fields), hear), first

    async def gone(self, pid: int) -> None:
        waited = 0.0
        while lives(pid):
            self.assertLess(waited, PATIENCE, f"{pid} is still there")
            await deferLater(reactor, 0.02)
            waited += 0.02


class LimitTests(ChildCase):
    async def test_output_errors_and_status_are_returned(self) -> None:
        found = await self.run_script("echo ${ODD}; cat; echo bad >&2; exit 3", stdin=b"read")
        self.assertEqual((3, b"\xff\nread", b"bad\n"), (found.status, found.output, found.errors))
        self.assertEqual(signal.SIGTERM, (await self.run_script("kill -TERM $$")).signal)

    async def test_child_is_killed_at_its_deadline(self) -> None:
        found = await self.run_script("sleep 600", seconds=0.2)
        self.assertEqual((None, 9, True), (found.status, found.signal, found.is_timed_out))

    async def test_flood_of_output_is_bounded(self) -> None:
        whole = await self.run_script("head -c 20000000 /dev/zero", output_limit=20_000_000)
        self.assertEqual((0, 20_000_000), (whole.status, len(whole.output)))
        flood = await self.run_script("exec cat /dev/zero", output_limit=100_000)
        self.assertEqual((9, True, 100_000), (flood.signal, flood.is_truncated, len(flood.output)))
        errors = await self.run_script("head -c 5000000 /dev/zero >&2; echo end >&2")
        self.assertEqual(
            (0, 4096, "end"), (errors.status, len(errors.errors), errors.error_text[-3:])
        )

    async def test_process_that_holds_the_pipes_does_not_delay_the_result(self) -> None:
        for family in ChildFamily:
            found = await self.run_script(AWAY, family=family, pipe_seconds=0.1)
            self.assertEqual(0, found.status)
            # This test's own process: its number is of this run and still taken.
            os.kill(int(found.output), signal.SIGKILL)

    async def test_silent_child_is_not_held_up(self) -> None:
        found = await self.run_script("sleep 600 & echo lost", is_silent=True)
        self.assertEqual((0, b""), (found.status, found.output))

    async def test_program_that_cannot_run_is_reported(self) -> None:
        found = await self.children.run(ChildCommand(argv=("/absent/x",), env={}, seconds=PATIENCE))
        self.assertEqual((127, True), (found.status, "/absent/x" in found.error_text))


class FamilyTests(ChildCase):
    async def test_child_leads_a_session_without_a_terminal(self) -> None:
        found = await self.run_script("echo $$; ps -o sid= -p $$; ps -o tty= -p $$")
        pid, session, terminal = found.output.split()
        self.assertEqual((pid, b"?"), (session, terminal))

    async def test_family_that_ignores_term_is_killed(self) -> None:
        child, first = self.begin(FAMILY, term_seconds=0.2)
        pid = await first
        child.stop()
        found = await child.wait_ended()
        self.assertEqual((9, True), (found.signal, found.is_stopped))
        await self.gone(pid)

    async def test_background_process_of_a_child_ends_with_it(self) -> None:
        found = await self.run_script("sleep 600 & echo $!")
        self.assertEqual(0, found.status)
        await self.gone(int(found.output))

    async def test_stopping_the_runner_ends_everything(self) -> None:
        child, first = self.begin("sleep 600 & echo $!; wait")
        pid = await first
        await self.children.stop()
        self.assertTrue((await child.wait_ended()).is_stopped)
        await self.gone(pid)


class FamilyWithoutToolsTests(FamilyTests):
    """On a machine without util-linux."""

    tools = ChildTools()


class GuardedFamilyTests(FamilyTests):
    """Under a warden, which is the leader in place of the program."""

    def command(self, script: str, **fields: Any) -> ChildCommand:
        return super().command(script, is_guarded=True, **fields)

    async def test_child_leads_a_session_without_a_terminal(self) -> None:
        found = await self.run_script("echo $PPID; ps -o sid= -p $$; ps -o tty= -p $$; cat")
        warden, session, terminal = found.output.split()
        self.assertEqual((warden, b"?"), (session, terminal))

    async def test_guarded_child_ends_like_its_program(self) -> None:
        for end, status, number in (("exit 200", 200, None), ("kill -SEGV $$", None, 11)):
            found = await self.run_script(end)
            self.assertEqual((status, number), (found.status, found.signal))
        missing = ChildCommand(argv=("/absent/x",), env={}, seconds=PATIENCE, is_guarded=True)
        found = await self.children.run(missing)
        self.assertEqual(
            (127, "/absent/x: No such file or directory"), (found.status, found.error_text)
        )


FORKS = """
i=0
while [ $i -lt 40 ]; do setsid sh -c 'setsid sleep 600 & sleep 600' & i=$((i + 1)); done
echo $$
"""
"""Leaves many processes, each in a session of its own; says a number first."""


class ContainedFamilyTests(GuardedFamilyTests):
    """Under a warden that also ends what left the group."""

    def command(self, script: str, **fields: Any) -> ChildCommand:
        return ChildCase.command(
            self, script, is_contained=True, **{**fields, "term_seconds": PATIENCE}
        )

    async def test_process_that_left_the_group_ends_with_the_child(self) -> None:
        found = await self.run_script(AWAY)
        self.assertEqual(0, found.status)
        await self.gone(int(found.output))

    async def test_deadline_ends_what_left_the_group(self) -> None:
        child, first = self.begin(f"trap '' TERM; {AWAY}; sleep 600", seconds=1.0)
        pid = await first
        found = await child.wait_ended()
        self.assertEqual((True, False), (found.is_timed_out, found.is_abandoned))
        await self.gone(pid)

    async def test_forked_processes_are_all_killed(self) -> None:
        mark = f"contained-{os.getpid()}"
        child, first = self.begin(f"MARK={mark}; export MARK; {FORKS} sleep 600")
        await first
        child.stop()
        await child.wait_ended()
        left = [
            pid
            for pid in map(int, filter(str.isdigit, os.listdir("/proc")))
            if lives(pid) and mark.encode() in read_environment(pid)
        ]
        self.assertEqual([], left)


def read_environment(pid: int) -> bytes:
    """Return the environment of a process; empty if there is none or it may not be read."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


class RightsTests(ChildCase):
    async def test_child_has_the_rights_of_another_user_alone(self) -> None:
        """It has no group and no key of root's."""
        if os.geteuid() != 0:
            raise SkipTest("only root can start something as another user")
        nobody = pwd.getpwnam("nobody")
        user = make_missing_user("nobody", nobody.pw_uid)
        found = await self.run_script("id -u; id -G; cat /proc/keys", user=user)
        uid, groups, *keys = found.output.decode().splitlines()
        self.assertEqual((str(user.uid), str(user.gid)), (uid, groups))
        self.assertEqual([], [key for key in keys if "_uid.0" in key or "_uid_ses.0" in key])

    async def test_child_inherits_restrictions_that_the_service_does_not_have(self) -> None:
        if not is_supported():
            raise SkipTest("this kernel has no Landlock")
        programs = [*filter(None, (TOOLS.setsid, TOOLS.setpriv)), "/bin/sh"]
        rules = make_program_rules(programs)
        try:
            found = await self.run_script(
                "/bin/true || /usr/bin/true; echo $?", restrict=lambda: apply_rules(rules)
            )
        finally:
            os.close(rules)
        self.assertEqual((0, b"126\n"), (found.status, found.output), found.error_text)
        self.assertEqual(b"0\n", (await self.run_script("/bin/true; echo $?")).output)

    async def test_child_kept_in_a_folder_can_be_started_from_anywhere(self) -> None:
        """Also from a thread that can no longer read C{/proc}, by a spawn and by a fork."""
        if not is_supported():
            raise SkipTest("this kernel has no Landlock")
        await self.run_script("true", folder=None)
        top, inner = self.nested()
        held = os.memfd_create("held")
        self.addCleanup(os.close, held)
        os.set_inheritable(held, True)
        script = f"echo made > {inner}/new; ls {top}; cat <&{held}; cat {inner}/new"
        for folder in (None, "/"):
            rules = make_folder_rules(inner, SYSTEM)
            command = ChildCommand(
                argv=("/bin/bash", "-c", script),
                env=ENV,
                folder=folder,
                restrict=partial(apply_rules, rules),
                seconds=PATIENCE,
            )
            try:
                child = self.children.start(command)
            finally:
                os.close(rules)
            found = await child.wait_ended()
            self.assertEqual((0, b"made\n"), (found.status, found.output), found.errors)
            self.assertIn("Permission denied", found.error_text)
            self.assertIn(f"{held}: Bad file descriptor", found.error_text)

    async def test_niceness_is_raised(self) -> None:
        child, first = self.begin("read line; nice", niceness=3, stdin=self.held_pipe())
        os.write(self.writer, b"go\n")
        now = os.getpriority(os.PRIO_PROCESS, 0)
        self.assertEqual(min(19, now + 3), await first)
        await child.wait_ended()

    def nested(self) -> tuple[str, str]:
        """A folder, and another one in it."""
        top = os.path.realpath(self.mktemp())
        inner = os.path.join(top, "in")
        os.makedirs(inner)
        return top, inner

    def held_pipe(self) -> int:
        reader, self.writer = os.pipe()
        for each in (reader, self.writer):
            self.addCleanup(os.close, each)
        return reader


PARENT = """
import os, sys
from twisted.internet import reactor
from tservice.core.process.child import ChildCommand, ChildRunner, find_child_tools
def hear(data):
    print(data.decode().strip(), flush=True)
    return True
command = ChildCommand(
    argv=("/bin/sh", "-c", sys.argv[1]), env={"PATH": os.environ["PATH"]}, seconds=600,
    restrict=(lambda: None) if "restrict" in sys.argv else None,
    is_guarded="guard" in sys.argv, is_contained="contain" in sys.argv,
)
children = ChildRunner(reactor, reactor, find_child_tools(os.environ["PATH"]))
reactor.callWhenRunning(children.start, command, hear)
reactor.run()
"""


class OrphanTests(SynchronousTestCase):
    def test_no_child_outlives_the_service(self) -> None:
        """However it ends, and also if a thread of the service started the child.

        A guarded child ends with the processes that it started.
        """
        if TOOLS.setpriv is None:
            raise SkipTest("this machine has no setpriv")
        alone, family = "echo $$; exec sleep 600", "sleep 600 & echo $!; wait"
        away = f"{AWAY}; sleep 600"
        for words in (
            [alone], [alone, "restrict"], [family, "guard"], [family, "contain"], [away, "contain"],
        ):  # fmt: skip
            parent = subprocess.Popen(
                [sys.executable, "-c", PARENT, *words],
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
            with parent:
                self.addCleanup(parent.kill)
                assert parent.stdout is not None
                child = os.pidfd_open(int(parent.stdout.readline()))
                self.addCleanup(os.close, child)
                self.assertEqual(([], [], []), select.select([child], [], [], 0))
                parent.kill()
            over, _, _ = select.select([child], [], [], PATIENCE)
            self.assertEqual([child], over)
