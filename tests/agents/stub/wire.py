"""What the four protocols share: steps of an answer, and server-sent events."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from attrs import frozen

from tests.agents.stub.script import SayDirective

THINK_STEP = 0.25
"""Seconds between two pieces of thinking."""


@frozen
class WirePause:
    """Wait so many seconds before the next piece."""

    seconds: float


@frozen
class WireGate:
    """Wait until the test releases this name."""

    name: str


Step = bytes | WirePause | WireGate


def event(name: str | None, data: Any) -> bytes:
    """One server-sent event; C{data} is JSON unless it is text already."""
    text = data if isinstance(data, str) else json.dumps(data)
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {text}\n\n".encode()


def pieces(say: SayDirective) -> Iterator[str | WirePause | WireGate]:
    """The text of an answer with the waits between its words."""
    if say.hold is not None:
        first, _, rest = say.text.partition(" ")
        yield first
        yield WireGate(say.hold)
        yield " " + rest
        return
    if not say.pause:
        yield say.text
        return
    for word in re.findall(r"\S+\s*", say.text):
        yield word
        yield WirePause(say.pause)


def thoughts(say: SayDirective) -> Iterator[str | WirePause]:
    """The thinking before an answer, in pieces."""
    for number in range(int(say.think / THINK_STEP)):
        yield f"thought {number}. "
        yield WirePause(THINK_STEP)


def whole(steps: Iterable[Step]) -> bytes:
    """The bytes of an answer with its waits left out."""
    return b"".join(step for step in steps if isinstance(step, bytes))
