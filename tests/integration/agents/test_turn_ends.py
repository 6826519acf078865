"""Comparison with the ends of a played agent's turns, over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.mock_tui.scenario import MockScenario
from tests.integration.agents.harness import PlayedSession, played_daemon
from tests.unit.git.random_repositories import run_git


def make_repository(folder: Path) -> Path:
    """Make a repository of one file, without the files of the played agent; return the file."""
    folder.mkdir()
    run_git(folder, "init", "-q", "-b", "main")
    (folder / ".git" / "info" / "exclude").write_text("*\n")
    file = folder / "engine.py"
    file.write_text("one\n")
    run_git(folder, "add", "-f", file.name)
    run_git(folder, "commit", "-q", "-m", "first")
    return file


class TurnEndTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.daemon = played_daemon()
        self.addCleanup(self.daemon.close)
        # It is above the session's folder, and there before the session.
        self.file = make_repository(self.daemon.folder / "work")
        self.daemon.start()
        self.session = PlayedSession(self.daemon, "primary", MockScenario())

    def read(self, base: str, query: str = "") -> Any:
        path = f"{self.session.path}/changes{query.partition('?')[0]}?base={base}"
        return self.session.call("GET", path + query.partition("?")[2])

    def list_files(self, turn: int) -> dict[str, tuple[int, int]]:
        (found,) = self.read(f"turn:{turn}")["repositories"]
        self.assertEqual("turn", found["base"]["source"])
        return {each["path"]: (each["added"], each["removed"]) for each in found["files"]}

    def test_changes_since_the_end_of_a_turn(self) -> None:
        file = self.file
        file.write_text("one\ntwo\n")
        first = self.session.end_recorded_turn(1)
        self.assertEqual({}, self.list_files(first))
        file.write_text("one\ntwo\nthree\n")
        second = self.session.end_recorded_turn(2)
        file.write_text("two\nthree\n")
        self.assertEqual({"engine.py": (1, 1)}, self.list_files(first))
        self.assertEqual({"engine.py": (0, 1)}, self.list_files(second))
        diff = self.read(f"turn:{second}", "/file?&path=engine.py")
        (row,) = [row for row in diff["hunks"][0]["rows"] if row["kind"] != "context"]
        self.assertEqual(("removed", "one"), (row["kind"], row["text"]))
        (found,) = self.read(f"turn:{first}", f"?&target=turn:{second}")["repositories"]
        self.assertEqual([("engine.py", 1, 0)], [
            (each["path"], each["added"], each["removed"]) for each in found["files"]
        ])  # fmt: skip
        self.assertEqual(("turn", f"turn:{second}"), (
            found["target"]["source"], found["target"]["ref"]
        ))  # fmt: skip
        diff_then = self.read(f"turn:{first}", f"/file?&path=engine.py&target=turn:{second}")
        rows = [row for row in diff_then["hunks"][0]["rows"] if row["kind"] != "context"]
        self.assertEqual([("added", "three")], [(row["kind"], row["text"]) for row in rows])
        statuses = [self.status(f"turn:{at}") for at in (first + 1, "x")]
        self.assertEqual([409, 400], statuses)
        self.assertEqual(400, self.revert(f"turn:{second}", diff["hash"]))
        self.assertEqual("two\nthree\n", file.read_text())

    def status(self, base: str) -> int:
        return self.daemon.request("GET", f"{self.session.path}/changes?base={base}").status

    def revert(self, base: str, hash_: str) -> int:
        body = {"path": "engine.py", "base": base, "hash": hash_}
        return self.daemon.request("POST", f"{self.session.path}/changes/revert", body).status
