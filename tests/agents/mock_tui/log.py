"""The record of turns that a played agent keeps for its test."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from tests.agents.stub.record import Asked, Outcome, Record, Turn, requests_from, turns
from tests.agents.stub.script import Plan


class TurnLog:
    """The stub model's record, written to a file at each change."""

    def __init__(self, path: Path, protocol: str) -> None:
        self._path, self._protocol = path, protocol
        self._record = Record()
        self._write()

    def begin(self, prompt: str, planned: Plan) -> int:
        """A prompt was submitted; the turn's number."""
        number = self._record.begin(self._protocol, Asked(prompt=prompt), planned, time.time())
        self._write()
        return number

    def end(self, number: int, outcome: Outcome) -> None:
        """The turn is over."""
        self._record.end(number, outcome, time.time())
        self._write()

    def _write(self) -> None:
        draft = self._path.with_suffix(".draft")
        draft.write_text(json.dumps(self._record.as_json()), "utf-8")
        os.replace(draft, self._path)


def read_turns(path: Path) -> list[Turn]:
    """The turns in a played agent's record; none before it started."""
    if not path.exists():
        return []
    return turns(requests_from(json.loads(path.read_text("utf-8"))))
