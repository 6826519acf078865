"""Workspaces that have become something else than what they were made on, on the real daemon."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tests.integration.access.harness import ADMIN, BOB, KeptCase
from tests.integration.harness import DaemonAnswer

OUTSIDE = "workingDir: outside the workspace of this account"


class TurnedTests(KeptCase):
    """The workspace is a folder in the case."""

    def setUp(self) -> None:
        super().setUp()
        self.folder /= "w"
        self.folder.mkdir()
        self.session = self.shell(self.folder)

    def turn(self, target: str | Path) -> None:
        """Put a link to C{target} in the place of the workspace."""
        self.folder.rmdir()
        os.symlink(target, self.folder)

    def answers(self) -> Iterator[DaemonAnswer]:
        """Each way by which the service itself reads or writes there, or starts something."""
        at, ask = f"/api/sessions/{self.session}", self.service.request
        for query in ("files", "file-content?path=note", "file-raw?path=note", "git-status"):
            yield ask("GET", f"{at}/{query}", headers=BOB)
        yield ask("GET", f"/api/download?sessionId={self.session}&path=.", headers=BOB)
        new = {"path": "new", "content": "x", "baseHash": None}
        yield ask("PUT", f"{at}/file-content", new, BOB)
        yield ask("POST", f"{at}/start", headers=BOB)

    def assert_all_refused(self) -> None:
        before = sorted(os.listdir(self.other))
        # What is let in follows the file for as long as it is asked to.
        path = f"/api/sessions/{self.session}/tail-file?path=note"
        for answer in (*self.answers(), self.service.request("GET", path, headers=BOB)):
            self.assertEqual((403, OUTSIDE), (answer.status, answer.json()["error"]))
        self.assertEqual(before, sorted(os.listdir(self.other)))

    def test_workspace_turned_into_a_link_to_foreign_files_is_refused(self) -> None:
        self.turn(self.other)
        self.assert_all_refused()

    def test_workspace_turned_into_a_link_to_own_files_is_allowed(self) -> None:
        own = self.folder.parent / "v"
        own.mkdir()
        (own / "note").write_text("mine")
        self.turn(own)
        for answer in self.answers():
            self.assertEqual(200, answer.status, answer.body)
        self.assertIn("new", os.listdir(own))

    def test_workspace_turned_into_a_link_to_proc_is_refused(self) -> None:
        self.turn("/proc/self")
        *readings, git_status, whole, saved, started = self.answers()
        for answer in (*readings, whole, saved):
            self.assertEqual(400, answer.status, answer.body)
            self.assertIn("/proc", answer.json()["error"])
        self.assertEqual("error", git_status.data()["state"])
        self.assertEqual(422, started.status)

    def test_workspace_of_a_demoted_admin_is_judged_again(self) -> None:
        """What was free to choose then is judged by what is free now."""
        self.service.request("PATCH", "/api/admin/users/bob", {"role": "admin"}, ADMIN).data()
        self.session = self.shell(self.other)
        self.service.request("GET", f"/api/sessions/{self.session}/files", headers=BOB).data()
        self.service.request("PATCH", "/api/admin/users/bob", {"role": "user"}, ADMIN).data()
        self.assert_all_refused()
