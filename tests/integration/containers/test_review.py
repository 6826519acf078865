"""Review of a session in a container, by the real daemon (protocol-review)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tests.integration.containers.case_harness import USER, CaseTestCase
from tests.integration.containers.images import PROGRAMS
from tests.waiting import wait_until

IMAGE = "localhost/review:1"
GIT = ("git", "git-receive-pack", "git-upload-pack")
POSIX = ("readlink", "ln", "mv", "cp", "find", "grep")
IDENTITY = (
    "export GIT_CONFIG_COUNT=0; git config --global user.name A;"
    " git config --global user.email a@example.org"
)


class PodmanReviewTests(CaseTestCase):
    """Comparison, comments, reverts, commits and pushes in there."""

    def test_changes_in_a_container_are_reviewed(self) -> None:
        self.engine.image(IMAGE, (*PROGRAMS, *GIT, *POSIX))
        self.ask("POST", "/api/container-hosts", self.host("Review", IMAGE))
        case = self.case("review")
        folder = self.daemon.folder / case
        session = self.session(case)
        begin = (
            f"{IDENTITY}; git init -q -b main && git init -q --bare remote.git;"
            " git remote add origin /workspace/remote.git; echo remote.git > .git/info/exclude;"
            " seq 9 > numbers; git add -A; git commit -q -m first;"
            " seq 2 9 > numbers; echo x > new; echo do-$((6*7))ne"
        )
        self.type(session, begin, 1)
        self.until_shown(session, "do-42ne")
        found = self.ask("GET", f"/api/sessions/{session}/changes")
        (repository,) = found["repositories"]
        files = {each["path"]: each for each in repository["files"]}
        self.assertEqual({"new", "numbers"}, set(files), found)
        self.assertEqual((1, 1), (files["new"]["added"], files["numbers"]["removed"]))
        self.comment(session)
        self.revert(session, folder, files["numbers"]["hash"])
        self.commit_and_push(session, folder)
        self.engine.run("stop", f"service-case-{case}")
        self.refused("GET", f"/api/sessions/{session}/changes", None, 422)
        state = self.ask("GET", f"/api/cases/{case}/container")["state"]
        self.assertEqual("exited", state, "reading starts nothing")

    def comment(self, session: str) -> None:
        body = {"path": "new", "line": 1, "text": "Say more"}
        self.ask("POST", f"/api/sessions/{session}/comments", body)
        self.type(session, "seq 3 > new; echo x >> new; echo mo-$((6*7))ved", 2)
        self.until_shown(session, "mo-42ved")

        def anchor() -> Any:
            (comment,) = self.ask("GET", f"/api/sessions/{session}/comments")["comments"]
            return comment["anchor"]

        wait_until("the line", lambda: anchor().get("line") == 4, told=anchor)

    def revert(self, session: str, folder: Path, hash_: str) -> None:
        where = f"/api/sessions/{session}/changes/revert"
        body = {"path": "numbers", "hash": hash_, "evenWhileBusy": True}
        self.refused("POST", where, {**body, "hash": "0" * 40}, 409)
        done = self.ask("POST", where, body)
        file = folder / "numbers"
        self.assertEqual("1\n2\n", file.read_text()[:4])
        self.assertEqual(USER, file.stat().st_uid)
        self.ask("POST", f"{where}/undo", {"undoId": done["undoIds"][0]})
        self.assertEqual("2\n", file.read_text()[:2])
        self.assertEqual([], [name for name in os.listdir(folder) if name.startswith(".review")])

    def commit_and_push(self, session: str, folder: Path) -> None:
        hook = folder / ".git/hooks/pre-commit"
        hook.parent.mkdir()
        hook.write_text("#!/bin/sh\necho hook-$(id -u)-$PWD\n")
        hook.chmod(0o755)
        where = f"/api/sessions/{session}/changes"
        done = self.ask("POST", f"{where}/commit", {"message": "Do it", "all": True})
        self.assertIn(f"hook-{USER}-/workspace", done["output"])
        self.ask("POST", f"{where}/push", {"setUpstream": True})
        pushed = (folder / "remote.git/refs/heads/main").read_text().strip()
        self.assertEqual(done["commit"], pushed)
        view = self.ask("GET", f"{where}/pull-request")
        self.assertEqual("no-remote", view["reason"])
