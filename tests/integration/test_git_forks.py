"""The fork server with real processes: what is told of them, and that none is left behind."""

from __future__ import annotations

import errno
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NoReturn
from unittest import SkipTest

from hypothesis import given
from hypothesis import strategies as st
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import capturedLogs
from twisted.trial.unittest import SynchronousTestCase, TestCase

from tests.integration.harness import PATIENCE, ROOT
from tservice.core.process import landlock
from tservice.core.process.landlock import is_supported
from tservice.git import fork_server
from tservice.git.fork_client import LOST, ForkServerClient
from tservice.git.fork_server import HEAD, ForkFrameDecoder
from tservice.git.isolation import make_environment

ENV = {b"PATH": os.fsencode(os.environ["PATH"]), b"ODD": b"\xff \n"}
FRAMES = st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 255), st.binary(max_size=40)))


class ForkOutput:
    """Everything that was told of a run."""

    def __init__(self) -> None:
        self.out = self.err = b""
        self.ended: Deferred[int | str] = Deferred()
        self.begun: Deferred[bytes] = Deferred()

    def stdout_received(self, data: bytes) -> None:
        self.out += data
        if not self.begun.called:
            self.begun.callback(data)

    def stderr_received(self, data: bytes) -> None:
        self.err += data

    def process_ended(self, status: int) -> None:
        self.ended.callback(status)

    def process_failed(self, reason: str) -> None:
        self.ended.callback(reason)


