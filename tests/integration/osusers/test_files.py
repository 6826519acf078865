"""Files of an account with an OS user: everything is done as that user."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.integration.files import PNG, Files, files_of, form
from tests.integration.osusers.people import PASSWORD, People, Service, run_as
from tests.unit.http.gatecase import basic


class FilesTests(SynchronousTestCase):
    """C{ann}'s session works in a home that only she may enter."""

    def setUp(self) -> None:
        self.people = People()
        self.addCleanup(self.people.close)
        self.ann = self.people.make()
        self.service = Service()
        self.addCleanup(self.service.close)
        self.service.account("ann", self.ann.name)
        self.home = self.ann.home
        found = run_as(self.ann, "sh", "-c", "echo mine > note; mkdir sub; echo log > log")
        self.assertEqual("", found.stderr)
        headers = basic("ann", PASSWORD)
        self.files: Files = files_of(self.service.daemon, self.home, headers)

    def root_s(self, path: Path, mode: int = 0o600) -> None:
        """A file of root's that ann may not read, wherever it lies."""
        path.write_text("of root")
        path.chmod(mode)

    def archive(self, path: str) -> bytes:
        where = f"/api/download?sessionId={self.files.session}&path={path}"
        answer = self.service.daemon.request("GET", where, None, self.files.headers)
        self.assertEqual(200, answer.status)
        return answer.body

    def test_what_is_hers_is_read_and_written_as_her(self) -> None:
        self.assertEqual("mine\n", self.files.get("file-content", "note").data()["content"])
        self.assertEqual(b"mine\n", self.files.get("file-raw", "note").body)
        listed = self.files.get("files").data()["tree"]
        self.assertEqual(["sub", "log", "note"], [each["name"] for each in listed])
        new = {"path": "sub/new", "content": "x", "baseHash": None}
        self.files.send("PUT", "file-content", new).data()
        kept = self.files.post_form("paste-image", form(("image", "a", PNG))).data()
        for path in (self.home / "sub/new", Path(kept["path"]), Path(kept["path"]).parent):
            found = path.stat()
            self.assertEqual((self.ann.uid, self.ann.gid), (found.st_uid, found.st_gid), path)
        self.assertIn(b"sub/new", gzip.decompress(self.archive("sub")))

    def test_what_is_closed_to_her_stays_closed(self) -> None:
        self.root_s(self.home / "of-root")
        (self.home / "folder-of-root").mkdir(mode=0o700)
        self.root_s(self.home / "folder-of-root/x", 0o644)
        for route in ("file-content", "file-raw", "tail-file"):
            for path in ("of-root", "folder-of-root/x"):
                answer = self.files.get(route, path)
                self.assertEqual(403, answer.status, (route, path, answer.body))
        whole = gzip.decompress(self.archive("."))
        self.assertIn(b"mine", whole)
        self.assertNotIn(b"of root", whole)
        new = {"path": "folder-of-root/new", "content": "x", "baseHash": None}
        self.assertEqual(403, self.files.send("PUT", "file-content", new).status)
        self.assertEqual(["x"], os.listdir(self.home / "folder-of-root"))

    def test_uploads_into_a_folder_of_root_s(self) -> None:
        (self.home / ".service-uploads").mkdir(mode=0o755)
        answer = self.files.post_form("uploads", form(("file", "a", b"x")))
        self.assertEqual(403, answer.status)
        self.assertEqual([], os.listdir(self.home / ".service-uploads"))
