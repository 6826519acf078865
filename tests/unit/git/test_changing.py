"""Tests for what git does beside reading: progress, bounds, and worktrees that fail."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread
from twisted.trial.unittest import SynchronousTestCase, TestCase

from tests.runtime_harness import HERE
from tests.unit.git.real_git import own_folder
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.locations.location import Location
from tservice.core.locations.workspace_bounds import ANYWHERE
from tservice.core.logs.redact import SecretRedactor
from tservice.core.process.child import ChildRunner, find_child_tools
from tservice.core.workers.worker_pool import SynchronousThreads
from tservice.git.changing import nested_repositories, worktrees
from tservice.git.changing.clone_environment import (
    clone_arguments,
    clone_environment,
    user_environment,
)
from tservice.git.changing.progress import LINE_LIMIT, ProgressReader, find_failure_reason
from tservice.git.changing.unsaved_work import UnsavedWorkFinder
from tservice.git.changing.worktrees import WorktreeManager
from tservice.git.clone_address import parse_source
from tservice.git.interfaces import CloneProgress, CloneSource, WorktreeRequest
from tservice.git.process.isolation import parse_config_keys
from tservice.git.process.runner import GitRunner
from tservice.git.status import inspector
from tservice.git.status.inspector import RepositoryInspector

_T = TypeVar("_T")

SAID = (
    b"Cloning into '/srv/x'...\n"
    b"remote: Enumerating objects: 5, done.        \n"
    b"remote: Counting objects:  20% (1/5)\rremote: Counting objects: 100% (5/5), done.\n"
    b"Receiving objects:   7% (1/14)\rReceiving objects:  42% (6/14), 1.00 MiB | 1.00 MiB/s\r"
    b"Resolving deltas: 100% (3/3), done.\n"
    b"warning: something odd\n"
    b"Updating files:  50% (1/2)\r"
    b"fatal: early EOF"
)
STEPS = [
    ("counting", None), ("counting", 20), ("counting", 100), ("receiving", 7), ("receiving", 42),
    ("resolving", 100), ("checking-out", 50),
]  # fmt: skip
REASONS = {
    "fatal: Remote branch nope not found in upstream origin": "the repository has no such ref",
    "fatal: Authentication failed for 'https://h/x/'": "not allowed",
    "fatal: could not read Username for 'https://h': terminal prompts disabled": "not allowed",
    "git@h: Permission denied (publickey).": "not allowed",
    "The requested URL returned error: 403": "not allowed",
    "remote: Repository not found.\nfatal: repository 'https://h/x/' not found": "not found",
    "fatal: '/x' does not appear to be a git repository": "not found",
    "fatal: remote error: access denied or repository not exported: /x": "not found",
    "fatal: unable to access 'https://h/': Could not resolve host: h": "cannot connect",
    "ssh: connect to host h port 22: Connection refused": "cannot connect",
    "Host key verification failed.": "host's key",
    "fatal: write error: No space left on device": "the disk is full",
}


class ProgressTests(SynchronousTestCase):
    @given(st.lists(st.integers(0, len(SAID)), max_size=20))
    def test_progress_is_parsed_in_any_pieces(self, cuts: list[int]) -> None:
        """The same steps come, but for those that come and go within one piece."""
        reader, seen = ProgressReader(), []
        edges = [0, *sorted(cuts), len(SAID)]
        for start, end in pairwise(edges):
            if reader.feed_bytes(SAID[start:end]):
                seen.append((reader.now.phase, reader.now.percent))
        self.assertEqual(CloneProgress(phase="checking-out", percent=50), reader.now)
        rest = iter(STEPS)
        self.assertTrue(all(step in rest for step in seen), seen)
        self.assertEqual(b"warning: something odd\nfatal: early EOF\n", reader.finish_input())

    def test_each_progress_step_is_reported(self) -> None:
        reader, seen = ProgressReader(), []
        for at in range(len(SAID)):
            if reader.feed_bytes(SAID[at : at + 1]):
                seen.append((reader.now.phase, reader.now.percent))
        self.assertEqual(STEPS, seen)

    def test_buffered_progress_is_bounded(self) -> None:
        reader = ProgressReader()
        for _ in range(100):
            reader.feed_bytes(b"x" * 1000)
        for number in range(1000):
            reader.feed_bytes(b"\nline %d" % number)
        self.assertLessEqual(len(reader.finish_input()), LINE_LIMIT)
        self.assertTrue(reader.complaints.endswith(b"line 999\n"))

    def test_known_failures_have_a_reason(self) -> None:
        for text, word in REASONS.items():
            self.assertIn(word, find_failure_reason(text.encode()) or "", text)
        self.assertIsNone(find_failure_reason(b"fatal: something else"))


class GitEnvironmentFenceTests(SynchronousTestCase):
    ENVIRON = {
        "PATH": "/usr/bin:.:/bin", "HOME": "/home/a", "SSH_AUTH_SOCK": "/agent", "LC_TIME": "de",
        "https_proxy": "http://p", "GIT_SSH_COMMAND": "evil", "GIT_DIR": "/x", "LD_PRELOAD": "x",
        "SERVICE_PASSWORD": "x", "SSH_ASKPASS": "x", "GIT_CONFIG_COUNT": "9",
        "XDG_CONFIG_HOME": "/c",
    }  # fmt: skip

    def test_environment_keeps_user_settings_and_drops_dangerous_variables(self) -> None:
        found = user_environment(self.ENVIRON)
        for name in ("GIT_SSH_COMMAND", "GIT_DIR", "LD_PRELOAD", "SERVICE_PASSWORD", "SSH_ASKPASS"):
            self.assertNotIn(name, found)
        for name in ("HOME", "SSH_AUTH_SOCK", "https_proxy", "XDG_CONFIG_HOME"):
            self.assertEqual(self.ENVIRON[name], found[name])
        self.assertEqual("/usr/bin:/bin", found["PATH"])
        self.assertEqual("0", found["GIT_TERMINAL_PROMPT"])

    def test_password_is_sent_only_to_its_own_address(self) -> None:
        for address, protocol, host, is_given in (
            ("https://u:pw@Example.ORG/x", "https", "example.org", True),
            ("https://u:pw@Example.ORG/x", "https", "Example.ORG", True),
            ("https://u:pw@example.org:443/x", "https", "example.org", True),
            ("https://u:pw@example.org./x", "https", "example.org.", True),
            ("http://u:pw@[::1]:8080/x", "http", "[::1]:8080", True),
            ("http://u:pw@[::1]:8080/x", "http", "[::1]:8081", False),
            ("https://u:pw@example.org/x", "http", "example.org", False),
            ("https://u:pw@example.org/x", "https", "example.org:8443", False),
            ("https://u:pw@example.org/x", "https", "sub.example.org", False),
            ("https://u:pw@example.org/x", "https", "example.org.evil.net", False),
        ):
            source = parse_source(address, local=False)
            env = clone_environment(user_environment(os.environ), source, parse_config_keys(b""))
            ended = subprocess.run(
                ["git", "credential", "fill"],
                input=f"protocol={protocol}\nhost={host}\n\n".encode(),
                env={**env, b"HOME": b"/nonexistent", b"GIT_CONFIG_NOSYSTEM": b"1"},
                capture_output=True,
                check=False,
            )
            self.assertEqual(is_given, b"password=pw\n" in ended.stdout, (address, host))

    def test_secrets_are_only_in_the_environment(self) -> None:
        source = CloneSource(url="https://h:1/x", username="ann", password="se'c$ret")
        words = clone_arguments(source, "/t", "v1", shallow=True)
        self.assertEqual(["--", "https://h:1/x", "/t"], words[-3:])
        self.assertNotIn("ret", " ".join(words))
        configured = parse_config_keys(b"filter.lfs.smudge\0filter.a.b.clean\0credential.helper\0")
        env = clone_environment({"PATH": "/bin"}, source, configured)
        count = int(env[b"GIT_CONFIG_COUNT"])
        pairs = [
            (env[b"GIT_CONFIG_KEY_%d" % n], env[b"GIT_CONFIG_VALUE_%d" % n]) for n in range(count)
        ]
        self.assertIn((b"filter.lfs.smudge", b""), pairs)
        self.assertIn((b"filter.a.b.process", b""), pairs)
        self.assertIn((b"credential.https://h:1.username", b"ann"), pairs)
        self.assertEqual([], [value for _, value in pairs if b"ret" in value])
        self.assertNotIn(b"credential.helper", [key for key, _ in pairs])
        helpers = [value for key, value in pairs if key == b"credential.https://h:1.helper"]
        self.assertEqual(b"", helpers[0])
        ended = subprocess.run(
            ["sh", "-c", f"{helpers[1].decode()[1:]} get"],
            env={**env, b"PATH": b"/usr/bin:/bin"},
            capture_output=True,
            check=True,
        )
        self.assertEqual(b"username=ann\npassword=se'c$ret\n", ended.stdout)

    def test_clone_of_a_path_uses_no_network(self) -> None:
        local = clone_environment({}, CloneSource(url="/x", local=True), parse_config_keys(b""))
        self.assertEqual(b"file", local[b"GIT_ALLOW_PROTOCOL"])
        far = clone_environment({}, CloneSource(url="https://h/x"), parse_config_keys(b""))
        self.assertNotIn(b"file", far[b"GIT_ALLOW_PROTOCOL"].split(b":"))


class NestedRepositoryTests(SynchronousTestCase):
    def test_repositories_found_inside_are_bounded(self) -> None:
        folder = Path(self.mktemp()).resolve()
        for number in range(6):
            control = folder / f"r{number}" / ".git"
            for name in ("objects", "refs"):
                (control / name).mkdir(parents=True)
            (control / "HEAD").write_text("ref: refs/heads/main\n")
        (folder / "r0" / "node_modules" / "deep").mkdir(parents=True)
        (folder / "link").symlink_to("r1")
        found = nested_repositories.find_repositories(os.fsencode(folder))
        self.assertEqual((6, True), (len(found.repositories), found.is_complete))
        self.patch(nested_repositories, "REPOSITORIES", 5)
        found = nested_repositories.find_repositories(os.fsencode(folder))
        self.assertEqual((5, False), (len(found.repositories), found.is_complete))
        self.patch(nested_repositories, "FOLDERS_LIMIT", 3)
        self.assertFalse(nested_repositories.find_repositories(os.fsencode(folder)).is_complete)


class GitWorktreeTests(TestCase):
    """With the real git."""

    def setUp(self) -> None:
        self.folder = own_folder(self)
        self.folder.mkdir(parents=True)
        self.repository = self.folder / "r"
        environ = {"PATH": os.environ["PATH"]}
        self.runner = GitRunner(
            children=ChildRunner(reactor, reactor, find_child_tools(os.environ["PATH"])),
            threads=SynchronousThreads(),
            environ=environ,
            redactor=SecretRedactor(),
        )
        self.addCleanup(self.runner.stop)

        def in_its_thread(
            place: Location, work: Callable[[], _T], at: str, owner: str | None
        ) -> Deferred[_T]:
            self.owners.add(owner)
            return deferToThread(work)

        def inspector(place: Location, owner: str | None) -> RepositoryInspector:
            return RepositoryInspector(
                inside=lambda: ANYWHERE,
                clock=reactor,
                runner=self.runner,
                in_thread=lambda work, at: in_its_thread(place, work, at, owner),
                environ=environ,
                home=self.folder,
                euid=os.geteuid(),
                containers=lambda: self.shared,
            )

        self.shared: list[str] = []
        self.owners: set[str | None] = set()
        self.worktrees = WorktreeManager(in_its_thread, inspector)
        self.unsaved = UnsavedWorkFinder(in_its_thread, inspector)
        self.git("init", "-q", "-b", "main", str(self.repository))
        self.git("-C", str(self.repository), "commit", "-q", "--allow-empty", "-m", "m")

    def git(self, *words: str) -> str:
        named = ("-c", "user.name=a", "-c", "user.email=a@b")
        ended = subprocess.run(["git", *named, *words], capture_output=True, text=True, check=True)
        return ended.stdout

    def branches(self) -> list[str]:
        words = ("branch", "--format=%(refname:short)")
        return self.git("-C", str(self.repository), *words).split()

    def order(self, name: str, branch: str, start: str | None = None) -> WorktreeRequest:
        path = str(self.folder / name)
        return WorktreeRequest(
            folder=str(self.repository),
            path=path,
            branch=branch,
            start=start,
            place=HERE,
            owner=None,
        )

    async def refusal(self, order: WorktreeRequest) -> ServiceError:
        try:
            await self.worktrees.add_worktree(order)
        except ServiceError as error:
            return error
        raise AssertionError("it was made")

    async def refused(self, order: WorktreeRequest) -> ErrorCode:
        return (await self.refusal(order)).code

    async def said(self, order: WorktreeRequest) -> str:
        """Git's word, where there is nothing left of it."""
        error = await self.refusal(order)
        self.assertIs(ErrorCode.OPERATION_FAILED, error.code)
        self.assertNotIn(Path(order.path).name, os.listdir(self.folder))
        return error.message

    async def test_folder_created_by_another_is_kept(self) -> None:
        (self.folder / "w").mkdir()
        (self.folder / "w" / "mine").write_text("mine")
        self.assertIs(ErrorCode.ALREADY_EXISTS, await self.refused(self.order("w", "b")))
        self.assertEqual("mine", (self.folder / "w" / "mine").read_text())
        self.assertEqual(["main"], self.branches())

    async def test_branch_of_the_only_remote_is_tracked(self) -> None:
        """It is tracked, also where a tag has its name."""
        at = ("-C", str(self.repository))
        self.git(*at, "config", "remote.far.url", "https://h.example/x")
        self.git(*at, "config", "remote.far.fetch", "+refs/heads/*:refs/remotes/far/*")
        for tagged in ("no", "yes"):
            self.git(*at, "update-ref", f"refs/remotes/far/{tagged}", "HEAD")
        self.git(*at, "tag", "yes")
        for branch in ("no", "yes"):
            await self.worktrees.add_worktree(self.order(branch, branch))
            head = (self.repository / f".git/worktrees/{branch}/HEAD").read_text()
            self.assertEqual(f"ref: refs/heads/{branch}\n", head)
            config = (self.repository / ".git/config").read_text()
            self.assertIn(f'[branch "{branch}"]\n\tremote = far\n', config)

    async def test_failed_worktree_leaves_nothing(self) -> None:
        before = sorted(os.listdir(self.folder))
        for order, code in (
            (self.order("w", "b", "none"), ErrorCode.OPERATION_FAILED),
            (self.order("w", "main"), ErrorCode.CONFLICT),
            (self.order("none/w", "b"), ErrorCode.OPERATION_FAILED),
            (self.order("w", "main/x"), ErrorCode.OPERATION_FAILED),
        ):
            self.assertIs(code, await self.refused(order), order)
            self.assertEqual(before, sorted(os.listdir(self.folder)))
            self.assertEqual(["main"], self.branches())

    async def test_files_shared_with_a_container_are_left_alone(self) -> None:
        """Whoever is in there can have git run something, out here and as somebody else."""
        await self.worktrees.add_worktree(self.order("w", "b"))
        link = self.folder / "link"
        link.symlink_to(self.folder)
        for shared in (self.repository, self.repository / ".git", self.folder, link):
            self.shared = [str(shared)]
            self.assertIs(
                ErrorCode.OPERATION_FAILED, await self.refused(self.order("x", "c")), shared
            )
            [said] = await self.unsaved.find_unsaved_work(str(self.folder / "w"), HERE, None)
            self.assertIn("cannot be checked: the repository is in a container", said)
        self.shared = [str(self.repository)]
        await self.worktrees.remove_worktree(
            str(self.folder / "w"), str(self.repository), HERE, None
        )
        self.assertFalse((self.folder / "w").exists())
        self.assertIn("b", self.branches())
        self.assertTrue((self.repository / ".git/worktrees/w").is_dir(), "git was not run")

    @pytest.mark.long
    async def test_pipe_in_the_repository_delays_a_worktree_only_briefly(self) -> None:
        """What is only read takes no longer than a look at a repository."""
        self.patch(inspector, "CONFIG_SECONDS", 1.0)
        self.patch(worktrees, "READ_SECONDS", 2.0)
        control = self.repository / ".git"
        included, packed = control / "odd", control / "packed-refs"
        os.mkfifo(included)
        self.git("-C", str(self.repository), "config", "include.path", "odd")
        self.assertEqual("git timed out after 1 s", await self.said(self.order("w", "b")))
        [said] = await self.unsaved.find_unsaved_work(str(self.repository), HERE, None)
        self.assertIn("cannot be checked: git timed out after 1 s", said)
        included.unlink()
        os.mkfifo(packed)
        self.assertEqual("git timed out after 2 s", await self.said(self.order("w", "b")))
        packed.unlink()
        await self.worktrees.add_worktree(self.order("w", "b"))

    async def test_odd_included_files_do_not_block_a_worktree(self) -> None:
        included = self.repository / ".git" / "odd"
        self.git("-C", str(self.repository), "config", "include.path", "odd")
        for make in (included.mkdir, partial(included.symlink_to, "/dev/zero")):
            make()
            self.assertIn("odd", await self.said(self.order("w", "b")))
            [said] = await self.unsaved.find_unsaved_work(str(self.repository), HERE, None)
            self.assertIn("cannot be checked", said)
            included.rmdir() if included.is_dir() else included.unlink()

    async def test_git_processes_count_for_the_owner(self) -> None:
        undo = await self.worktrees.add_worktree(evolve(self.order("x", "b"), owner="ann"))
        await undo()
        await self.worktrees.add_worktree(evolve(self.order("w", "b"), owner="ann"))
        await self.unsaved.find_unsaved_work(str(self.folder), HERE, "ann")
        await self.worktrees.remove_worktree(
            str(self.folder / "w"), str(self.repository), HERE, "ann"
        )
        self.assertEqual({"ann"}, self.owners)

    async def test_rolled_back_worktree_removes_folder_and_new_branch(self) -> None:
        self.git("-C", str(self.repository), "branch", "there")
        for branch, left in (("new", ["main", "there"]), ("there", ["main", "there"])):
            undo = await self.worktrees.add_worktree(self.order("w", branch))
            self.assertTrue((self.folder / "w" / ".git").is_file())
            await undo()
            self.assertFalse((self.folder / "w").exists())
            self.assertEqual(left, self.branches())

    async def test_removal_leaves_folders_that_are_no_worktree(self) -> None:
        other = self.folder / "other"
        self.git("init", "-q", str(other))
        await self.worktrees.remove_worktree(str(other), str(self.repository), HERE, None)
        self.assertTrue((other / ".git").is_dir())
        await self.worktrees.add_worktree(self.order("w", "b"))
        await self.worktrees.remove_worktree(str(self.folder / "w"), str(other), HERE, None)
        self.assertTrue((self.folder / "w").exists(), "it is of another repository")
        await self.worktrees.remove_worktree(
            str(self.folder / "w"), str(self.repository), HERE, None
        )
        self.assertFalse((self.folder / "w").exists())
        self.assertEqual(["b", "main"], self.branches())
