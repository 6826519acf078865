"""What folders of OS users bring is looked at with their own rights."""

from __future__ import annotations

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.integration.osusers.harness import MultiuserDaemon, OsUserFactory, run_as

SECRET = "only-for-ben"


class FolderTests(SynchronousTestCase):
    """C{ann} has her folders looked at; C{ben} has a file that she may not read."""

    def setUp(self) -> None:
        self.people = OsUserFactory()
        self.addCleanup(self.people.close)
        self.ann, self.ben = self.people.make(), self.people.make()
        self.service = MultiuserDaemon()
        self.addCleanup(self.service.close)
        self.service.account("ann", self.ann.name)
        self.bens = self.ben.home / "server.json"
        run_as(self.ben, "sh", "-c", f"umask 077; echo '{SECRET}' >{self.bens}")
        self.work = self.ann.home / "work"

    def as_ann(self, line: str) -> None:
        found = run_as(self.ann, "sh", "-c", f"umask 077; cd {self.ann.home}; {line}")
        self.assertEqual(0, found.returncode, found)

    def tell(self) -> Any:
        path = f"/api/folder-trust?mode=primary&workingDir={self.work}"
        return self.service.good("ann", "GET", path)

    def test_her_own_file_is_read(self) -> None:
        self.as_ann(
            """mkdir work; echo '{"mcpServers": {"x": {"command": "./x"}}}' >work/.mcp.json"""
        )
        told = self.tell()
        self.assertEqual(("asks", [".mcp.json"]), (told["state"], told["paths"]))
        self.assertIn("./x", told["summary"])

    def test_what_she_cannot_read_is_not_shown(self) -> None:
        for line in (
            f"ln -s {self.bens} work/.mcp.json",
            f"mkdir work/.claude; ln -s {self.bens} work/.claude/settings.json",
            "echo x >work/.mcp.json; chmod 0 work/.mcp.json",
            "mkdir work/.claude; chmod 0 work/.claude",
        ):
            self.as_ann(f"chmod -fR u+rwx work; rm -rf work; mkdir work; {line}")
            told = self.tell()
            self.assertEqual("asks", told["state"], line)
            self.assertIn("cannot be read", told["summary"])
            self.assertNotIn(SECRET, str(told))
