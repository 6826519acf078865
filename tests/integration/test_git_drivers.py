"""Filter drivers that a repository configures in places where nobody looks for them.

For each, plain git runs the driver's command, which leaves a mark; the service does not.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import SkipTest

from twisted.internet import reactor
from twisted.trial.unittest import TestCase

from tests.unit.git.random_repositories import run_git
from tests.unit.git.real_git import folder_fingerprint, own_folder, real_service
from tservice.core.locations.workspace_bounds import ANYWHERE
from tservice.core.process.landlock import is_supported
from tservice.git.model import ChangeKind, GitOptions
from tservice.git.process.runner import GitActor
from tservice.git.search import recognise_repository
from tservice.git.service import GitService, GitWorkspace

FRESH = GitOptions(fresh=True)
BRIEF = GitOptions(fresh=True, timeout=5)
Write = Callable[[Path, str], None]
"""Puts a driver, as lines of a section, into the configuration of a repository."""


def own(repository: Path, text: str) -> None:
    """In the repository's own configuration."""
    with (repository / ".git/config").open("ab") as file:
        file.write(text.encode("utf-8", "surrogateescape"))


def included(*path: str) -> Write:
    """By an include; each file includes the next one."""

    def write(repository: Path, text: str) -> None:
        folder = repository / ".git"
        for name in path[:-1]:
            own_file = folder / name
            own_file.parent.mkdir(parents=True, exist_ok=True)
        names = [folder / name for name in path]
        for before, after in pairwise(names):
            before.write_text(f"[include]\n\tpath = {after}\n")
        names[-1].parent.mkdir(parents=True, exist_ok=True)
        names[-1].write_text(text)
        own(repository, f"[include]\n\tpath = {path[0]}\n")

    return write


def conditional(condition: str) -> Write:
    """By an include that depends on something."""

    def write(repository: Path, text: str) -> None:
        (repository / ".git/more").write_text(text)
        own(repository, '[remote "o"]\n\turl = https://x.example/r.git\n')
        own(repository, f'[includeIf "{condition}"]\n\tpath = more\n')

    return write


def from_the_tree(repository: Path, text: str) -> None:
    """By an include of a file that is in the working tree, through a link."""
    (repository / "settings").write_text(text)
    (repository / ".git/link").symlink_to("../settings")
    own(repository, "[include]\n\tpath = link\n")


def of_the_worktree(repository: Path, text: str) -> None:
    """In C{config.worktree} of the main worktree."""
    own(repository, "[core]\n\trepositoryformatversion = 1\n")
    own(repository, "[extensions]\n\tworktreeConfig = true\n")
    (repository / ".git/config.worktree").write_text(text)


def section(header: str, key: str = "clean") -> str:
    """A driver; C{TRAP} stands for its command."""
    return f"[{header}]\n\t{key} = TRAP\n\trequired = true\n"


BEHIND: Mapping[str, Sequence[str]] = {
    "status": ("status", "--porcelain"),
    "diff": ("diff",),
    "worktree": ("worktree", "add", "-q", "--detach", "../AGAIN"),
}
PLAIN = section('filter "evil"')
PLACES: Mapping[str, Write] = {
    "own": own,
    "include": included("a"),
    "include of an include": included("a", "deep/er/b", "c", "deep/d"),
    "include of the tree": from_the_tree,
    "worktree config": of_the_worktree,
    "gitdir": conditional("gitdir:**"),
    "gitdir/i": conditional("gitdir/i:**/REPO/.GIT"),
    "onbranch": conditional("onbranch:ma*"),
    "hasconfig": conditional("hasconfig:remote.*.url:https://x.example/**"),
}
HEADERS: Mapping[str, tuple[str, str]] = {
    "case of the section": ('FILTER "evil"', "evil"),
    "case of the name": ('filter "Evil"', "Evil"),
    "old style": ("filter.EVIL", "evil"),
    "old style with dots": ("filter.e.v.i.l", "e.v.i.l"),
    "dots": ('filter "a..b."', "a..b."),
    "a dot alone": ('filter "."', "."),
    "sign of equality": ('filter "a=b"', "a=b"),
    "escaped letter": ('filter "a\\nb"', "anb"),
    "escaped quote": ('filter "a\\"b"', 'a"b'),
    "escaped backslash": ('filter "a\\\\b"', "a\\b"),
    "bracket": ('filter "a]b"', "a]b"),
    "semicolon": ('filter "a;b#c"', "a;b#c"),
    "no ASCII": ('filter "ünï"', "ünï"),
    "no UTF-8": ('filter "a\udcffb"', "a\udcffb"),
    "escape": ('filter "a\x1b[2Jb"', "a\x1b[2Jb"),
    "long": (f'filter "{"x" * 1000}"', "x" * 1000),
    "like a key": ('filter "clean"', "clean"),
    "like an override": ('filter "evil.clean"', "evil.clean"),
}


