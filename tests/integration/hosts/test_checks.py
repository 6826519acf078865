"""Checks of a session on a remote host: a real sshd on loopback (protocol-check-runs)."""

from __future__ import annotations

from typing import Any

from tests.integration.hosts.remote_case import RemoteCase

FILE = "checks: [{name: brought, command: echo 7 passed}]\n"


class RemoteCheckTests(RemoteCase):
    """Runs, limits, and the file of the repository there."""

    def run_checks(self, session: str) -> dict[str, Any]:
        started = self.call("POST", f"/sessions/{session}/checks/run", {})["run"]["id"]

        def ended() -> Any:
            run = self.call("GET", f"/sessions/{session}/checks")["runs"][0]
            return run if run["id"] == started and "finishedAt" in run else None

        found: dict[str, Any] = self.until(ended, "the end of the checks")
        return found

    def test_checks_run_on_the_host_within_their_limits(self) -> None:
        session = self.shell(self.trusted("checks"), "checked")
        checks = [
            {"name": "where", "command": 'pwd; echo "$HOME"; tty; exit 3'},
            {"name": "hangs", "command": "touch hung; sleep 600 & sleep 600", "timeoutSeconds": 1},
        ]
        self.call("PUT", "/cases/checked/checks", {"checks": checks})
        run = self.run_checks(session)
        where, hangs = run["results"]
        self.assertEqual(("failed", 3), (where["state"], where["status"]), run)
        home = self.sshd.home
        self.assertEqual(
            [str(home / "checked"), str(home), "not a tty"], where["output"].split("\n")
        )
        self.assertEqual("timed_out", hangs["state"], run)
        self.assertTrue((home / "checked/hung").exists())

    def test_file_of_the_repository_is_read_on_the_host(self) -> None:
        session = self.shell(self.trusted("files"), "brought")
        file = self.sshd.home / "brought/.tservice.yaml"
        path = f"/sessions/{session}/checks/file"
        self.assertEqual("none", self.call("GET", path)["state"])
        file.symlink_to("/etc/passwd")
        self.assertEqual("invalid", self.call("GET", path)["state"])
        file.unlink()
        file.write_text(FILE)
        found = self.call("GET", path)
        self.assertEqual(("unapproved", FILE), (found["state"], found["text"]))
        self.assertEqual(found["hash"], self.call("GET", "/cases/brought/checks/file")["hash"])
        self.call("PUT", path, {"hash": found["hash"]})
        run = self.run_checks(session)
        self.assertEqual(("green", 7), (run["state"], run["results"][0]["passed"]), run)
        file.write_text("#" * (64 * 1024 + 1))
        self.assertEqual("it is larger than 64 KB", self.call("GET", path)["problem"])
        run = self.run_checks(session)
        self.assertEqual("unavailable", run["state"], run)