def lives(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def git_program() -> bytes:
    """The path of git."""
    program = shutil.which("git")
    assert program is not None
    return os.fsencode(program)


class ForksTests(TestCase):
    def setUp(self) -> None:
        self.forks = ForkServerClient(reactor, reactor)
        self.addCleanup(self.forks.stop)

    def shell(self, script: str) -> tuple[ForkOutput, int]:
        heard = ForkOutput()
        argv = [b"/bin/sh", b"-c", script.encode()]
        return heard, self.forks.start_process(heard, argv, ENV)

    async def gone(self, pid: int) -> None:
        until = time.monotonic() + PATIENCE
        while lives(pid):
            self.assertLess(time.monotonic(), until, f"{pid} is still there")
            await deferLater(IReactorTime(reactor), 0.02)

    def alone(self) -> tuple[ForkServerClient, bytes]:
        """Forks that start git alone, and git."""
        if not is_supported():
            raise SkipTest("this kernel has no Landlock")
        forks = ForkServerClient(reactor, reactor, alone=True)
        self.addCleanup(forks.stop)
        return forks, git_program()

    async def told_of(self, forks: ForkServerClient, *argv: bytes) -> int | str:
        heard = ForkOutput()
        forks.start_process(heard, list(argv), ENV)
        return await heard.ended

    async def test_git_executes_no_other_program(self) -> None:
        """And one that was refused something is let go of: there may be a new git."""
        forks, git = self.alone()
        for argv, told in (
            ([git, b"--version"], 0),
            ([b"/bin/sh", b"-c", b"true"], "Permission denied"),
            ([git, b"--version"], 0),
            ([git, b"-c", b"alias.x=!true", b"x"], 128),
        ):
            self.assertEqual(told, await self.told_of(forks, *argv), argv)

    def elsewhere(self) -> str:
        """The path of a fork server whose git needs more of the system than it knows."""
        server = Path(self.mktemp())
        server.write_text(ELSEWHERE)
        return str(server)

    async def test_git_that_reads_outside_is_not_confined_but_executes_nothing(self) -> None:
        """It is not kept within folders, which is told; but from running programs as ever."""
        self.patch(fork_server, "__file__", self.elsewhere())
        forks, git = self.alone()
        with capturedLogs() as lines:
            self.assertEqual(0, await self.told_of(forks, git, b"--version"))
        [line] = [each["text"] for each in lines]
        self.assertTrue(line.startswith("git cannot be restricted to folders here: "), line)
        self.assertEqual("Permission denied", await self.told_of(forks, b"/bin/sh", b"-c", b"true"))

    def test_command_that_cannot_be_confined_is_not_started(self) -> None:
        """What cannot be kept within its folder is not started."""

        def refuse(rules: int) -> NoReturn:
            raise OSError(errno.E2BIG, "too many")

        if not is_supported():
            raise SkipTest("this kernel has no Landlock")
        self.patch(landlock, "apply_rules", refuse)
        argv, folder = ["/bin/sh", "-c", "true"], tempfile.gettempdir()
        with self.assertRaisesRegex(OSError, "restricted to its folder"):
            fork_server.start_process(argv, {}, None, None, folder, fork_server.SYSTEM)

    def nested(self) -> tuple[Path, Path]:
        """A folder in another; a link in it leads out."""
        top = Path(tempfile.mkdtemp(prefix="ts"))
        self.addCleanup(shutil.rmtree, top)
        top.chmod(0o755)
        inner = top / "in"
        inner.mkdir()
        inner.chmod(0o777)
        for path in (inner / "file", top / "other"):
            path.write_text("x")
        (inner / "link").symlink_to(top / "other")
        return top, inner

    async def test_confined_command_reads_only_inside_its_folder(self) -> None:
        """Links are followed in there alone, and another user is kept in as well."""
        forks, git = self.alone()
        top, inner = self.nested()
        users = [None, pwd.getpwnam("nobody").pw_uid] if os.geteuid() == 0 else [None]
        init = ["init", "-q", "--template="]
        for uid in users:
            for words, status in (
                (["hash-object", "--", str(inner / "file")], 0),
                (["hash-object", "--", str(inner / "link")], 128),
                (["hash-object", "--", str(top / "other")], 128),
                ([*init, str(top / "made")], 128),
                ([*init, str(inner / f"made-{uid}")], 0),
            ):
                heard = ForkOutput()
                argv = [git, *map(os.fsencode, ["-C", str(inner), *words])]
                forks.start_process(
                    heard, argv, make_environment("", {}), uid, uid, os.fsencode(inner)
                )
                self.assertEqual(status, await heard.ended, (words, heard.err))
        self.assertEqual(["in", "other"], sorted(os.listdir(top)))
        heard = ForkOutput()
        forks.start_process(heard, [git, b"--version"], ENV, within=b"/nowhere")
        self.assertEqual("No such file or directory", await heard.ended)

    async def test_output_and_exit_status_of_each_command_are_returned(self) -> None:
        many = [self.shell(f"echo ${{ODD}}{n}; echo bad >&2; exit {n}")[0] for n in range(20)]
        for number, heard in enumerate(many):
            self.assertEqual(number, await heard.ended)
            self.assertEqual((b"\xff %d\n" % number, b"bad\n"), (heard.out, heard.err))
        heard, _ = self.shell("kill -TERM $$")
        self.assertEqual(-signal.SIGTERM, await heard.ended)

    async def test_large_output_arrives_whole(self) -> None:
        heard, _ = self.shell("head -c 20000000 /dev/zero")
        self.assertEqual(0, await heard.ended)
        self.assertEqual(20_000_000, len(heard.out))

    async def test_command_leads_a_session_without_a_terminal(self) -> None:
        heard, _ = self.shell("echo $$; ps -o sid= -p $$; ps -o tty= -p $$; cat")
        self.assertEqual(0, await heard.ended)
        pid, session, terminal = heard.out.split()
        self.assertEqual((pid, b"?"), (session, terminal))

    async def test_failed_start_reports_its_cause(self) -> None:
        heard = ForkOutput()
        self.forks.start_process(heard, [b"/absent/git"], ENV)
        self.assertEqual("No such file or directory", await heard.ended)
        heard = ForkOutput()
        self.forks.start_process(heard, [b"/bin/sh", b"a\0b"], ENV)
        self.assertEqual("embedded null byte", await heard.ended)
        heard, _ = self.shell("exit 3")
        self.assertEqual(3, await heard.ended)

    async def test_kill_ends_the_whole_process_group(self) -> None:
        heard, number = self.shell("sleep 60 & echo $!; wait")
        child = int(await heard.begun)
        self.forks.kill_process(number)
        self.assertEqual(-signal.SIGKILL, await heard.ended)
        await self.gone(child)
        self.forks.kill_process(number)

    async def test_background_process_of_a_command_ends_with_it(self) -> None:
        heard, _ = self.shell("sleep 60 & echo $!")
        self.assertEqual(0, await heard.ended)
        await self.gone(int(heard.out))

    async def test_escaped_process_does_not_delay_the_result(self) -> None:
        apart = "until [ $(ps -o sid= -p $!) -eq $! ]; do sleep 0.05; done"
        heard, _ = self.shell(f"setsid sleep 600 & echo $!; {apart}")
        self.assertEqual(0, await heard.ended)
        # This test's own process: its number is of this run and still taken.
        os.kill(int(heard.out), signal.SIGKILL)

    async def test_stopping_the_fork_server_ends_everything(self) -> None:
        heard, _ = self.shell("sleep 60 & echo $!; wait")
        child = int(await heard.begun)
        await self.forks.stop()
        self.assertEqual(LOST, await heard.ended)
        await self.gone(child)

    async def test_lost_fork_server_is_reported_and_replaced(self) -> None:
        """What it had started is told of, and the next start has another server."""
        heard, _ = self.shell("echo $PPID; exec sleep 60")
        os.kill(int(await heard.begun), signal.SIGKILL)
        self.assertEqual(LOST, await heard.ended)
        heard, _ = self.shell("echo again")
        self.assertEqual(0, await heard.ended)

    async def test_command_runs_with_the_rights_of_another_user(self) -> None:
        """With that user's rights alone: no group and no key of root's."""
        if os.geteuid() != 0:
            raise SkipTest("only root can start something as another user")
        nobody = pwd.getpwnam("nobody")
        heard = ForkOutput()
        argv = [b"/bin/sh", b"-c", b"id -u; id -G; cat /proc/keys"]
        self.forks.start_process(heard, argv, ENV, nobody.pw_uid, nobody.pw_gid)
        self.assertEqual(0, await heard.ended)
        uid, groups, *keys = heard.out.decode().splitlines()
        self.assertEqual((str(nobody.pw_uid), str(nobody.pw_gid)), (uid, groups))
        self.assertEqual([], [key for key in keys if "_uid.0" in key or "_uid_ses.0" in key])


ELSEWHERE = f"""
import sys, time
sys.path.insert(0, {str(ROOT)!r})
from tservice.git import fork_server
fork_server.SYSTEM = ()
fork_server.main(sys.argv[1:], time.monotonic)
"""

PARENT = """
import os, sys
from twisted.internet import reactor
from tservice.git.fork_client import ForkServerClient
class Run:
    def stdout_received(self, data):
        print(data.decode().strip(), flush=True)
    def stderr_received(self, data): pass
    def process_ended(self, status): pass
    def process_failed(self, reason): pass
script = b"sleep 60 & echo $!; wait"
reactor.callWhenRunning(lambda: ForkServerClient(reactor, reactor).start_process(
    Run(), [b"/bin/sh", b"-c", script], {b"PATH": os.fsencode(os.environ["PATH"])}))
reactor.run()
"""


class OrphanTests(SynchronousTestCase):
    def test_no_git_process_outlives_the_service(self) -> None:
        """However it ends."""
        parent = subprocess.Popen(
            [sys.executable, "-c", PARENT],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        self.addCleanup(parent.wait)
        self.addCleanup(parent.kill)
        assert parent.stdout is not None
        self.addCleanup(parent.stdout.close)
        child = int(parent.stdout.readline())
        self.assertTrue(lives(child))
        parent.kill()
        until = time.monotonic() + PATIENCE
        while lives(child) and time.monotonic() < until:
            time.sleep(0.02)
        self.assertFalse(lives(child))


class FramesTests(SynchronousTestCase):
    @given(FRAMES, st.data())
    def test_frames_are_parsed_at_any_split(
        self, frames: list[tuple[int, int, bytes]], data: st.DataObject
    ) -> None:
        stream = b"".join(HEAD.pack(n, kind, len(rest)) + rest for n, kind, rest in frames)
        parser, found, at = ForkFrameDecoder(), list[tuple[int, int, bytes]](), 0
        while at < len(stream):
            size = data.draw(st.integers(1, len(stream) - at))
            found += parser.feed_bytes(stream[at : at + size])
            at += size
        self.assertEqual(frames, found)
