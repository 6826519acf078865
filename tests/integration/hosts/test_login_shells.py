"""Remote hosts whose login shell prints before it runs anything, through a real sshd."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.integration.harness import DaemonHarness
from tests.sshd import SshServer
from tests.waiting import wait_until

NOISE = "printf '\\033[1mWelcome\\033[0m\\n%%begin 1 1 0\\nhere\\nPATH=/wrong\\n'"
"""Colours, words that our own answers consist of, and a line of tmux's control mode."""

OPEN_END = "printf 'no line end: '"
STARTUP = {
    "bash": (".bashrc",),
    "zsh": (".zshenv",),
    "fish": (".config/fish/config.fish",),
    "tcsh": (".tcshrc",),
    "bsd-csh": (".cshrc",),
}
"""What each shell reads for a command of sshd's."""

PROFILE = {
    "bash": (".bash_profile", "export PATH=$PATH:{}"),
    "zsh": (".zprofile", "export PATH=$PATH:{}"),
    "fish": (".config/fish/conf.d/path.fish", "set -gx PATH $PATH {}"),
    "tcsh": (".login", "setenv PATH ${{PATH}}:{}"),
    "bsd-csh": (".login", "setenv PATH ${{PATH}}:{}"),
}
"""Where a login shell's C{PATH} is set, and how."""


@pytest.mark.long
class LoginShellTests(SynchronousTestCase):
    """One daemon; for each shell an sshd that has it run what clients ask for."""

    daemon: DaemonHarness

    @classmethod
    def setUpClass(cls) -> None:
        cls.daemon = DaemonHarness().start()
        # A folder of a host cannot be seen, so that it would be asked about.
        cls.daemon.request("PUT", "/api/settings", {"trustFolders": "always"}).data()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.daemon.close()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        return self.daemon.request(method, "/api" + path, body).data()

    def sshd(self, shell: str) -> SshServer:
        """With C{shell} in the place of the user's login shell, and a banner and a motd."""
        program = shutil.which(shell)
        assert program is not None, f"{shell} is not installed"
        folder = self.daemon.folder / shell
        folder.mkdir()
        banner = folder / "banner"
        banner.write_text("This machine is watched.\n")
        sshd = SshServer(
            folder / "far",
            f'ForceCommand SHELL={program} exec {program} -c "$SSH_ORIGINAL_COMMAND"',
            f"Banner {banner}",
            "PrintMotd yes",
            # The user's own shell, which sshd runs first, speaks as well.
            BASH_ENV=str(folder / "env"),
        )
        # Without it zsh asks a new user questions.
        (sshd.home / ".zshrc").touch()
        # Without it fish reads every manual page in the background.
        (sshd.home / ".local/share/fish/generated_completions").mkdir(parents=True)
        (folder / "env").write_text("echo from the environment\n")
        return sshd

    def test_noise_of_every_login_shell_is_skipped(self) -> None:
        for shell, names in STARTUP.items():
            with closing(self.sshd(shell)) as sshd:
                for name in names:
                    path = sshd.home / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(f"{NOISE}\necho to stderr | cat 1>&2\n{OPEN_END}\n")
                self.speaks(shell, sshd)

    def speaks(self, shell: str, sshd: SshServer) -> None:
        """A host is checked, and a session there is started, typed into, taken up and ended."""
        name, text = PROFILE[shell]
        odd = sshd.home / "odd tools" if shell not in ("tcsh", "bsd-csh") else sshd.home / "odd"
        odd.mkdir()
        path = sshd.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write(f"{NOISE}\n{text.format(repr(str(odd)))}\n")
        ran = self.program(sshd, "claude")
        host = self.host(shell, sshd)
        found = self.call("POST", f"/remote-hosts/{host}/check")
        self.assertTrue(found["ok"], (shell, found))
        self.assertRegex(found["tmux"], r"^\d+\.\d+", shell)
        case = f"at-{shell}"
        (sshd.home / case).mkdir()
        body = {"name": case, "hostId": host, "remotePath": f"~/{case}"}
        self.call("POST", "/cases/remote-link", body)
        wanted = {"caseName": case, "mode": "shell", "start": True}
        session = self.call("POST", "/sessions", wanted)["session"]["id"]
        self.type(session, "expr 123456 + 1\r", 0)
        self.shows(session, "123457")
        agent = self.call("POST", "/sessions", {**wanted, "mode": "primary"})["session"]["id"]
        wait_until("the agent", ran.exists, told=lambda: self.daemon.log[-4000:])
        self.assertIn(str(odd), ran.read_text(), shell)
        self.call("DELETE", f"/sessions/{agent}")
        self.daemon.restart()
        wait_until(f"the terminal of {shell}", lambda: self.type(session, "expr 123458 + 1\r", 1))
        self.shows(session, "123459")
        self.call("DELETE", f"/sessions/{session}")
        self.call("DELETE", f"/cases/{case}")
        self.call("DELETE", f"/remote-hosts/{host}")

    def program(self, sshd: SshServer, name: str) -> Path:
        """A program of npm's that only a version manager's folder has, and what it leaves there."""
        folder = sshd.home / ".nvm/versions/node/v22.1.0/bin"
        folder.mkdir(parents=True)
        (folder / name).write_text("#!/usr/bin/env node\n")
        ran = sshd.home / "ran"
        (folder / "node").write_text(
            f"#!/bin/sh\necho $PATH > {ran}.new\nmv {ran}.new {ran}\ncat\n"
        )
        for path in folder.iterdir():
            path.chmod(0o755)
        return ran

    def host(self, shell: str, sshd: SshServer) -> str:
        body = {
            "label": shell,
            "host": "127.0.0.1",
            "username": os.environ.get("USER", "root"),
            "port": sshd.port,
            "identityFile": str(sshd.key),
        }
        host = str(self.call("POST", "/remote-hosts", body)["host"]["id"])
        shown = self.call("POST", f"/remote-hosts/{host}/check")["fingerprint"]
        self.call("POST", f"/remote-hosts/{host}/trust", {"fingerprint": shown})
        return host

    def type(self, session: str, text: str, seq: int) -> bool:
        body = {"input": text, "clientId": "c", "seq": seq, "useMux": False}
        return self.daemon.request("POST", f"/api/sessions/{session}/input", body).status == 200

    def shows(self, session: str, text: str) -> str:
        """The screen once C{text} is on it."""

        def screen() -> str:
            found = str(self.call("GET", f"/sessions/{session}/terminal")["terminalBuffer"])
            return found if text in found else ""

        return wait_until(f"{text} on the screen", screen, told=lambda: self.daemon.log[-4000:])
