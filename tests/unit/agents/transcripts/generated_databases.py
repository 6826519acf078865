"""Made-up conversations of opencode: the statements that write them, one change after the other."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from tests.unit.agents.transcripts.generated_conversations import make_words

MAIN = "ses_main"
TABLES = """
    CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer,
        time_updated integer, data text);
    CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text,
        time_created integer, time_updated integer, data text);
    CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text);
    INSERT INTO session VALUES ('ses_main', NULL, '/w');
"""
BEGUN = 1_795_000_000_000
BETWEEN = 400
"""Most milliseconds between two changes."""
Statement = tuple[str, tuple[Any, ...]]


class DatabaseGenerator:
    """Writes one conversation, and those of its sub-agents."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._at, self._serial = BEGUN, 0
        self.sides: list[str] = []

    def iterate_statements(self, turns: int) -> Iterator[Statement]:
        """Every change of so many turns."""
        for turn in range(turns):
            yield from self._iterate_turn(MAIN, turn, may_branch=True)

    # -- internal

    def _name(self, kind: str) -> str:
        self._serial += 1
        return f"{kind}_{self._serial:08}"

    def _tick(self) -> int:
        self._at += self._chance.randrange(1, BETWEEN)
        return self._at

    def _add_message(self, session: str, name: str, **data: Any) -> Statement:
        now = self._tick()
        text = "INSERT INTO message VALUES (?, ?, ?, ?, ?)"
        return text, (name, session, now, now, json.dumps(data))

    def _add_part(self, session: str, message: str, name: str, **data: Any) -> Statement:
        now = self._tick()
        text = "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)"
        return text, (name, message, session, now, now, json.dumps(data))

    def _change(self, table: str, name: str, **data: Any) -> Statement:
        text = f"UPDATE {table} SET data = ?, time_updated = ? WHERE id = ?"
        return text, (json.dumps(data), self._tick(), name)

    def _iterate_turn(self, session: str, turn: int, *, may_branch: bool) -> Iterator[Statement]:
        chance, prompt = self._chance, self._name("msg")
        yield self._add_message(session, prompt, role="user")
        if chance.random() < 0.05:
            yield self._add_part(session, prompt, self._name("prt"), type="compaction")
        else:
            text = f"{turn}: {make_words(chance)}"
            yield self._add_part(session, prompt, self._name("prt"), type="text", text=text)
        answer = self._name("msg")
        told = {"role": "assistant", "parentID": prompt, "modelID": "m"}
        yield self._add_message(session, answer, **told)
        for _ in range(chance.randrange(3)):
            yield from self._iterate_call(session, answer)
        if may_branch and chance.random() < 0.1:
            yield from self._iterate_side(session, answer)
        yield from self._iterate_text(session, answer)
        failed = {"name": "APIError", "data": {"message": f"failed {turn}"}}
        more = {"error": failed} if chance.random() < 0.1 else {}
        tokens = {"input": 100, "output": 7}
        yield self._change("message", answer, **told, tokens=tokens, **more)

    def _iterate_text(self, session: str, message: str) -> Iterator[Statement]:
        """A text that grows."""
        name, words = self._name("prt"), make_words(self._chance, 60).split()
        yield self._add_part(session, message, name, type="text", text="")
        for end in (len(words) // 2 or 1, len(words)):
            yield self._change("part", name, type="text", text=" ".join(words[:end]))

    def _iterate_call(self, session: str, message: str) -> Iterator[Statement]:
        if self._chance.random() < 0.3:
            told = {"type": "reasoning", "text": make_words(self._chance)}
            yield self._add_part(session, message, self._name("prt"), **told)
        name = self._name("prt")
        call = {"type": "tool", "tool": "bash"}
        state: dict[str, Any] = {"status": "running", "input": {"command": "true"}}
        yield self._add_part(session, message, name, **call, state=state)
        ended = self._chance.choice((
            {"status": "completed", "output": make_words(self._chance), "metadata": {"exit": 0}},
            {"status": "completed", "output": "bad", "metadata": {"exit": 3}},
            {"status": "error", "error": "The user rejected it"},
        ))  # fmt: skip
        yield self._change("part", name, **call, state={**state, **ended})

    def _iterate_side(self, session: str, message: str) -> Iterator[Statement]:
        """A sub-agent, whose conversation grows while its call runs."""
        side, name = self._name("ses"), self._name("prt")
        self.sides.append(side)
        call = {"type": "tool", "tool": "task"}
        told = {"input": {"description": "look"}, "metadata": {"sessionId": side}}
        running = {**told, "status": "running"}
        yield self._add_part(session, message, name, **call, state=running)
        yield "INSERT INTO session VALUES (?, ?, '/w')", (side, session)
        yield from self._iterate_turn(side, 0, may_branch=False)
        done = {**told, "status": "completed", "output": "seen"}
        yield self._change("part", name, **call, state=done)
