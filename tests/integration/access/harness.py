"""An account that works in its cases alone, and what is not its own."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.integration.harness import DaemonCase
from tests.unit.git.random_repositories import run_git
from tests.unit.http.gate_harness import basic_headers

WORD = "long enough"
ADMIN, BOB = basic_headers("admin", WORD), basic_headers("bob", WORD)
TEXT = "of somebody else"


class KeptCase(DaemonCase):
    """C{bob} has the case C{shop} and no OS user.

    @ivar folder: of the case.
    @ivar other: a repository of somebody else's; L{TEXT} is in its file C{note}.
    """

    def setUp(self) -> None:
        super().setUp()
        self.service = self.daemon(SERVICE_MULTIUSER="1", SERVICE_PASSWORD=WORD).start()
        body = {"username": "bob", "password": WORD, "canBypassPermissions": True}
        self.service.request("POST", "/api/admin/users", body, ADMIN).data()
        self.service.request("POST", "/api/cases", {"name": "shop"}, BOB).data()
        (case,) = self.service.request("GET", "/api/cases", headers=BOB).data()
        self.folder = Path(case["path"])
        made = tempfile.TemporaryDirectory(prefix="tsother")
        self.addCleanup(made.cleanup)
        self.other = Path(made.name).resolve()
        (self.other / "note").write_text(TEXT)
        run_git(self.other, "init", "-q", "-b", "main")

    def shell(self, folder: Path) -> str:
        """The id of a new session of C{bob}'s."""
        body: dict[str, Any] = {"mode": "shell", "workingDir": str(folder)}
        session = self.service.request("POST", "/api/sessions", body, BOB).data()["session"]
        return str(session["id"])
