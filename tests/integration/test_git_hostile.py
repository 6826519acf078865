"""A repository that tries to run something whenever it is read.

Each trick would leave a canary file of its own; a control run of plain git shows that the traps
themselves work.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any

from twisted.internet import reactor
from twisted.trial.unittest import TestCase

from tests.unit.git.random_repositories import run_git
from tests.unit.git.real_git import folder_fingerprint, own_folder, real_service
from tservice.core.locations.workspace_bounds import ANYWHERE
from tservice.git.model import ChangeKind, GitOptions
from tservice.git.service import GitWorkspace

FRESH = GitOptions(fresh=True)
BRIEF = GitOptions(fresh=True, timeout=5)

CONFIG = """
[core]
\tfsmonitor = {trap} fsmonitor
\thooksPath = {hooks}
\tpager = {trap} pager
\teditor = {trap} editor
\taskPass = {trap} askpass
\tsshCommand = {trap} ssh
\tgitProxy = {trap} proxy
\talternateRefsCommand = {trap} alternates
\tworktree = /etc
[include]
\tpath = included
[includeIf "gitdir:**"]
\tpath = included-if
[diff]
\texternal = {trap} external
\tsubmodule = diff
\tignoreSubmodules = none
[diff "evil"]
\tcommand = {trap} diff-command
\ttextconv = {trap} textconv
[filter "evil"]
\tclean = {trap} clean
\tsmudge = {trap} smudge
\trequired = true
[filter "serving"]
\tprocess = {trap} process
\trequired = true
[filter "x=y.z"]
\tclean = {trap} dotted
[pager]
\tstatus = {trap} pager-status
\tdiff = {trap} pager-diff
[alias]
\tstatus = !{trap} alias
[gpg]
\tprogram = {trap} gpg
[log]
\tshowSignature = true
[credential]
\thelper = !{trap} credential
[status]
\tsubmoduleSummary = true
\taheadBehind = false
[submodule]
\trecurse = true
[submodule "sub"]
\tignore = none
\tupdate = !{trap} update
[remote "origin"]
\turl = ext::{trap} transport
\tpromisor = true
\tuploadpack = {trap} uploadpack
\tpartialclonefilter = blob:none
[protocol "ext"]
\tallow = always
[extensions]
\tpartialClone = origin
\tworktreeConfig = true
[branch "main"]
\tremote = origin
\tmerge = refs/heads/main
"""

ATTRIBUTES = """*.clean filter=evil diff=evil
*.proc filter=serving
*.inc filter=included
*.cond filter=conditional
*.wt filter=worktree
*.dot filter=x=y.z
*.ident ident
"""
NAMES = ("a.clean", "b.proc", "c.inc", "d.cond", "e.wt", "f.dot", "g.ident")
HOOKS = ("post-index-change", "pre-commit", "post-checkout", "reference-transaction", "fsmonitor")


class TrapRepository:
    """A repository full of tricks, a submodule of the same kind inside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.canaries = folder / "canaries"
        self.canaries.mkdir(parents=True)
        self.script = folder / "trap"
        # A transport is spoken to: it must not answer, or both would wait for ever.
        lines = (
            "#!/bin/sh",
            f': > "{self.canaries}/$1-of-$(basename "$0")"',
            '[ "$1" = transport ] || [ -t 0 ] || cat',
        )
        self.script.write_text("\n".join(lines) + "\n")
        self.script.chmod(0o755)
        self.root = folder / "repo"
        self._fill(self.root)
        self._fill(self.root / "sub")
        run_git(self.root, "add", "-A")
        self._commit(self.root)
        # The pointer moves: a diff could go on inside the submodule.
        (self.root / "sub" / "a.clean").write_text("third\n")
        run_git(self.root / "sub", "add", "a.clean")
        self._commit(self.root / "sub")
        self._arm(self.root / "sub", self.root / "sub" / ".git")
        self._arm(self.root, self.root / ".git")

    def sprung(self) -> list[str]:
        """The tricks that ran, which are then forgotten."""
        found = sorted(path.name for path in self.canaries.iterdir())
        for name in found:
            (self.canaries / name).unlink()
        return found

    def _fill(self, root: Path) -> None:
        root.mkdir()
        run_git(root, "init", "-q", "-b", "main", "--template=")
        (root / ".gitattributes").write_text(ATTRIBUTES)
        for name in NAMES:
            (root / name).write_text("first\n")
        run_git(root, "-c", "core.hooksPath=/dev/null", "add", "-A")
        self._commit(root)

    def _commit(self, root: Path) -> None:
        tree = run_git(root, "write-tree").decode().strip()
        signed = (
            f"tree {tree}\nauthor A <a@x> 1700000000 +0000\ncommitter A <a@x> 1700000000 +0000\n"
            "gpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\nsigned\n"
        )
        words = ("hash-object", "-t", "commit", "-w", "--stdin")
        name = run_git(root, *words, stdin=signed.encode()).decode().strip()
        run_git(root, "update-ref", "refs/heads/main", name)

    def _arm(self, root: Path, control: Path) -> None:
        hooks = control / "hooks"
        hooks.mkdir(exist_ok=True)
        for hook in HOOKS:
            shutil.copy(self.script, hooks / hook)
        base = (control / "config").read_text()
        base = base.replace("repositoryformatversion = 0", "repositoryformatversion = 1")
        (control / "config").write_text(base + CONFIG.format(trap=self.script, hooks=hooks))
        for file, driver in (
            ("included", "included"),
            ("included-if", "conditional"),
            ("config.worktree", "worktree"),
        ):
            text = f'[filter "{driver}"]\n\tclean = {self.script} {driver}\n\trequired = true\n'
            (control / file).write_text(text)
        for name in NAMES:
            # Same size, other time: only the content can tell, and that goes through filters.
            (root / name).write_text("secnd\n")
            os.utime(root / name, (1, 1))
        (root / "new.clean").write_text("untracked\n")


