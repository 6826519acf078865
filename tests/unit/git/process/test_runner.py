"""Starting git, and what its end means."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.fakes.child_processes import FIRST_PID, FakeProcesses, FakeTransport
from tservice.core.logs.redact import SecretRedactor
from tservice.core.process.child import ABANDON_SECONDS, ChildTools
from tservice.core.users.os_users import make_user_prefix
from tservice.core.workers.worker_pool import SynchronousThreads
from tservice.git.model import GitRepository
from tservice.git.process.fence import FenceBuilder, GitFence
from tservice.git.process.runner import (
    NICENESS,
    RETRY_SECONDS,
    STDERR_LIMIT,
    GitActor,
    GitError,
    GitMissingError,
    GitRunner,
    OutputCollector,
)
from tservice.git.status.porcelain import GitOutputError

REPOSITORY = GitRepository(root=b"/r", control=b"/r/.git", common=b"/r/.git")
MYSELF = GitActor()
KILL = (FIRST_PID, signal.SIGKILL)


class GitRunnerTests(SynchronousTestCase):
    """With processes that the test plays; this git has no restrictions."""

    def setUp(self) -> None:
        self.clock, self.processes = Clock(), FakeProcesses()
        self.fences: list[str] = []
        self.is_complete = True
        self.patch(GitFence, "is_complete", property(lambda fence: self.is_complete))
        self.patch(FenceBuilder, "build_fence", self.build_fence)
        self.bin = Path(self.mktemp()).resolve()
        self.bin.mkdir()
        (self.bin / "git").write_text("")
        (self.bin / "git").chmod(0o755)
        self.runner = self.make(str(self.bin))

    async def build_fence(self, git: str) -> GitFence:
        self.fences.append(git)
        return GitFence()

    def make(self, path: str) -> GitRunner:
        return GitRunner(
            children=self.processes.make_runner(self.clock, ChildTools("/s", "/p")),
            threads=SynchronousThreads(),
            environ={"PATH": path, "SECRET": "x", "GIT_DIR": "/elsewhere"},
            redactor=SecretRedactor(),
        )

    @property
    def process(self) -> FakeTransport:
        return self.processes.spawned[-1]

    def read(self, actor: GitActor = MYSELF) -> Deferred[bytes]:
        return Deferred.fromCoroutine(
            self.runner.read(
                REPOSITORY, ["status"], actor=actor, timeout=5, overrides={"a.b": "c"}, limit=10
            )
        )

    def error(self, asked: Deferred[bytes]) -> str:
        self.assertEqual(([], 0), (self.clock.getDelayedCalls(), self.runner.running))
        return str(self.failureResultOf(asked, GitError).value)

    def test_output_is_returned(self) -> None:
        asked = self.read(GitActor(uid=5, gid=6))
        self.assertEqual(1, self.runner.running)
        [call] = self.processes.calls
        prefix = make_user_prefix("/s", "/p", GitActor(uid=5, gid=6).get_identity())  # type: ignore[arg-type]
        self.assertEqual(prefix, call["args"][: len(prefix)])
        self.assertIn("6", prefix[prefix.index("--groups") + 1])
        self.assertEqual(os.fsencode(self.bin / "git"), call["args"][len(prefix)])
        self.assertIn(b"status", call["args"])
        self.assertNotIn(b"SECRET", call["env"])
        self.assertNotIn(b"GIT_DIR", call["env"])
        self.assertEqual(b"c", call["env"][b"GIT_CONFIG_VALUE_0"])
        self.process.protocol.outReceived(b"out")
        self.process.finish(0)
        self.assertEqual(b"out", self.successResultOf(asked))
        self.assertEqual(([], 0), (self.clock.getDelayedCalls(), self.runner.running))

    def test_git_has_a_lower_priority(self) -> None:
        self.read()
        want = min(19, os.getpriority(os.PRIO_PROCESS, 0) + NICENESS)
        self.assertEqual([(FIRST_PID, want)], self.processes.niced)

    def test_git_is_looked_up_again_after_it_could_not_run(self) -> None:
        for _ in range(2):
            asked = self.read()
            self.process.finish(0)
            self.successResultOf(asked)
        self.assertEqual(1, len(self.fences))
        asked = self.read()
        self.process.protocol.errReceived(b"setpriv: failed to execute /x/git: No such file\n")
        self.process.finish(127)
        self.assertEqual(
            "git could not be started: setpriv: failed to execute /x/git: No such file",
            self.error(asked),
        )
        self.read()
        self.assertEqual(2, len(self.fences))

    def test_incomplete_fence_is_tried_again_later(self) -> None:
        self.is_complete = False
        for seconds, fences in ((0, 1), (RETRY_SECONDS - 1, 1), (1, 2), (1, 2)):
            self.clock.advance(seconds)
            asked = self.read()
            self.process.finish(0)
            self.successResultOf(asked)
            self.assertEqual(fences, len(self.fences))

    def test_missing_git_is_an_error(self) -> None:
        self.runner = self.make("/absent:.")
        self.failureResultOf(self.read(), GitMissingError)

    def test_failed_start_is_an_error(self) -> None:
        self.processes.error = OSError(7, "Argument list too long")
        why = "git could not be started: Argument list too long"
        self.assertEqual(why, self.error(self.read()))

    def test_failed_git_gives_a_clean_error(self) -> None:
        asked = self.read()
        self.process.protocol.errReceived(b"fatal: https://a:b@h/ is bad\nmore")
        self.process.protocol.errReceived(b"x" * STDERR_LIMIT * 2)
        self.process.finish(128)
        self.assertEqual("fatal: https://[redacted]@h/ is bad", self.error(asked))

    def test_slow_git_is_killed(self) -> None:
        asked = self.read()
        self.clock.advance(5)
        self.assertEqual([KILL], self.processes.sent)
        self.assertEqual("git timed out after 5 s", self.error(asked))

    def test_git_that_prints_too_much_is_killed(self) -> None:
        asked = self.read()
        self.process.protocol.outReceived(b"x" * 11)
        self.assertEqual([KILL], self.processes.sent)
        self.assertEqual("git printed more than 10 bytes", self.error(asked))

    def test_malformed_output_is_an_error(self) -> None:
        def refuse(data: bytes) -> bool:
            raise GitOutputError("nonsense")

        running: Deferred[Any] = Deferred.fromCoroutine(
            self.runner.run(REPOSITORY, ["x"], actor=MYSELF, timeout=5, sink=refuse, overrides={})
        )
        self.process.protocol.outReceived(b"x")
        self.assertEqual("git's output could not be read: nonsense", self.error(running))

    def test_unkillable_git_is_given_up(self) -> None:
        self.processes.obeys_kill = False
        asked = self.read()
        stopped = self.runner.stop()
        self.clock.advance(ABANDON_SECONDS)
        self.assertEqual("git could not be ended: it cannot be killed", self.error(asked))
        self.successResultOf(stopped)

    def test_stop_waits_until_git_is_gone(self) -> None:
        self.processes.obeys_kill = False
        asked = self.read()
        stopped = self.runner.stop()
        self.assertEqual([KILL], self.processes.sent)
        self.assertNoResult(stopped)
        self.process.finish(None, 9)
        self.successResultOf(stopped)
        self.error(asked)
        self.successResultOf(self.runner.stop())

    def test_pieces_are_joined_up_to_the_limit(self) -> None:
        pieces = OutputCollector(3)
        self.assertTrue(pieces.add_piece(b"abc"))
        self.assertFalse(pieces.add_piece(b"d"))
        self.assertEqual(b"abc", pieces.get_bytes())
