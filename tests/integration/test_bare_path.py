"""A service that was started with a bare PATH, as by systemd or cron."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from tests.integration.harness import DaemonCase, DaemonHarness
from tests.waiting import wait_until

BARE = "/usr/bin:/bin"
FOLDERS = (
    ".nvm/versions/node/v22.4.1/bin",
    ".local/share/fnm/node-versions/v20.1.0/installation/bin",
    ".volta/bin",
    ".asdf/shims",
    ".local/share/mise/shims",
    ".local/share/mise/installs/node/22.4.1/bin",
    ".bun/bin",
    ".local/share/pnpm",
    ".npm-global/bin",
    ".linuxbrew/bin",
    ".opencode/bin",
    ".claude/local",
    "their prefix/bin",
)
"""Below the home folder; the last one is what C{.npmrc} names."""


NODE = """#!/bin/sh
[ "$2" = --version ] && echo "9.8.7 (Claude Code)" && exit
echo "$0 $PATH" > "$HOME/ran.new"
mv "$HOME/ran.new" "$HOME/ran"
cat
"""
"""Stands for node: it says how it was started."""


class BarePathTests(DaemonCase):
    """Agents are found where people install them, and find what they need."""

    def bare(self, **environment: str) -> DaemonHarness:
        """A daemon whose PATH has tmux and the system's programs alone."""
        tools = self.folder_of_tmux()
        one = self.daemon(PATH=f"{tools}:{BARE}", **environment)
        (one.home / ".npmrc").write_text("# mine\nprefix = ${HOME}/their prefix\n")
        return one

    def folder_of_tmux(self) -> Path:
        """A folder with tmux, wherever this machine has it."""
        folder = Path(self.mktemp()).absolute()
        folder.mkdir(parents=True)
        (folder / "tmux").symlink_to(str(shutil.which("tmux")))
        return folder

    def install(self, folder: Path, name: str = "claude") -> None:
        """A program of npm's, and the node that it was installed with."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("#!/usr/bin/env node\n")
        (folder / "node").write_text(NODE)
        for each in (name, "node"):
            (folder / each).chmod(0o755)

    def primary(self, one: DaemonHarness, query: str = "") -> Any:
        found = one.request("GET", f"/api/clis{query}").data()
        return next(each for each in found if each["id"] == "primary")

    def test_cli_is_found_in_the_folders_of_every_installer(self) -> None:
        one = self.bare(SHELL="/bin/sh").start()
        shown = self.primary(one)
        self.assertFalse(shown["installed"])
        for folder in FOLDERS:
            at = one.home / folder
            self.assertIn(str(at).replace("v22.4.1", "*").replace("v20.1.0", "*")
                          .replace("node/22.4.1", "*/*"), shown["lookedIn"])  # fmt: skip
        for folder in FOLDERS:
            at = one.home / folder
            self.install(at)
            one.restart()
            self.assertEqual(str(at / "claude"), self.primary(one)["path"])
            shutil.rmtree(at)

    def test_pane_runs_the_cli_with_its_own_node(self) -> None:
        """Not with a node that the system has as well."""
        one = self.bare(SHELL="/bin/sh")
        at = one.home / FOLDERS[0]
        self.install(at)
        one.start()
        self.assertIn("9.8.7", self.primary(one, "?versions=true")["version"])
        work = one.folder / "work"
        work.mkdir()
        body = {"mode": "primary", "workingDir": str(work), "start": True}
        one.request("POST", "/api/sessions", body).data()
        ran = one.home / "ran"
        wait_until("the program", lambda: ran.exists() and ran.read_text(), told=lambda: one.log)
        node, _, path = ran.read_text().partition(" ")
        self.assertEqual(str(at / "node"), node)
        self.assertIn(BARE, path)

    def test_missing_program_error_names_the_folders_searched(self) -> None:
        one = self.bare(SHELL="/bin/sh").start()
        body = {"mode": "primary", "workingDir": str(one.home), "start": True}
        answer = one.request("POST", "/api/sessions", body)
        self.assertEqual(422, answer.status)
        self.assertIn("searched in", answer.json()["error"])
        self.assertIn(BARE, answer.json()["error"])
        report = one.request("GET", "/api/doctor?category=core").data()
        self.assertIn(str(one.home / ".bun/bin"), report["lookedIn"])
        self.install(one.home / ".bun/bin")
        one.restart()
        report = one.request("GET", "/api/doctor?category=core").data()
        row = next(each for each in report["tools"] if each["id"] == "cli-primary")
        self.assertEqual(("ok", "9.8.7"), (row["status"], row["version"]))

    def test_cli_is_found_in_the_folders_of_the_login_shell(self) -> None:
        for shell, name, text in (
            ("bash", ".bash_profile", "export PATH=$PATH:'{}'"),
            ("bash", ".profile", "case $- in *i*) . ./.bashrc;; esac"),
            ("zsh", ".zshrc", "export PATH=$PATH:'{}'"),
            ("fish", ".config/fish/config.fish", "set -gx PATH $PATH '{}'"),
            ("tcsh", ".login", 'setenv PATH "${{PATH}}:{}"'),
        ):
            one = self.bare(SHELL=str(shutil.which(shell)))
            at = one.home / "odd tools"
            self.install(at)
            # Without it fish reads every manual page in the background.
            (one.home / ".local/share/fish/generated_completions").mkdir(parents=True)
            (one.home / ".bashrc").write_text(f"export PATH=$PATH:'{at}'\n")
            path = one.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"echo hello; echo PATH=/wrong\n{text.format(at)}\n")
            one.start()
            self.assertEqual(str(at / "claude"), self.primary(one).get("path"), (shell, name))
            one.close()

    def test_unresponsive_login_shell_delays_a_start_only_briefly(self) -> None:
        """Nothing of it is left; what is found without it is found."""
        for text, why in (
            ("echo $$ > pid; sleep 1000", "did not answer within"),
            ("echo $$ > pid; yes", "prints too much"),
            ("echo $$ > pid; exit 3", "ended without an answer"),
        ):
            one = self.bare(SHELL="/bin/bash")
            (one.home / ".bash_profile").write_text(f"cd; {text}\n")
            self.install(one.home / ".bun/bin", "codex")
            one.start()
            shown = one.request("GET", "/api/clis").data()
            found = {each["id"]: each for each in shown}
            self.assertTrue(found["codex"]["installed"])
            self.assertIn(why, found["primary"]["loginShellProblem"])
            pid = int((one.home / "pid").read_text())
            wait_until("its end", lambda: not _lives(pid))  # noqa: B023
            one.close()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
