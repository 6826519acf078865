"""Checkouts without submodules and files of Git LFS, and what fetches these."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from tests.integration.git_harness import DaemonGitCase
from tests.integration.git_servers import commit_files, make_repository, run_git
from tests.waiting import wait_until

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 8\n"
LFS = """#!/bin/sh
# Plays git-lfs: "pull" fills in what the tracked pointers stand for.
test "$1" = pull || exit 1
for file in *.bin; do
    if grep -q '^version https://git-lfs' "$file"; then echo contents >"$file"; fi
done
"""
SUBMODULES = "submodules were not cloned"
FILTERS = "filters such as Git LFS were not run: their files hold pointers"


class PrepareTests(DaemonGitCase):
    programs: ClassVar[Path]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.programs = cls.daemon.folder / "programs"
        cls.programs.mkdir()
        (cls.programs / "git-lfs").write_text(LFS)
        (cls.programs / "git-lfs").chmod(0o755)
        lfs = f"[alias]\n\tlfs = !{cls.programs}/git-lfs\n"
        config = f'[protocol "file"]\n\tallow = always\n{lfs}'
        (cls.daemon.home / ".gitconfig").write_text(config)

    def linked(self, name: str, *, lfs: bool = True, submodule: bool = True) -> Path:
        """A case of a repository that has both, or one of them."""
        path = self.daemon.folder / f"{name}.source"
        files = {"a.bin": POINTER, ".gitattributes": "*.bin filter=lfs\n"} if lfs else {}
        make_repository(path, file="x\n", **files)
        if submodule:
            lib = make_repository(self.remotes / f"{name}-lib", file="library\n")
            options = ("-c", "protocol.file.allow=always")
            run_git(path, *options, "submodule", "add", "-q", str(lib), "vendor/lib")
            run_git(path, "commit", "-q", "-m", "lib")
        self.ask("POST", "/link", {"name": name, "path": str(path)}).data()
        return path

    def prepare(self, name: str) -> tuple[str | None, list[str]]:
        found = self.ask("POST", f"/{quote(name, safe='')}/prepare").data()
        return found.get("sessionId"), found["commands"]

    def test_worktree_warns_of_missing_content_and_prepare_fetches_it(self) -> None:
        self.linked("whole")
        made = self.ask("POST", "/whole/worktree", {"branch": "修复"}).data()
        self.assertEqual([SUBMODULES, FILTERS], made["warnings"])
        tree, name = Path(made["case"]["path"]), made["case"]["name"]
        session, commands = self.prepare(name)
        self.assertEqual(["git lfs pull", "git submodule update --init --recursive"], commands)
        shown = self.daemon.request("GET", f"/api/sessions/{session}").data()
        self.assertEqual(
            (name, str(tree), f"prepare {name}"),
            (shown["caseName"], shown["workingDir"], shown["name"]),
        )
        wait_until("the file is there", lambda: (tree / "a.bin").read_text() == "contents\n")
        wait_until("the submodule is there", (tree / "vendor" / "lib" / "file").exists)
        self.assertEqual((None, []), self.prepare(name))
        self.daemon.request("DELETE", f"/api/sessions/{session}").data()

    def test_clone_warns_of_missing_content(self) -> None:
        source = self.linked("cloned")
        found = self.clone("clone", str(source)).data()
        self.assertEqual([SUBMODULES, FILTERS], found["warnings"])
        session, commands = self.prepare("clone")
        self.assertEqual(2, len(commands))
        wait_until("the submodule is there", (self.cases / "clone/vendor/lib/file").exists)
        self.daemon.request("DELETE", f"/api/sessions/{session}").data()

    def test_worktree_preparation_handles_attributes_and_unused_filters(self) -> None:
        path = self.linked("attributes", lfs=False, submodule=False)
        commit_files(
            path, **{".gitattributes": "*.psd filter=lfs\n*.raw -filter\n", "a.raw": "x\n"}
        )
        made = self.ask("POST", "/attributes/worktree", {"branch": "none"}).data()
        self.assertEqual([], made["warnings"])
        (path / "sub").mkdir()
        commit_files(path, **{"sub/.gitattributes": "*.bin filter=lfs\n", "sub/a.bin": POINTER})
        made = self.ask("POST", "/attributes/worktree", {"branch": "some"}).data()
        self.assertEqual([FILTERS], made["warnings"])

    def test_session_in_a_worktree_warns_of_missing_content(self) -> None:
        self.linked("sessions", lfs=False)
        body = {"mode": "shell", "caseName": "sessions", "worktree": {"branch": "a"}}
        made = self.daemon.request("POST", "/api/sessions", body).data()
        self.assertEqual([SUBMODULES], made["warnings"])
        body = {**body, "worktree": {"branch": "b"}}
        quick = self.daemon.request("POST", "/api/quick-start", body).data()
        self.assertEqual([SUBMODULES], quick["warnings"])
        plain = self.daemon.request("POST", "/api/sessions", {"mode": "shell"}).data()
        self.assertNotIn("warnings", plain)

    def test_prepare_is_refused_without_a_case_or_repository(self) -> None:
        self.refused(self.ask("POST", "/none/prepare"), 404, "Case none")
        self.ask("POST", "", {"name": "bare"}).data()
        self.refused(self.ask("POST", "/bare/prepare"), 422, "not a git repository")
        self.assertEqual([], [name for name in os.listdir(self.cases) if "prepare" in name])
