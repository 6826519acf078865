"""What is lost with a worktree that is removed: asked of the real daemon, with the real git."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.integration.git_harness import DaemonGitCase
from tests.integration.git_servers import commit_files, make_repository, run_git

FILES = ("-c", "protocol.file.allow=always")
"""Git fetches submodules from folders only when it is told to."""


class RemovalCase(DaemonGitCase):
    """Each test has a repository without a remote, and a worktree of it that is a case."""

    def setUp(self) -> None:
        self.name = self.id().rpartition(".")[2].removeprefix("test_")[:60]
        self.main = make_repository(self.daemon.folder / "mains" / self.name)
        self.ask("POST", "/link", {"name": self.name, "path": str(self.main)}).data()
        self.tree, self.case = self.worktree("w")

    def worktree(self, branch: str) -> tuple[Path, str]:
        """Where a new one is, and its name."""
        made = self.ask("POST", f"/{self.name}/worktree", {"branch": branch}).data()["case"]
        return Path(made["path"]), made["name"]

    def refused_for(self, *words: str) -> str:
        """The removal is refused for these reasons, and nothing has changed."""
        answer = self.ask("DELETE", f"/{self.case}")
        text = self.refused(answer, 409, words[0])
        for word in words:
            self.assertIn(word, text)
        self.assertTrue(self.tree.is_dir())
        return text

    def removed(self) -> None:
        self.ask("DELETE", f"/{self.case}").data()
        self.assertFalse(self.tree.exists())

    def commit_detached(self, folder: Path | None = None) -> str:
        """A new commit of no branch, and what it is called."""
        where = folder or self.tree
        run_git(where, "checkout", "-q", "--detach")
        commit_files(where, detached="x\n")
        return run_git(where, "rev-parse", "HEAD").strip()


class RemovalOfCommitsTests(RemovalCase):
    def test_commit_on_detached_head_prevents_removal(self) -> None:
        lost = self.commit_detached()
        self.refused_for("it has 1 commit that no branch has", lost[:9])
        run_git(self.main, "branch", "saved", lost)
        self.removed()

    def test_commit_of_another_worktree_does_not_prevent_removal(self) -> None:
        lost = self.commit_detached()
        run_git(self.main, "checkout", "-q", lost)
        self.removed()

    def test_commit_only_in_a_missing_worktree_is_refused(self) -> None:
        """Git forgets such a worktree at the next occasion."""
        lost = self.commit_detached()
        other = self.daemon.folder / f"gone-{self.name}"
        run_git(self.main, "worktree", "add", "-q", "--detach", str(other), lost)
        shutil.rmtree(other)
        self.refused_for("1 commit that no branch has")

    def test_commit_only_in_the_reflog_is_refused(self) -> None:
        lost = self.commit_detached()
        run_git(self.tree, "checkout", "-q", "w")
        self.refused_for("1 commit that only its reflog has", lost[:9])
        run_git(self.main, "tag", "saved", lost)
        self.removed()

    def test_worktree_with_amended_and_rebased_commits_is_removed(self) -> None:
        """The reflog of the branch, which stays, has what was before."""
        commit_files(self.tree, one="1\n")
        run_git(self.tree, "commit", "-q", "--amend", "-m", "better")
        commit_files(self.main, other="2\n")
        run_git(self.tree, "rebase", "-q", "main")
        self.removed()

    def test_rebase_in_progress_prevents_removal(self) -> None:
        commit_files(self.tree, file="mine\n")
        commit_files(self.main, file="other\n")
        with self.assertRaises(AssertionError):
            run_git(self.tree, "rebase", "main")
        self.refused_for("1 uncommitted change", "an unfinished rebase")

    def test_bisect_in_progress_prevents_removal(self) -> None:
        commit_files(self.tree, more="1\n")
        run_git(self.tree, "bisect", "start", "HEAD", "HEAD~1")
        self.refused_for("an unfinished bisect")
        run_git(self.tree, "bisect", "reset")
        self.removed()

    def test_staged_orphan_branch_is_uncommitted_work(self) -> None:
        run_git(self.tree, "switch", "-q", "--orphan", "fresh")
        (self.tree / "staged").write_text("x\n")
        run_git(self.tree, "add", "staged")
        self.refused_for("1 uncommitted change")

    def test_branch_of_a_removed_worktree_stays(self) -> None:
        commit_files(self.tree, more="1\n")
        self.removed()
        self.assertIn("w", run_git(self.main, "branch", "--format=%(refname:short)").split())


class RemovalOfChangesTests(RemovalCase):
    def test_staged_change_undone_in_the_file_prevents_removal(self) -> None:
        (self.tree / "file").write_text("staged\n")
        run_git(self.tree, "add", "file")
        (self.tree / "file").write_text("content\n")
        self.refused_for("1 uncommitted change")

    def test_changes_hidden_by_index_flags_are_uncommitted_work(self) -> None:
        for flag in ("assume-unchanged", "skip-worktree"):
            run_git(self.tree, "update-index", f"--{flag}", "file")
            (self.tree / "file").write_text("changed\n")
            self.refused_for("1 uncommitted change")
            (self.tree / "file").write_text("content\n")
            run_git(self.tree, "update-index", f"--no-{flag}", "file")
        run_git(self.tree, "update-index", "--skip-worktree", "file")
        self.removed()

    def test_hidden_untracked_files_prevent_removal(self) -> None:
        run_git(self.main, "config", "status.showUntrackedFiles", "no")
        (self.tree / "new").write_text("x\n")
        self.refused_for("1 uncommitted change")

    def test_locked_worktree_is_removed_only_by_force(self) -> None:
        run_git(self.main, "worktree", "lock", "--reason", "on a stick", str(self.tree))
        self.refused_for("git worktree lock (on a stick)")
        self.ask("DELETE", f"/{self.case}?force=1").data()
        self.assertFalse(self.tree.exists())

    def test_ignored_file_with_secrets_prevents_removal(self) -> None:
        """One that the case itself has as well is not lost."""
        (self.main / ".git" / "info" / "exclude").write_text(".env*\n*.pem\nnode_modules\n")
        (self.tree / "node_modules").mkdir()
        (self.tree / "node_modules" / "cacert.pem").write_text("x\n")
        (self.main / ".env.local").write_text("KEY=1\n")
        (self.tree / ".env.local").write_text("KEY=2\n")
        self.refused_for("1 ignored file with secrets (.env.local)")
        (self.tree / ".env.local").write_text("KEY=1\n")
        self.removed()

    def test_ignored_build_files_do_not_prevent_removal(self) -> None:
        """The repository says that they can be made again (protocol-worktrees)."""
        (self.main / ".git" / "info" / "exclude").write_text("*.o\nnode_modules\n")
        (self.tree / "node_modules").mkdir()
        (self.tree / "node_modules" / "x").write_text("x\n")
        (self.tree / "a.o").write_text("x\n")
        self.removed()


class NestedTests(RemovalCase):
    FOLDERS = ("build", "vendor", "node_modules", "dist", "target", "venv", "__pycache__", ".cache")

    def setUp(self) -> None:
        super().setUp()
        names = "".join(f"{name}/\n" for name in (*self.FOLDERS, "deep"))
        (self.main / ".git" / "info" / "exclude").write_text(names)

    def test_repository_within_a_tool_folder_prevents_removal(self) -> None:
        for name in self.FOLDERS:
            inner = make_repository(self.tree / name / "a" / "b")
            self.refused_for(f"{name}/a/b has 1 commit that no branch of a remote has")
            shutil.rmtree(inner)
        self.removed()

    def test_unpushed_work_of_a_nested_clone_prevents_removal(self) -> None:
        inner = self.tree / "deep" / "clone"
        run_git(self.tree, "clone", "-q", str(self.main), str(inner))
        for spoil, mend, word in (
            (lambda: self.commit_detached(inner), ("checkout", "-q", "main"), "1 commit that no"),
            (lambda: run_git(inner, "tag", "kept", "HEAD@{1}"), ("tag", "-d", "kept"),
             "its reflog"),
            (lambda: run_git(inner, "branch", "side", "HEAD@{1}"), ("branch", "-D", "side"),
             "1 commit that no branch of a remote has"),
            (lambda: self.stash(inner), ("stash", "drop"), "1 stash"),
        ):  # fmt: skip
            spoil()
            self.refused_for("deep/clone has ", word)
            run_git(inner, *mend)
        run_git(inner, "reflog", "expire", "--expire=now", "--all")
        self.removed()

    def stash(self, folder: Path) -> None:
        (folder / "file").write_text("changed\n")
        run_git(folder, "stash", "-q")

    def test_nested_bare_repository_with_local_commits_is_refused(self) -> None:
        bare = self.tree / "deep" / "store"
        bare.mkdir(parents=True)
        run_git(bare, "init", "-q", "--bare")
        run_git(self.tree, "push", "-q", str(bare), "w:refs/heads/main")
        self.refused_for("deep/store has 1 commit that no branch of a remote has")
        shutil.rmtree(bare)
        self.removed()

    def test_nested_repositories_without_a_commit_do_not_prevent_removal(self) -> None:
        """Also where the worktree itself has none, and one of them has other hashes."""
        for name, more in (("a", ()), ("b", ("--bare",)), ("c", ("--object-format=sha256",))):
            (self.tree / "deep" / name).mkdir(parents=True)
            run_git(self.tree / "deep" / name, "init", "-q", *more)
        run_git(self.tree, "switch", "-q", "--orphan", "fresh")
        self.removed()

    def test_nested_worktree_of_another_repository_prevents_removal(self) -> None:
        other = make_repository(self.daemon.folder / "mains" / f"other-{self.name}")
        inner = self.tree / "vendor" / "tree"
        run_git(other, "worktree", "add", "-q", str(inner))
        lost = self.commit_detached(inner)
        self.refused_for("vendor/tree has 1 commit that no branch has")
        run_git(other, "branch", "saved", lost)
        self.removed()

    def test_git_file_that_leads_nowhere_prevents_removal(self) -> None:
        (self.tree / "vendor").mkdir()
        (self.tree / "vendor" / ".git").write_text("gitdir: /nowhere\n")
        self.refused_for("vendor has a .git that leads to no repository")

    def test_nested_repository_with_a_worktree_elsewhere_prevents_removal(self) -> None:
        inner = make_repository(self.tree / "deep" / "in")
        away = self.daemon.folder / f"away-{self.name}"
        run_git(inner, "worktree", "add", "-q", str(away))
        self.refused_for("deep/in has ", "1 worktree elsewhere")


class SubmoduleTests(RemovalCase):
    def setUp(self) -> None:
        super().setUp()
        self.source = make_repository(self.remotes / f"lib-{self.name}")
        run_git(self.main, *FILES, "submodule", "add", "-q", str(self.source), "vendor/lib")
        run_git(self.main, "commit", "-q", "-m", "lib")
        run_git(self.tree, "merge", "-q", "--ff-only", "main")
        run_git(self.tree, *FILES, "submodule", "update", "-q", "--init")
        self.lib = self.tree / "vendor" / "lib"

    def test_edited_file_of_a_submodule_is_refused(self) -> None:
        (self.lib / "file").write_text("changed\n")
        self.refused_for("vendor/lib has 1 uncommitted change")
        run_git(self.lib, "checkout", "-q", "file")
        self.removed()

    def test_unpushed_commit_of_a_submodule_is_refused(self) -> None:
        self.commit_detached(self.lib)
        run_git(self.lib, "checkout", "-q", "HEAD~1")
        self.refused_for("vendor/lib has 1 commit that only its reflog has")

    def test_commit_of_a_submodule_not_checked_out_is_refused(self) -> None:
        """Its repository is kept beside the worktree, and goes with it."""
        run_git(self.lib, "checkout", "-q", "-b", "side")
        commit_files(self.lib, more="x\n")
        run_git(self.tree, "submodule", "deinit", "-q", "-f", "vendor/lib")
        self.refused_for("the submodule vendor/lib has 1 commit that no branch of a remote has")

    def test_commit_of_a_nested_submodule_is_refused(self) -> None:
        inner = make_repository(self.remotes / f"inner-{self.name}")
        run_git(self.lib, *FILES, "submodule", "add", "-q", str(inner), "build/inner")
        run_git(self.lib, "commit", "-q", "-m", "inner")
        run_git(self.lib, "push", "-q", "origin", "HEAD:refs/heads/pushed")
        run_git(self.lib, "fetch", "-q")
        commit_files(self.lib / "build" / "inner", more="x\n")
        self.refused_for("vendor/lib/build/inner has ", "commit that no branch of a remote has")


class RemovalOfMissingWorktreeTests(RemovalCase):
    """The folder of the worktree is gone, or was."""

    def test_missing_folder_with_a_commit_on_detached_head(self) -> None:
        lost = self.commit_detached()
        moved = self.tree.with_name(f"moved-{self.name}")
        self.tree.rename(moved)
        answer = self.ask("DELETE", f"/{self.case}")
        self.refused(answer, 409, "1 commit that no branch has")
        run_git(self.main, "branch", "saved", lost)
        self.ask("DELETE", f"/{self.case}").data()

    def test_removal_keeps_the_record_of_another_missing_worktree(self) -> None:
        other, _ = self.worktree("other")
        lost = self.commit_detached(other)
        away = other.with_name(f"away-{self.name}")
        other.rename(away)
        self.removed()
        away.rename(other)
        self.assertEqual(lost, run_git(other, "rev-parse", "HEAD").strip())

    def test_unreadable_worktree_is_refused(self) -> None:
        if os.geteuid() == 0:
            return  # nothing is closed to root
        (self.tree / "file").write_text("changed\n")
        self.tree.chmod(0)
        self.addCleanup(self.tree.chmod, 0o700)
        self.assertIn(self.ask("DELETE", f"/{self.case}").status, (409, 422))

    def test_plain_folder_at_the_worktree_path_stays(self) -> None:
        shutil.rmtree(self.tree)
        self.tree.mkdir()
        (self.tree / "mine").write_text("x\n")
        self.ask("DELETE", f"/{self.case}").data()
        self.assertTrue((self.tree / "mine").exists())


class LocalTests(DaemonGitCase):
    """A local case is moved to the trash; what is clean needs no force."""

    def local(self, name: str) -> Path:
        self.ask("POST", "", {"name": name}).data()
        case = self.cases / name
        run_git(case, "init", "-q", "-b", "main")
        commit_files(case)
        return case

    def test_unsaved_detached_commit_of_a_local_repository_prevents_removal(self) -> None:
        case = self.local("detached")
        run_git(case, "checkout", "-q", "--detach")
        commit_files(case, more="x\n")
        self.refused(self.ask("DELETE", "/detached"), 409, "1 commit that no branch has")
        run_git(case, "tag", "kept")
        self.ask("DELETE", "/detached").data()

    def test_changed_repository_within_a_tool_folder_prevents_removal(self) -> None:
        case = self.local("tools")
        (case / ".git" / "info" / "exclude").write_text("vendor/\n")
        inner = make_repository(case / "vendor" / "lib")
        (inner / "file").write_text("changed\n")
        self.refused(self.ask("DELETE", "/tools"), 409, "vendor/lib has 1 uncommitted change")
