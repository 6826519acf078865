"""The record of turns that a played agent keeps for its test."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

from tests.agents.stub.record import (
    ModelPrompt,
    ModelRecord,
    ModelTurn,
    Outcome,
    StubModelRequest,
    requests_from,
    turns,
)
from tests.agents.stub.script import Plan


class TurnLog:
    """The stub model's record, written to a file at each change."""

    def __init__(self, path: Path, protocol: str) -> None:
        self._path, self._protocol = path, protocol
        self._record = ModelRecord()
        self._said: list[str] = []
        self._write()

    def begin(self, prompts: Sequence[str], planned: Plan) -> int:
        """Prompts were submitted, more than one where they had been queued; the turn's number."""
        self._said += prompts
        asked = ModelPrompt(prompt=prompts[-1], said=tuple(self._said))
        number = self._record.begin(self._protocol, asked, planned, time.time())
        self._write()
        return number

    def forget(self) -> None:
        """The conversation began anew."""
        self._said.clear()

    def end(self, number: int, outcome: Outcome) -> None:
        """The turn is over."""
        self._record.end(number, outcome, time.time())
        self._write()

    def _write(self) -> None:
        draft = self._path.with_suffix(".draft")
        draft.write_text(json.dumps(self._record.as_json()), "utf-8")
        os.replace(draft, self._path)


def read_requests(path: Path) -> list[StubModelRequest]:
    """A played agent's record; empty before it started."""
    return requests_from(json.loads(path.read_text("utf-8"))) if path.exists() else []


def read_turns(path: Path) -> list[ModelTurn]:
    """The turns in a played agent's record."""
    return turns(read_requests(path))
