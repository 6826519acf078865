"""Worktrees of branches whose names are not ASCII, by the real daemon and the real git."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from urllib.parse import quote

from tests.integration.git_harness import DaemonGitCase
from tests.integration.git_servers import make_repository, run_git

BRANCHES = {
    "修复登录": "own-修复登录",
    "исправить/вход": "own-исправить-вход",
    "ログイン修正": "own-ログイン修正",
    "로그인-수정": "own-로그인-수정",
    "แก้ไข": "own-แก้ไข",
    "लॉगिन": "own-लॉगिन",
    "إصلاح": "own-إصلاح",
    "Straße/ünïx": "own-Straße-ünïx",
}
"""The names that branches give, where nothing is in the way."""

ALIKE = (
    ("fix/login", "fix-login", "Fix-Login", "fix.login"),
    (unicodedata.normalize("NFC", "é"), unicodedata.normalize("NFD", "é")),
    ("🚀", "🔥", "👩\u200d💻"),
    ("x" * 200, "x" * 201, "修" * 60 + "a", "修" * 60 + "b"),
    ("می\u200cروم", "می-روم"),
)
"""Branches that could be taken for one another."""


class WorktreeNameTests(DaemonGitCase):
    def setUp(self) -> None:
        if not (self.daemon.folder / "own").exists():
            source = make_repository(self.daemon.folder / "own")
            self.ask("POST", "/link", {"name": "own", "path": str(source)}).data()

    def made(self, branch: str) -> tuple[str, Path]:
        answer = self.ask("POST", "/own/worktree", {"branch": branch})
        self.assertEqual(200, answer.status, (branch, answer.body))
        case = answer.data()["case"]
        path = Path(case["path"])
        self.assertEqual(case["name"], path.name)
        head = run_git(path, "symbolic-ref", "HEAD").strip()
        self.assertEqual(f"refs/heads/{branch}", head)
        return case["name"], path

    def test_worktree_has_a_readable_name_and_folder(self) -> None:
        for branch, name in BRANCHES.items():
            self.assertEqual(name, self.made(branch)[0])
        self.refused(self.ask("POST", "/own/worktree", {"branch": "修复登录"}), 409, "修复登录")

    def test_similar_branch_names_give_different_worktrees(self) -> None:
        names = [self.made(branch)[0] for branches in ALIKE for branch in branches]
        self.assertEqual(len(names), len({name.lower() for name in names}), names)
        self.assertTrue(all(len(name) <= 128 for name in names), names)
        self.assertEqual("own-fix-login", names[0])
        self.assertTrue(all(len(name.encode()) <= 255 for name in names), names)

    def test_worktree_with_a_chinese_name_works_as_a_case(self) -> None:
        name, path = self.made("登录页")
        where = f"/{quote(name, safe='')}"
        self.assertEqual(str(path), self.ask("GET", where).data()["path"])
        self.assertIn("'branch': '登录页'", str(self.ask("GET", f"{where}/git-status").data()))
        order = self.ask("PUT", "/order", {"order": [name]}).data()["order"]
        self.assertEqual(name, order[0])
        body = {"mode": "shell", "caseName": name, "start": True}
        made = self.daemon.request("POST", "/api/sessions", body).data()["session"]
        self.assertEqual((name, str(path)), (made["caseName"], made["workingDir"]))
        quick = self.daemon.request("POST", "/api/quick-start", {"mode": "shell", "caseName": name})
        self.assertEqual(str(path), quick.data()["casePath"])
        for each in (made["id"], quick.data()["sessionId"]):
            self.daemon.request("DELETE", f"/api/sessions/{each}").data()
        self.ask("DELETE", where).data()
        self.assertFalse(path.exists())

    def test_typed_case_names_keep_the_stricter_rule(self) -> None:
        self.assertEqual(400, self.ask("POST", "", {"name": "登录"}).status)
        quick = {"mode": "shell", "caseName": "登录"}
        answer = self.daemon.request("POST", "/api/quick-start", quick)
        self.refused(answer, 400, "caseName")
        for name in ("a/b", "..", "a b", "a.b"):
            body = {"mode": "shell", "caseName": name}
            self.assertEqual(400, self.daemon.request("POST", "/api/sessions", body).status, name)
