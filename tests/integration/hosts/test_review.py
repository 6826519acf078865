"""Review of a session on a remote host: a real sshd on loopback (protocol-review)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tests.integration.hosts.remote_case import RemoteCase
from tests.unit.git.random_repositories import run_git
from tests.unit.review.forge.played_forge import PlayedForge, make_pull


class RemoteReviewTests(RemoteCase):
    """Comparison, comments, reverts, commits, pushes and pull requests there."""

    def prepare(self) -> tuple[str, Path]:
        """A session in a repository with one changed and one new file."""
        programs = self.sshd.home / ".local/bin"
        programs.mkdir(parents=True)
        PlayedForge(programs, "gh").play(
            pulls=[make_pull()], api={"repos/ann/clock/pulls/7/comments?per_page=100": []}
        )
        session = self.shell(self.trusted("review"), "reviewed")
        folder = self.sshd.home / "reviewed"
        run_git(folder, "init", "-q", "-b", "main")
        for name, value in (("user.name", "A"), ("user.email", "a@example.org")):
            run_git(folder, "config", name, value)
        (folder / "numbers").write_text("1\n2\n3\n")
        run_git(folder, "add", "-A")
        run_git(folder, "commit", "-q", "-m", "first")
        (folder / "numbers").write_text("2\n3\n")
        (folder / "new").write_text("x\n")
        return session, folder

    def test_changes_on_a_remote_host_are_reviewed(self) -> None:
        session, folder = self.prepare()
        where = f"/sessions/{session}"
        (repository,) = self.call("GET", f"{where}/changes")["repositories"]
        files = {each["path"]: each for each in repository["files"]}
        self.assertEqual({"new", "numbers"}, set(files))
        hunks = self.call("GET", f"{where}/changes/file?path=numbers")["hunks"]
        self.assertEqual("removed", hunks[0]["rows"][0]["kind"])
        body = {"path": "new", "line": 1, "text": "Say more"}
        self.call("POST", f"{where}/comments", body)
        (folder / "new").write_text("a\nb\nx\n")
        (comment,) = self.call("GET", f"{where}/comments")["comments"]
        self.assertEqual(("moved", 3), (comment["anchor"]["state"], comment["anchor"]["line"]))
        self.revert(where, folder, files["numbers"]["hash"])
        self.commit_and_push(where, folder)
        self.lose_the_way(where)

    def revert(self, where: str, folder: Path, hash_: str) -> None:
        body: dict[str, Any] = {"path": "numbers", "hash": hash_, "evenWhileBusy": True}
        self.call("POST", f"{where}/changes/revert", {**body, "hash": "0" * 40}, 409)
        done = self.call("POST", f"{where}/changes/revert", body)
        self.assertEqual("1\n2\n3\n", (folder / "numbers").read_text())
        undo = {"undoId": done["undoIds"][0]}
        self.call("POST", f"{where}/changes/revert/undo", undo)
        self.assertEqual("2\n3\n", (folder / "numbers").read_text())

    def commit_and_push(self, where: str, folder: Path) -> None:
        hook = folder / ".git/hooks/pre-commit"
        hook.write_text("#!/bin/sh\necho hook-in-$HOME\n")
        hook.chmod(0o755)
        self.call("GET", f"{where}/changes")
        message = {"message": "Do it\n\nBecause.", "all": True}
        done = self.call("POST", f"{where}/changes/commit", message)
        self.assertIn(f"hook-in-{self.sshd.home}", done["output"])
        self.assertEqual("Do it", run_git(folder, "log", "-1", "--format=%s").decode().strip())
        remote = self.sshd.home / "remote.git"
        remote.mkdir()
        run_git(remote, "init", "-q", "--bare")
        run_git(folder, "remote", "add", "origin", str(remote))
        self.call("POST", f"{where}/changes/push", {"setUpstream": True})
        self.assertEqual(done["commit"], run_git(remote, "rev-parse", "main").decode().strip())
        run_git(folder, "remote", "set-url", "origin", "git@github.com:ann/clock.git")
        view = self.call("GET", f"{where}/changes/pull-request")
        self.assertEqual(7, view["pullRequest"]["number"], view)

    def lose_the_way(self, where: str) -> None:
        """Reading says so at once, and wakes nothing."""
        self.sshd.stop()
        self.until(
            lambda: self.call("GET", f"{where}/reachability")["reachable"] is False, "the loss"
        )
        error = self.call("GET", f"{where}/changes", status=422)
        self.assertIn("out of reach", error)
        self.assertTrue(os.path.isdir(self.sshd.home))
