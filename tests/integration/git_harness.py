"""A daemon with cases of git repositories, for several tests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

from twisted.trial.unittest import SynchronousTestCase

from tests.integration.git_servers import make_repository
from tests.integration.harness import DaemonAnswer, DaemonHarness


class DaemonGitCase(SynchronousTestCase):
    """One daemon for a class; each test has names of its own."""

    daemon: ClassVar[DaemonHarness]
    remotes: ClassVar[Path]

    @classmethod
    def setUpClass(cls) -> None:
        cls.daemon = DaemonHarness(SSH_AUTH_SOCK="/nowhere/agent")
        cls.addClassCleanup(cls.daemon.close)
        cls.remotes = cls.daemon.folder / "remotes"
        make_repository(cls.remotes / "plain", file="content\n")
        cls.daemon.start()

    @property
    def cases(self) -> Path:
        return self.daemon.folder / "cases"

    def ask(self, method: str, path: str = "", body: Any = None) -> DaemonAnswer:
        return self.daemon.request(method, f"/api/cases{path}", body)

    def clone(self, name: str, where: str, **more: Any) -> DaemonAnswer:
        return self.ask("POST", "/clone", {"name": name, "repository": where, **more})

    def refused(self, answer: DaemonAnswer, status: int, word: str) -> str:
        self.assertEqual(status, answer.status, answer.body)
        text: str = answer.json()["error"]
        self.assertIn(word, text)
        return text

    def left(self) -> list[str]:
        """What is in the folder of cases beside cases."""
        found = os.listdir(self.cases) if self.cases.exists() else []
        return [name for name in found if name.startswith(".") and name != ".trash"]
