"""What git cannot do, whatever a repository configures: run programs, and open files elsewhere."""

from __future__ import annotations

import errno
import os
import pwd
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn
from unittest import SkipTest

from attrs import evolve
from twisted.internet import reactor
from twisted.logger import capturedLogs
from twisted.trial.unittest import TestCase

from tests.waiting import PATIENCE
from tservice.core.process.child import ChildCommand, ChildResult, ChildRunner, find_child_tools
from tservice.core.process.landlock import is_supported
from tservice.core.workers.worker_pool import SynchronousThreads
from tservice.git.process import fence as fence_module
from tservice.git.process.fence import FenceBuilder, GitFence, start_fenced
from tservice.git.process.isolation import make_environment
from tservice.git.process.runner import GitActor


class GitFenceTests(TestCase):
    def setUp(self) -> None:
        if not is_supported():
            raise SkipTest("this kernel has no Landlock")
        self.children = ChildRunner(reactor, reactor, find_child_tools(os.environ["PATH"]))
        self.addCleanup(self.children.stop)
        self.threads = SynchronousThreads()
        program = shutil.which("git")
        assert program is not None
        self.git = program

    async def fence(self) -> GitFence:
        return await FenceBuilder(self.children, self.threads).build_fence(self.git)

    async def run_fenced(
        self,
        fence: GitFence,
        argv: Sequence[str],
        within: Path | None = None,
        uid: int | None = None,
    ) -> ChildResult:
        command = ChildCommand(
            argv=argv,
            env=make_environment("", {}),
            seconds=PATIENCE,
            user=GitActor(uid=uid, gid=uid).get_identity(),
        )
        folder = None if within is None else os.fsencode(within)
        child = await start_fenced(self.children, self.threads, fence, command, folder)
        return await child.wait_ended()

    async def test_git_executes_no_other_program(self) -> None:
        fence = await self.fence()
        self.assertIsNotNone(fence.programs)
        for argv, status in (
            ([self.git, "--version"], 0),
            (["/bin/sh", "-c", "true"], 126),
            ([self.git, "-c", "alias.x=!true", "x"], 128),
        ):
            self.assertEqual(status, (await self.run_fenced(fence, argv)).status, argv)

    async def test_git_that_reads_outside_is_not_confined_but_executes_nothing(self) -> None:
        """It is not kept within folders, which is logged; but from running programs as ever."""
        self.patch(fence_module, "SYSTEM", ())
        with capturedLogs() as lines:
            fence = await self.fence()
        [line] = [each["text"] for each in lines]
        self.assertTrue(line.startswith("git cannot be restricted to folders here: "), line)
        self.assertIsNone(fence.system)
        ran = await self.run_fenced(fence, ["/bin/sh", "-c", "true"])
        self.assertEqual(126, ran.status)

    async def test_command_that_cannot_be_confined_is_not_started(self) -> None:
        def refuse(rules: int) -> NoReturn:
            raise OSError(errno.E2BIG, "too many")

        fence = await self.fence()
        self.patch(fence_module, "apply_rules", refuse)
        folder = Path(tempfile.gettempdir())
        with self.assertRaisesRegex(OSError, "restricted to its folder"):
            await self.run_fenced(fence, [self.git, "--version"], folder)
        self.assertEqual(0, self.children.running)

    async def test_system_without_landlock_runs_git_unrestricted(self) -> None:
        def refuse(*words: object) -> NoReturn:
            raise OSError(errno.ENOSYS, "Function not implemented")

        for name in ("make_program_rules", "make_folder_rules"):
            self.patch(fence_module, name, refuse)
        with capturedLogs() as lines:
            fence = await self.fence()
        self.assertEqual((GitFence(), 2), (fence, len(lines)))
        ran = await self.run_fenced(fence, [self.git, "--version"], Path("/nowhere"))
        self.assertEqual(0, ran.status)

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
        fence = await self.fence()
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
                argv = [self.git, "-C", str(inner), *words]
                ran = await self.run_fenced(fence, argv, inner, uid)
                self.assertEqual(status, ran.status, (words, ran.errors))
        self.assertEqual(["in", "other"], sorted(os.listdir(top)))
        for each in (fence, evolve(fence, programs=None)):
            with self.assertRaisesRegex(OSError, "No such file or directory"):
                await self.run_fenced(each, [self.git, "--version"], Path("/nowhere"))