class HostileRepositoryTests(TestCase):
    """Nothing runs, nothing is written."""

    timeout = 120

    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).resolve()
        self.trap = TrapRepository(self.folder)
        self.service, runner = real_service(reactor, self.folder / "home")
        self.addCleanup(runner.stop)
        self.workspace = GitWorkspace(inside=ANYWHERE, folder=str(self.trap.root))

    async def status(self) -> dict[str, Any]:
        answer = await self.service.get_status(self.workspace, FRESH)
        self.assertEqual("ok", answer["state"], answer)
        status: dict[str, Any] = answer["repos"][0]["status"]
        return status

    def test_hostile_traps_fire_under_plain_git(self) -> None:
        """Plain git springs them: the canaries of the other tests mean something."""
        root = self.trap.root
        run_git(root, "--work-tree=.", "status", fails=True)
        for name in NAMES:
            run_git(root, "--work-tree=.", "diff", "--", name, fails=True)
            run_git(root, "--work-tree=.", "-c", "diff.external=", "diff", "--", name, fails=True)
        run_git(root, "log", "-1", fails=True)
        sprung = {name.partition("-of-")[0] for name in self.trap.sprung()}
        filters = {"clean", "process", "included", "conditional", "worktree", "dotted"}
        self.assertLessEqual({"fsmonitor", "external", "diff-command", *filters}, sprung)

    async def test_status_runs_no_trap_and_writes_nothing(self) -> None:
        before = folder_fingerprint(self.trap.root)
        status = await self.status()
        self.assertEqual([], self.trap.sprung())
        self.assertEqual(before, folder_fingerprint(self.trap.root))
        self.assertEqual(len(NAMES) + 1, status["counts"]["unstaged"], "and the submodule")
        self.assertEqual(1, status["counts"]["untracked"])
        self.assertEqual(1, status["unpushedCount"])
        self.assertEqual("signed", status["unpushed"][0]["subject"])

    async def test_diffs_run_no_trap_and_write_nothing(self) -> None:
        run_git(self.trap.root, "--work-tree=.", "-c", "core.fsmonitor=false",
            "-c", "core.hooksPath=/dev/null", "update-index", "--add", "--cacheinfo",
            "100644," + run_git(self.trap.root, "rev-parse", "HEAD:g.ident").decode().strip()
            + ",added.clean")  # fmt: skip
        self.trap.sprung()
        before = folder_fingerprint(self.trap.root)
        status = await self.status()
        self.assertIn("staged", {row["kind"] for row in status["files"]})
        for row in status["files"]:
            answer = await self.service.get_diff(
                self.workspace,
                status["repoRoot"],
                row["path"],
                ChangeKind(row["kind"]),
                GitOptions(),
            )
            self.assertIn("diff --git", answer["diff"], row)
        self.assertEqual([], self.trap.sprung())
        self.assertEqual(before, folder_fingerprint(self.trap.root))

    async def test_missing_object_of_a_partial_clone_is_not_fetched(self) -> None:
        """A partial clone's promise is not redeemed, over whatever transport."""
        name = run_git(self.trap.root, "rev-parse", "HEAD:a.clean").decode().strip()
        (self.trap.root / ".git" / "objects" / name[:2] / name[2:]).unlink()
        before = folder_fingerprint(self.trap.root)
        status = await self.status()
        error = await self._diff_error(status["repoRoot"])
        self.assertLessEqual(len(error), 300)
        self.assertEqual([], self.trap.sprung())
        self.assertEqual(before, folder_fingerprint(self.trap.root))
        run_git(self.trap.root, "cat-file", "-p", name, fails=True)
        self.assertIn("transport-of-trap", self.trap.sprung(), "the trap itself works")

    async def _diff_error(self, root: str) -> str:
        try:
            answer = await self.service.get_diff(
                self.workspace, root, "a.clean", ChangeKind.UNSTAGED, GitOptions()
            )
        except Exception as error:
            return str(error)
        return f"no error: {answer}"

    async def test_fifos_and_link_loops_in_a_repository_do_not_block(self) -> None:
        """What would block for ever is cut short by the time limit, or never opened."""
        os.mkfifo(self.trap.root / "pipe")
        (self.trap.root / "loop").symlink_to("loop")
        (self.trap.root / "around").symlink_to(".")
        status = await self.status()
        paths = {row["path"] for row in status["files"]}
        self.assertLessEqual({"loop", "around"}, paths)
        link = await self.service.get_diff(
            self.workspace, status["repoRoot"], "around", ChangeKind.UNTRACKED, GitOptions()
        )
        self.assertIn("new file mode 120000", link["diff"])

    async def test_fifo_instead_of_the_index_times_out(self) -> None:
        index = self.trap.root / ".git" / "index"
        index.unlink()
        os.mkfifo(index)
        answer = await self.service.get_status(self.workspace, BRIEF)
        self.assertEqual("error", answer["state"])
        self.assertEqual("git timed out after 5 s", answer["error"])

    async def test_fifo_instead_of_the_gitfile_is_no_repository(self) -> None:
        folder = self.folder / "piped"
        folder.mkdir()
        os.mkfifo(folder / ".git")
        answer = await self.service.get_status(
            GitWorkspace(inside=ANYWHERE, folder=str(folder)), FRESH
        )
        self.assertEqual("not-a-repo", answer["state"])


