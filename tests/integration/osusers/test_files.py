"""Files of an account with an OS user: everything is done as that user."""

from __future__ import annotations

import gzip
import http.client
import os
from pathlib import Path
from urllib.parse import urlsplit

from twisted.trial.unittest import SynchronousTestCase

from tests.integration.files import PNG, SessionFiles, files_of, form_body
from tests.integration.harness import PATIENCE
from tests.integration.osusers.harness import (
    ADMIN,
    PASSWORD,
    MultiuserDaemon,
    OsUserFactory,
    run_as,
)
from tests.non_empty import require_items
from tests.unit.http.gate_harness import basic_headers


class OsUserFilesTests(SynchronousTestCase):
    """C{ann}'s session works in a home that only she may enter."""

    def setUp(self) -> None:
        self.people = OsUserFactory()
        self.addCleanup(self.people.close)
        self.ann = self.people.make()
        self.service = MultiuserDaemon()
        self.addCleanup(self.service.close)
        self.service.account("ann", self.ann.name)
        self.home = self.ann.home
        found = run_as(self.ann, "sh", "-c", "echo mine > note; mkdir sub; echo log > log")
        self.assertEqual("", found.stderr)
        headers = basic_headers("ann", PASSWORD)
        self.files: SessionFiles = files_of(self.service.daemon, self.home, headers)

    def root_s(self, path: Path, mode: int = 0o600) -> None:
        """A file of root's that ann may not read, wherever it lies."""
        path.write_text("of root")
        path.chmod(mode)

    def archive(self, path: str) -> bytes:
        where = f"/api/download?sessionId={self.files.session}&path={path}"
        answer = self.service.daemon.request("GET", where, None, self.files.headers)
        self.assertEqual(200, answer.status)
        return answer.body

    def test_files_are_read_and_written_as_the_os_user(self) -> None:
        self.assertEqual("mine\n", self.files.get("file-content", "note").data()["content"])
        self.assertEqual(b"mine\n", self.files.get("file-raw", "note").body)
        listed = self.files.get("files").data()["tree"]
        self.assertEqual(["sub", "log", "note"], [each["name"] for each in listed])
        new = {"path": "sub/new", "content": "x", "baseHash": None}
        self.files.send("PUT", "file-content", new).data()
        kept = self.files.post_form("paste-image", form_body(("image", "a", PNG))).data()
        for path in (self.home / "sub/new", Path(kept["path"]), Path(kept["path"]).parent):
            found = path.stat()
            self.assertEqual((self.ann.uid, self.ann.gid), (found.st_uid, found.st_gid), path)
        self.assertIn(b"sub/new", gzip.decompress(self.archive("sub")))

    def test_files_closed_to_the_os_user_stay_closed(self) -> None:
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

    def test_status_of_a_case_is_read_as_its_user(self) -> None:
        """No session needs to be in it, so none says whose the place is."""
        made = self.service.good("ann", "POST", "/api/cases", {"name": "mine"})
        folder = made["case"]["path"]
        self.assertEqual("", run_as(self.ann, "git", "-C", folder, "init", "-q").stderr)
        status = self.service.good("ann", "GET", "/api/cases/mine/git-status?fresh=1")
        self.assertEqual(["."], [each["path"] for each in status["repos"]], status)

    def test_open_descriptors_of_the_service_are_closed_to_other_users(self) -> None:
        """The kernel's links to it lead past the rights of the folders above."""
        theirs = self.held_open_for_ben()
        own = self.home / "work"
        own.mkdir()
        os.chown(own, self.ann.uid, self.ann.gid)
        made = {"mode": "shell", "workingDir": str(own)}
        session = self.service.good("ann", "POST", "/api/sessions", made)["session"]["id"]
        own.rmdir()
        for number in require_items(theirs):
            link = f"/proc/self/fd/{number}"
            own.unlink(missing_ok=True)
            own.symlink_to(link)
            for path in (
                f"/api/cases/browse?path={link}",
                f"/api/cases/browse?path={own}",
                f"/api/sessions/{session}/files",
                f"/api/sessions/{session}/file-content?path=log",
                f"/api/sessions/{session}/git-status",
            ):
                answer = self.service.ask("ann", "GET", path)
                self.assertNotIn(b"hidden", answer.body, path)
                self.assertNotIn(b"of ben", answer.body, path)

    def held_open_for_ben(self) -> list[int]:
        """Descriptors of the service at a folder of his, which all may read, but not reach."""
        ben = self.people.make()
        self.service.account("ben", ben.name)
        script = "mkdir -m 755 open; mkdir open/hidden; echo of ben > open/log"
        self.assertEqual("", run_as(ben, "sh", "-c", script).stderr)
        folder = str(ben.home / "open")
        made = {"mode": "shell", "workingDir": folder}
        session = self.service.good("ben", "POST", "/api/sessions", made)["session"]["id"]
        daemon = self.service.daemon
        where = urlsplit(daemon.url)
        following = http.client.HTTPConnection(str(where.hostname), where.port, timeout=PATIENCE)
        self.addCleanup(following.close)
        path = f"/api/sessions/{session}/tail-file?path=log"
        following.request("GET", path, headers=basic_headers("ben", PASSWORD))
        self.assertEqual(200, following.getresponse().status)
        links = Path(f"/proc/{daemon.pid}/fd").iterdir()
        found = [int(each.name) for each in links if _leads_to(each) == folder]
        self.assertNotEqual([], found)
        return found

    def test_download_by_link_ends_with_the_right(self) -> None:
        """In the middle of a file that is larger than what may lie on the way."""
        size = 64 << 20
        (self.home / "large").write_bytes(bytes(size))
        (self.home / "large").chmod(0o644)
        made = self.files.send("POST", "file-link", {"path": "large"}).data()
        with self.files.connection() as connection:
            connection.request("GET", made["url"])
            answer = connection.getresponse()
            self.assertEqual((200, b"\0"), (answer.status, answer.read(1)))
            self.service.good(ADMIN, "PATCH", "/api/admin/users/ann", {"enabled": False})
            with self.assertRaises((ConnectionResetError, http.client.IncompleteRead)):
                answer.read()

    def test_upload_into_a_folder_of_root_is_refused(self) -> None:
        (self.home / ".service-uploads").mkdir(mode=0o755)
        answer = self.files.post_form("uploads", form_body(("file", "a", b"x")))
        self.assertEqual(403, answer.status)
        self.assertEqual([], os.listdir(self.home / ".service-uploads"))


def _leads_to(link: Path) -> str:
    try:
        return os.readlink(link)
    except FileNotFoundError:
        return ""  # it was closed meanwhile
