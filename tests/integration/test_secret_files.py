"""Files whose names tell of credentials, by every way that hands out files of a workspace."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.integration.files import SessionFiles, files_of
from tests.integration.harness import DaemonHarness
from tests.secret_names import HARMLESS, NAMES


class SecretFileRouteTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.daemon = DaemonHarness().start()
        self.addCleanup(self.daemon.close)
        self.folder = self.daemon.folder / "ws"
        self.folder.mkdir()
        self.files = files_of(self.daemon, self.folder)

    def put(self, *names: str) -> None:
        for name in names:
            file = self.folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("x")

    def link(self, path: str, target: str) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        os.symlink(target, self.folder / path)

    def packed(self, files: SessionFiles, path: str) -> set[str]:
        """Return the names of the regular files in the archive of a folder."""
        where = f"/api/download?sessionId={files.session}&path={path}"
        answer = self.daemon.request("GET", where)
        with tarfile.open(fileobj=io.BytesIO(answer.body)) as found:
            return {each.name.partition("/")[2] for each in found if each.isfile()}

    def refused(self, answer: Any, what: str) -> None:
        self.assertEqual(403, answer.status, what)
        self.assertIn("secrets", answer.json()["error"])

    def test_secret_files_known_to_scanners_are_refused_on_every_route(self) -> None:
        self.put(*NAMES, *HARMLESS)
        self.assertEqual({*HARMLESS}, self.packed(self.files, "."))
        for name in NAMES:
            for asked in (name, f"./{name.replace('/', '//')}", str(self.folder / name)):
                for route in ("file-content", "file-raw", "tail-file"):
                    self.refused(self.files.get(route, asked), f"{route} {asked}")
            body = {"path": name, "content": "", "baseHash": None, "force": True}
            self.refused(self.files.send("PUT", "file-content", body), name)
            self.refused(self.files.send("POST", "file-link", {"path": name}), name)
            self.assertEqual("x", (self.folder / name).read_text())
        for name in HARMLESS:
            self.files.get("file-content", name).data()

    def test_folders_above_a_secret_file_count_as_part_of_its_name(self) -> None:
        """A workspace, a folder and a link that are part of the name of a secret."""
        self.put(".kube/config", "kubeconf/config")
        self.link("deep/.kube", "../kubeconf")
        self.link("innocent", ".kube/config")
        for path in ("deep/.kube/config", "innocent", "deep/.kube/x/../config"):
            (self.folder / "kubeconf" / "x").mkdir(exist_ok=True)
            self.refused(self.files.get("file-raw", path), path)
        inside = files_of(self.daemon, self.folder / ".kube")
        self.refused(inside.get("file-content", "config"), "inside")
        for files, path in ((inside, "."), (self.files, ".kube"), (self.files, "deep/.kube")):
            self.assertEqual(set(), self.packed(files, path), path)
        self.assertEqual({"config"}, self.packed(self.files, "kubeconf"))

    def test_secret_file_of_a_linked_workspace_is_refused(self) -> None:
        self.put("kubeconf/config")
        self.link(".kube", "kubeconf")
        inside = files_of(self.daemon, Path(self.folder, ".kube"))
        self.refused(inside.get("file-content", "config"), "by its link")
        self.assertEqual(set(), self.packed(inside, "."))