class RepositoryOwnerTests(TestCase):
    """Somebody else's repository, seen by root."""

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files away")
    async def test_root_reads_a_repository_as_its_owner(self) -> None:
        """A file that only root may read stays unread."""
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        os.chmod(folder, 0o755)
        run_git(folder, "init", "-q", "--template=", "repo")
        (folder / "repo" / "secret").write_text("x\n")
        run_git(folder / "repo", "add", "secret")
        for here, _, files in os.walk(folder / "repo"):
            for name in [".", *files]:
                os.chown(os.path.join(here, name), 65534, 65534)
        os.chown(folder / "repo" / ".git" / "index", 0, 0)
        (folder / "repo" / ".git" / "index").chmod(0o600)
        service, runner = real_service(reactor, folder / "home")
        self.addCleanup(runner.stop)
        answer = await service.get_status(
            GitWorkspace(inside=ANYWHERE, folder=str(folder / "repo")), FRESH
        )
        self.assertEqual("error", answer["state"])
        self.assertIn("Permission denied", answer["error"])
        os.chown(folder / "repo" / ".git" / "index", 65534, 65534)
        answer = await service.get_status(
            GitWorkspace(inside=ANYWHERE, folder=str(folder / "repo")), FRESH
        )
        self.assertEqual(1, answer["repos"][0]["status"]["counts"]["staged"])

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files away")
    async def test_repository_of_mixed_owners_is_refused(self) -> None:
        folder = own_folder(self)
        folder.mkdir()
        run_git(folder, "init", "-q", "--template=", "repo")
        os.chown(folder / "repo" / ".git", 65534, 65534)
        service, runner = real_service(reactor, folder / "home")
        self.addCleanup(runner.stop)
        answer = await service.get_status(
            GitWorkspace(inside=ANYWHERE, folder=str(folder / "repo")), GitOptions()
        )
        self.assertEqual("error", answer["state"])
        self.assertIn("dubious ownership", answer["error"])
