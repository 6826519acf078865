"""What programs learn of their terminal, from a daemon that was started from another one."""

from __future__ import annotations

import re
from typing import Any

from tests.integration.harness import DaemonCase, DaemonHarness
from tests.waiting import wait_until
from tservice.mux.terminfo import find_local_term

ASK = r"""
stty -echo raw min 0 time 20
printf '%b' "$1"
reply=$(dd bs=4096 count=1 2>/dev/null; dd bs=4096 count=1 2>/dev/null)
stty sane
printf '%s' "$reply" | od -An -c | tr -d ' \n'
echo " :asked-$2"
"""
"""Prints all that comes within two seconds of silence."""


class TerminalQuestionTests(DaemonCase):
    asked = 0

    def shell(self, daemon: DaemonHarness) -> str:
        (daemon.home / "ask").write_text(ASK)
        body = {"mode": "shell", "workingDir": str(daemon.home), "start": True}
        return str(daemon.request("POST", "/api/sessions", body).data()["session"]["id"])

    def screen(self, daemon: DaemonHarness, session: str) -> str:
        found: dict[str, Any] = daemon.request("GET", f"/api/sessions/{session}/terminal").data()
        return re.sub(r"\x1b\[[0-9;]*m", "", found["terminalBuffer"])

    def run_line(self, daemon: DaemonHarness, session: str, line: str, seen: str) -> str:
        body = {"input": f"clear; {line}\r", "useMux": False}
        daemon.request("POST", f"/api/sessions/{session}/input", body)
        found = wait_until(
            seen,
            lambda: next(iter(re.findall(seen, self.screen(daemon, session))), None),
            told=lambda: self.screen(daemon, session),
        )
        return str(found)

    def ask(self, daemon: DaemonHarness, session: str, question: str) -> str:
        self.asked += 1
        line = f"sh ask '{question}' {self.asked}"
        return self.run_line(daemon, session, line, rf"(\S*) :asked-{self.asked}\b")

    def test_colour_query_is_answered_without_a_viewer(self) -> None:
        daemon = self.daemon(
            TERM="xterm-kitty", COLORTERM="24bit", LC_TERMINAL="iTerm2", KITTY_WINDOW_ID="1"
        )
        daemon.start()
        session = self.shell(daemon)
        said = self.run_line(
            daemon,
            session,
            "echo is-$TERM-$COLORTERM-$LC_TERMINAL$KITTY_WINDOW_ID.",
            r"(?m)^is-(\S+)",
        )
        self.assertEqual(f"{find_local_term()}-truecolor-.", said)
        self.assertEqual(r"033]11;rgb:0a0a/0d0d/1010\a", self.ask(daemon, session, r"\033]11;?\a"))
        self.assertEqual(r"033[?25;1$y", self.ask(daemon, session, r"\033[?25$p"))
        self.assertEqual(
            r"033[?2004;2$y033[?2031;0$y", self.ask(daemon, session, r"\033[?2004$p\033[?2031$p")
        )
        daemon.request("PUT", "/api/settings", {"terminalGround": "light"})
        self.assertEqual(r"033]11;rgb:fdfd/fdfd/fcfc\a", self.ask(daemon, session, r"\033]11;?\a"))
        daemon.restart()
        wait_until("its pane", lambda: self.screen(daemon, session))
        self.assertEqual(r"033]10;rgb:1d1d/2626/3030\a", self.ask(daemon, session, r"\033]10;?\a"))
