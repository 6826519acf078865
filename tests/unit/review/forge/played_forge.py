"""Programs that answer as C{gh} and C{glab} do, from a file, and record how they were called.

The forms are those of gh 2.23: C{pr list --json} prints the wanted fields of a list, C{api} prints
the record, an error goes to standard error as C{gh: Not Found (HTTP 404)} with exit status 1 and
the record of the error on standard output, and a host without a sign-in is exit status 4.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PROGRAM = """\
#!{python} -IS
import json, os, sys

folder, name = {folder!r}, {name!r}
words = sys.argv[1:]
is_posted = "--input" in words
call = {{"words": words, "stdin": sys.stdin.read() if is_posted else "",
        "env": dict(os.environ), "folder": os.getcwd()}}
with open(os.path.join(folder, name + ".calls"), "a") as calls:
    calls.write(json.dumps(call) + "\\n")
with open(os.path.join(folder, name + ".json")) as file:
    played = json.load(file)
if not played["signed_in"]:
    sys.exit(played["refusal"])
if words[:2] == ["pr", "list"]:
    fields = words[words.index("--json") + 1].split(",")
    print(json.dumps([{{field: each[field] for field in fields}} for each in played["pulls"]]))
    sys.exit()
path = next(word for word in words if word.startswith(("repos/", "projects/", "users?")))
method = "POST " if is_posted else ""
answer = played["api"].get(method + path)
if answer is None:
    sys.stderr.write(f"{{name}}: Not Found (HTTP 404)\\n")
    print(json.dumps({{"message": "Not Found"}}))
    sys.exit(1)
if isinstance(answer, dict) and "message" in answer:
    sys.stderr.write(f"{{name}}: Validation Failed (HTTP 422)\\n")
    print(json.dumps(answer))
    sys.exit(1)
sys.stdout.write(answer if isinstance(answer, str) else json.dumps(answer))
"""


class PlayedForge:
    """One program in a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self.path = folder / name
        text = PROGRAM.format(python=sys.executable, folder=str(folder), name=name)
        self.path.write_text(text)
        self.path.chmod(0o755)
        self.play()

    def play(
        self,
        *,
        pulls: Sequence[Mapping[str, Any]] = (),
        api: Mapping[str, Any] | None = None,
        signed_in: bool = True,
        refusal: int = 4,
    ) -> None:
        """Answer with these records from now on; one with a C{message} is an error.

        A text is printed as it is, such as a log.
        """
        played = {"pulls": [*pulls], "api": api or {}, "signed_in": signed_in, "refusal": refusal}
        (self.folder / f"{self.name}.json").write_text(json.dumps(played))

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The calls so far."""
        file = self.folder / f"{self.name}.calls"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def make_pull(number: int = 7, **fields: Any) -> dict[str, Any]:
    """Return a pull request as C{gh pr list --json} prints it."""
    return {
        "number": number,
        "title": "Mend the clock",
        "url": f"https://github.com/ann/clock/pull/{number}",
        "state": "OPEN",
        "isDraft": False,
        "baseRefName": "main",
        "headRefOid": "1" * 40,
        "headRepositoryOwner": {"id": "MDQ6VXNlcjE=", "login": "Ann"},
        "reviewDecision": "",
        "statusCheckRollup": None,
        **fields,
    }


def make_run(name: str, conclusion: str, status: str = "COMPLETED") -> dict[str, Any]:
    """Return a check run as C{gh} prints it."""
    return {
        "__typename": "CheckRun",
        "name": name,
        "status": status,
        "conclusion": conclusion,
        "startedAt": "2026-01-01T00:00:00Z",
        "completedAt": "2026-01-01T00:00:00Z",
        "detailsUrl": f"https://github.com/ann/clock/actions/runs/1/job/{name}",
    }
