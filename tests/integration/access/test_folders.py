"""Accounts' folders on the real daemon: whose they are, and how they were called before."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from tests.integration.harness import DaemonAnswer, DaemonCase
from tests.unit.git.random_repositories import run_git
from tests.unit.http.gate_harness import basic_headers
from tests.unit.tap.oldfolders import age
from tests.waiting import PATIENCE, wait_until

WORD = "long enough"
ADMIN, BOB = basic_headers("admin", WORD), basic_headers("bob", WORD)


class FolderCase(DaemonCase):
    def setUp(self) -> None:
        super().setUp()
        self.service = self.daemon(SERVICE_PASSWORD=WORD)
        self.cases = self.service.folder / "cases"

    def start_with_accounts(self) -> None:
        self.service.environment["SERVICE_MULTIUSER"] = "1"
        self.service.start()

    def add_bob(self) -> None:
        body = {"username": "bob", "password": WORD, "canBypassPermissions": True}
        self.service.request("POST", "/api/admin/users", body, ADMIN).data()

    def ask(self, method: str, path: str, body: Any = None) -> DaemonAnswer:
        return self.service.request(method, path, body, BOB)

    def case(self, name: str) -> Path:
        self.ask("POST", "/api/cases", {"name": name}).data()
        return Path(self.ask("GET", f"/api/cases/{name}").data()["path"])

    def shell(self, **where: str) -> DaemonAnswer:
        return self.ask("POST", "/api/sessions", {"mode": "shell", "start": True, **where})

    def names(self) -> list[str]:
        return [each["name"] for each in self.ask("GET", "/api/cases").data()]


class OwnershipTests(FolderCase):
    def test_account_named_like_an_old_case_does_not_own_its_folder(self) -> None:
        self.service.start()
        self.service.request("POST", "/api/cases", {"name": "bob"}, ADMIN).data()
        (self.cases / "bob" / "inner").mkdir()
        self.service.stop()
        self.start_with_accounts()
        self.add_bob()
        self.assertEqual([], self.names())
        self.assertEqual(403, self.shell(workingDir=str(self.cases / "bob")).status)
        self.assertEqual(403, self.shell(workingDir=str(self.cases / "bob" / "inner")).status)
        self.assertNotEqual(self.cases / "bob", self.case("shop").parent)

    def test_namesake_of_a_removed_account_gets_another_folder(self) -> None:
        self.start_with_accounts()
        self.add_bob()
        first = self.case("shop")
        (first / "secret").write_text("of the first bob")
        self.service.request("DELETE", "/api/admin/users/bob", headers=ADMIN).data()
        self.add_bob()
        self.assertEqual([], self.names())
        self.assertEqual(403, self.shell(workingDir=str(first)).status)
        second = self.case("shop")
        self.assertNotEqual(first, second)
        self.assertEqual("of the first bob", (first / "secret").read_text())
        self.service.restart()
        self.assertEqual(["shop"], self.names())
        self.assertEqual(str(second), self.ask("GET", "/api/cases/shop").data()["path"])

    def test_admin_still_reads_files_of_a_removed_account_s_session(self) -> None:
        self.start_with_accounts()
        self.add_bob()
        folder = self.case("shop")
        (folder / "note").write_text("kept")
        session = self.shell(caseName="shop").data()["session"]["id"]
        self.service.request("DELETE", "/api/admin/users/bob", headers=ADMIN).data()
        for _ in range(2):
            path = f"/api/sessions/{session}/file-content?path=note"
            found = self.service.request("GET", path, headers=ADMIN).data()
            self.assertEqual("kept", found["content"])
            self.service.restart()


class UpgradeTests(FolderCase):
    """The folder moves while a session runs in it."""

    def setUp(self) -> None:
        super().setUp()
        self.start_with_accounts()
        self.add_bob()
        folder = self.case("shop")
        run_git(folder, "init", "-q", "-b", "main")
        run_git(folder, "add", "-A")
        run_git(folder, "commit", "-q", "-m", "first")
        self.ask("POST", "/api/cases/shop/worktree", {"branch": "fix"}).data()
        self.session = self.shell(caseName="shop").data()["session"]["id"]
        self.service.kill()
        age(self.service.data / "tservice.db", self.cases)
        self.go_to(self.cases / "bob" / "shop")
        self.service.start()
        self.folder = self.service.cases_of("bob") / "shop"

    def type(self, line: str, made: Path) -> None:
        body = {"input": f"{line}\r", "useMux": True}
        self.ask("POST", f"/api/sessions/{self.session}/input", body).data()
        wait_until(f"{made.name} is there", made.exists)

    def go_to(self, folder: Path) -> None:
        """Have the shell know its folder by the path that the version of before gave it."""
        socket = self.service.data / "mux" / f"{self.session}.sock"
        line = f"cd {folder} && touch ready"
        words = ["tmux", "-S", str(socket), "send-keys", line, "Enter"]
        subprocess.run(words, check=True, timeout=PATIENCE)
        wait_until("the shell is there", (folder / "ready").exists)

    def get(self, what: str = "") -> Any:
        return self.ask("GET", f"/api/sessions/{self.session}{what}").data()

    def test_session_works_on_in_the_moved_folder(self) -> None:
        found = self.get()
        self.assertEqual(str(self.folder), found["workingDir"])
        self.assertIsNotNone(found["pid"])
        self.type("pwd -P > where && touch done", self.folder / "done")
        self.assertEqual(str(self.folder), (self.folder / "where").read_text().strip())
        # What goes by the path of before comes there, too.
        self.type('cd "$PWD" && touch again', self.folder / "again")
        (repository,) = self.get("/git-status")["repos"]
        self.assertEqual("main", repository["status"]["branch"])
        self.assertIn("again", str(self.get("/files")))
        self.assertEqual("kept", self.kept("kept"))

    def kept(self, text: str) -> str:
        (self.folder / "note").write_text(text)
        return str(self.get("/file-content?path=note")["content"])

    def test_session_starts_again_in_the_moved_folder(self) -> None:
        pid = self.get()["pid"]
        self.type("exit", self.folder / "ready")
        wait_until("its end", lambda: self.get()["pid"] is None)
        self.ask("POST", f"/api/sessions/{self.session}/start", {}).data()
        self.assertNotIn(self.get()["pid"], (None, pid))
        self.type("pwd -P > where && pwd >> where && touch done", self.folder / "done")
        self.assertEqual(2 * [str(self.folder)], (self.folder / "where").read_text().split())

    def test_cases_worktrees_and_old_paths_still_work(self) -> None:
        self.assertEqual(["shop", "shop-fix"], sorted(self.names()))
        tree = self.ask("GET", "/api/cases/shop-fix").data()
        self.assertEqual(str(self.folder.with_name("shop-fix")), tree["path"])
        self.assertEqual(str(self.folder), tree["worktree"]["repository"])
        self.assertEqual(200, self.shell(workingDir=str(self.cases / "bob" / "shop")).status)
        self.assertEqual(200, self.ask("DELETE", "/api/cases/shop-fix?force=1").status)
        self.assertEqual(["shop"], self.names())

    def test_namesake_does_not_come_in_by_the_old_path(self) -> None:
        self.ask("DELETE", f"/api/sessions/{self.session}").data()
        self.service.request("DELETE", "/api/admin/users/bob", headers=ADMIN).data()
        self.add_bob()
        self.assertEqual([], self.names())
        for path in (self.folder, self.cases / "bob" / "shop", self.cases / "bob"):
            self.assertEqual(403, self.shell(workingDir=str(path)).status)
