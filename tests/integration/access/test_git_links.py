"""Repositories that lead git out of the workspace of an account, on the real daemon."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import SkipTest

from tests.integration.access.harness import BOB, TEXT, KeptCase
from tests.unit.git.random_repositories import run_git
from tservice.core.process.landlock import is_supported


def need_landlock() -> None:
    if not is_supported():
        raise SkipTest("the kernel has no Landlock")


class LedOutTests(KeptCase):
    def setUp(self) -> None:
        super().setUp()
        run_git(self.other, "add", "note")
        run_git(self.other, "commit", "-q", "-m", "one")
        self.session = f"/api/sessions/{self.shell(self.folder)}"

    def own(self) -> Path:
        """A repository of C{bob}'s in his case; its control folder."""
        run_git(self.folder, "init", "-q", "-b", "main")
        (self.folder / "file").write_text("mine")
        run_git(self.folder, "add", "file")
        run_git(self.folder, "commit", "-q", "-m", "one")
        return self.folder / ".git"

    def status(self) -> Any:
        path = f"{self.session}/git-status?fresh=1"
        return self.service.request("GET", path, headers=BOB).data()

    def untracked(self) -> list[str]:
        [found] = self.status()["repos"]
        files = found["status"]["files"]
        return [each["path"] for each in files if each["kind"] == "untracked"]

    def worktree(self, branch: str, **more: str) -> int:
        """The status of the answer to whoever asks for one."""
        body = {"branch": branch, **more}
        return self.service.request("POST", "/api/cases/shop/worktree", body, BOB).status

    def assert_not_shown(self, branch: str, **more: str) -> None:
        before = run_git(self.other, "for-each-ref")
        self.assertEqual(422, self.worktree(branch, **more))
        self.assertFalse((self.folder.parent / f"shop-{branch}").exists())
        self.assertEqual(before, run_git(self.other, "for-each-ref"))
        shown = self.status()
        self.assertNotIn("note", str(shown))

    def test_own_repository_is_read_and_written(self) -> None:
        self.own()
        (self.folder / "new").write_text("x")
        [found] = self.status()["repos"]
        self.assertEqual("main", found["status"]["branch"])
        self.assertIn("new", self.untracked())
        self.assertEqual(200, self.worktree("b"))
        self.assertEqual("mine", (self.folder.parent / "shop-b/file").read_text())
        path = "/api/cases/shop-b?force=1"
        self.assertEqual(200, self.service.request("DELETE", path, headers=BOB).status)
        self.assertFalse((self.folder.parent / "shop-b").exists())

    def test_git_pointer_to_another_repository_is_not_followed(self) -> None:
        (self.folder / ".git").write_text(f"gitdir: {self.other}/.git\n")
        self.assertEqual(b"note\n", run_git(self.folder, "ls-files"))
        self.assert_not_shown("hid")
        self.assertEqual("not-a-repo", self.status()["state"])

    def test_common_folder_of_another_repository_is_not_read(self) -> None:
        control = self.own()
        (control / "commondir").write_text(f"{self.other}/.git\n")
        self.assertEqual(b"one", run_git(self.folder, "log", "-1", "--format=%s", "main").strip())
        self.assert_not_shown("hid")

    def test_objects_of_another_repository_are_not_read(self) -> None:
        need_landlock()
        control = self.own()
        commit = run_git(self.other, "rev-parse", "HEAD").decode().strip()
        (control / "objects/info").mkdir(exist_ok=True)
        (control / "objects/info/alternates").write_text(f"{self.other}/.git/objects\n")
        self.assertEqual(TEXT, run_git(self.folder, "show", f"{commit}:note").decode())
        self.assert_not_shown("hid", **{"from": commit})

    def test_git_settings_that_name_a_foreign_file_are_ignored(self) -> None:
        """What a file elsewhere says can be told by what git makes of it."""
        need_landlock()
        control = self.own()
        (self.folder / "secret-word").write_text("")
        words = self.other / "words"
        words.write_text("secret-word\n")
        with (control / "config").open("a") as file:
            file.write(f"[core]\n\texcludesFile = {words}\n")
        self.assertNotIn(b"secret-word", run_git(self.folder, "status", "--porcelain"))
        listed = self.status()["repos"]
        words.write_text("another-word\n")
        self.assertEqual(self.timeless(listed), self.timeless(self.status()["repos"]))

    def timeless(self, repos: Any) -> Any:
        return [{**each["status"], "checkedAt": 0} for each in repos]

    def test_links_inside_the_repository_do_not_lead_out(self) -> None:
        need_landlock()
        control = self.own()
        (control / "objects").rename(control / "was")
        (control / "objects").symlink_to(self.other / ".git/objects")
        commit = run_git(self.other, "rev-parse", "HEAD").decode().strip()
        self.assertEqual(TEXT, run_git(self.folder, "show", f"{commit}:note").decode())
        self.assert_not_shown("hid", **{"from": commit})