class DriverTests(TestCase):
    """One repository after another."""

    timeout = 300

    def setUp(self) -> None:
        self.folder = own_folder(self)
        self.folder.mkdir()
        self.mark = self.folder / "mark"
        self.script = self.folder / "trap"
        self.script.write_text(f'#!/bin/sh\n: > "{self.mark}"\ncat\n')
        self.script.chmod(0o755)
        self.service, self.runner = real_service(reactor, self.folder / "home")
        self.addCleanup(self.runner.stop)

    def repository(self, name: str, driver: str) -> Path:
        root = self.folder / name / "repo"
        root.mkdir(parents=True)
        run_git(root, "init", "-q", "-b", "main", "--template=")
        attributes = f"*.t filter={driver}\n".encode("utf-8", "surrogateescape")
        (root / ".gitattributes").write_bytes(attributes)
        (root / "x.t").write_text("first\n")
        run_git(root, "add", "-A")
        run_git(root, "commit", "-q", "-m", "one")
        return root

    def spoil(self, root: Path) -> None:
        """Other content of the same size: only reading it, through the driver, tells."""
        (root / "x.t").write_text("secnd\n")
        os.utime(root / "x.t", (1, 1))

    def trap(self, text: str) -> str:
        return text.replace("TRAP", str(self.script))

    async def judge(self, title: str, root: Path) -> None:
        """Plain git is caught, in a status and in a diff; the service is not."""
        for words in (("status",), ("diff",)):
            self.spoil(root)
            run_git(root, *words, fails=True)
            self.assertTrue(self.mark.exists(), f"{title}: plain git {words[0]}")
            self.mark.unlink()
        self.spoil(root)
        before = folder_fingerprint(root)
        status = await self.status(self.service, root)
        rows = {row["path"]: row["kind"] for row in status["files"]}
        self.assertEqual("unstaged", rows.get("x.t"), title)
        found = await self.service.get_diff(
            GitWorkspace(inside=ANYWHERE, folder=str(root)),
            status["repoRoot"],
            "x.t",
            ChangeKind.UNSTAGED,
            GitOptions(),
        )
        self.assertIn("+secnd", found["diff"], title)
        self.assertFalse(self.mark.exists(), title)
        self.assertEqual(before, folder_fingerprint(root), title)

    async def status(self, service: GitService, root: Path) -> dict[str, Any]:
        answer = await service.get_status(GitWorkspace(inside=ANYWHERE, folder=str(root)), FRESH)
        self.assertEqual("ok", answer["state"], answer)
        found: dict[str, Any] = answer["repos"][0]["status"]
        return found

    async def test_filter_driver_in_any_configuration_file_does_not_run(self) -> None:
        for number, (title, write) in enumerate(PLACES.items()):
            root = self.repository(f"place{number}", "evil")
            write(root, self.trap(PLAIN))
            await self.judge(title, root)

    async def test_filter_driver_of_any_name_does_not_run(self) -> None:
        for number, (title, (header, driver)) in enumerate(HEADERS.items()):
            root = self.repository(f"name{number}", _attribute(driver))
            own(root, self.trap(section(header)))
            await self.judge(title, root)

    async def test_filter_process_in_an_included_file_does_not_run(self) -> None:
        root = self.repository("process", "evil")
        included("a", "b")(root, self.trap(section('filter "evil"', "process")))
        await self.judge("process", root)

    async def test_drivers_of_a_linked_worktree_do_not_run(self) -> None:
        """Its configuration is in a folder of the main repository's control folder."""
        main = self.repository("linked", "evil")
        own(main, "[core]\n\trepositoryformatversion = 1\n")
        own(main, "[extensions]\n\tworktreeConfig = true\n")
        run_git(main, "worktree", "add", "-q", str(self.folder / "tree"), "-b", "side")
        [control] = (main / ".git/worktrees").iterdir()
        (control / "config.worktree").write_text(self.trap(PLAIN))
        await self.judge("linked worktree", self.folder / "tree")

    async def unguarded(self, root: Path, *words: str) -> None:
        """Git as the service starts it, with nothing put over what is configured."""
        repository = recognise_repository(os.fsencode(root))
        assert repository is not None
        await self.runner.read(
            repository, words, actor=GitActor(), timeout=60, overrides={}, limit=1 << 20
        )

    async def test_driver_configured_after_the_check_does_not_run(self) -> None:
        """What comes to be configured when nobody looks any more is not run either."""
        if not is_supported():
            raise SkipTest("this kernel has no Landlock")
        for name, words in BEHIND.items():
            root = self.repository(name, "evil")
            own(root, self.trap('[filter "evil"]\n\tclean = TRAP\n\tsmudge = TRAP\n'))
            self.spoil(root)
            run_git(root, *words)
            self.assertTrue(self.mark.exists(), f"plain git {name}")
            self.mark.unlink()
            self.spoil(root)
            await self.unguarded(root, *(word.replace("AGAIN", "ours") for word in words))
            self.assertFalse(self.mark.exists(), name)

    async def test_endless_configuration_includes_give_an_error_in_time(self) -> None:
        """A pipe, a device, a file that includes itself: an error in time, and no more."""
        for number, path in enumerate(("pipe", "/dev/zero", "/dev/tty", "config", ".")):
            root = self.repository(f"endless{number}", "evil")
            os.mkfifo(root / ".git/pipe")
            own(root, f"[include]\n\tpath = {path}\n")
            answer = await self.service.get_status(
                GitWorkspace(inside=ANYWHERE, folder=str(root)), BRIEF
            )
            self.assertIn(answer["state"], ("error", "ok"), path)
            self.assertLessEqual(len(answer.get("error") or ""), 300, path)
        root = self.repository("after", "evil")
        await self.status(self.service, root)


def _attribute(driver: str) -> str:
    """The driver as a value in C{.gitattributes}, where nothing can be quoted."""
    assert not set(driver) & set(" \t\n")
    return driver
