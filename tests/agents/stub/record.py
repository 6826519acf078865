"""What the stub model was asked and when: the ground truth of a test."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from attrs import asdict, evolve, field, frozen

from tests.agents.stub.script import Plan

PROMPT_KEPT = 2000
"""Characters of a prompt that are kept beside its hash and length."""

Outcome = Literal["open", "said", "tool", "failed", "aborted"]


def digest(text: str) -> str:
    """SHA-256 of the text's UTF-8 in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@frozen(kw_only=True)
class ModelPrompt:
    """The parts of a client's request that the stub acts on.

    @ivar prompt: the newest text by the user, without what the client adds.
    @ivar said: everything the user said in the conversation so far, as far as
        the client still sends it; several prompts may come before one answer.
    @ivar last_tool: name of the tool whose result stands behind that text; ""
        where the protocol does not repeat it, L{None} where there is none.
    @ivar plan_file: where a client in plan mode wants the plan.
    @ivar tools: name to JSON Schema of its arguments.
    @ivar side: a request beside the conversation, for a title or a routing.
    """

    prompt: str
    model: str = "stub"
    said: tuple[str, ...] = ()
    last_tool: str | None = None
    plan_file: str | None = None
    stream: bool = True
    side: bool = False
    tools: dict[str, dict[str, Any]] = field(factory=dict)


@frozen(kw_only=True)
class StubModelRequest:
    """One model request.

    @ivar said: hashes of all that the user said up to here; a prompt was
        delivered exactly once if its hash is in the newest of these once.
    @ivar started: seconds since the epoch.
    @ivar ended: the same; L{None} while the answer is being sent.
    @ivar keys: the credentials that came with it, by the header's name.
    """

    number: int
    protocol: str
    prompt: str
    sha256: str
    length: int
    said: tuple[str, ...] = field(converter=tuple[str, ...])
    model: str
    after_tool: bool
    side: bool
    plan: str
    started: float
    ended: float | None = None
    outcome: Outcome = "open"
    keys: dict[str, str] = field(factory=dict)


@frozen(kw_only=True)
class ModelTurn:
    """A prompt with everything that the model did about it.

    @ivar requests: model requests it took, retries of a failed one included.
    """

    prompt: str
    sha256: str
    length: int
    started: float
    ended: float | None
    outcome: Outcome
    requests: int


class ModelRecord:
    """All requests of one stub, oldest first, bounded by C{limit}."""

    def __init__(self, limit: int = 10_000) -> None:
        self._limit = limit
        self.requests: list[StubModelRequest] = []
        self._newest: tuple[int, tuple[str, ...]] = (-1, ())

    def begin(
        self,
        protocol: str,
        asked: ModelPrompt,
        planned: Plan,
        now: float,
        keys: Mapping[str, str] | None = None,
    ) -> int:
        """Add a request; its number.

        @raise OverflowError: the record is full; a test must never lose truth.
        """
        if len(self.requests) >= self._limit:
            raise OverflowError(f"more than {self._limit} requests")
        if not asked.side:
            self._newest = (len(self.requests), asked.said)
        self.requests.append(
            StubModelRequest(
                number=len(self.requests),
                protocol=protocol,
                prompt=asked.prompt[:PROMPT_KEPT],
                sha256=digest(asked.prompt),
                length=len(asked.prompt),
                said=tuple(digest(text) for text in asked.said),
                model=asked.model,
                after_tool=asked.last_tool is not None,
                side=asked.side,
                plan=type(planned).__name__.lower(),
                started=now,
                keys=dict(keys or {}),
            )
        )
        return len(self.requests) - 1

    def end(self, number: int, outcome: Outcome, now: float) -> None:
        """Close a request."""
        self.requests[number] = evolve(self.requests[number], outcome=outcome, ended=now)

    def conversation(self, since: int) -> tuple[str, ...]:
        """All that the user said, as the newest request has it; none before request C{since}."""
        number, said = self._newest
        return said if number >= since else ()

    def as_json(self) -> list[dict[str, Any]]:
        """The requests as JSON objects."""
        return [asdict(request) for request in self.requests]


def requests_from(objects: Iterable[dict[str, Any]]) -> list[StubModelRequest]:
    """The inverse of L{ModelRecord.as_json}."""
    return [StubModelRequest(**each) for each in objects]


def deliveries(requests: Iterable[StubModelRequest], prompt: str) -> int:
    """How often the prompt stands in the conversation as it was sent last."""
    newest = [request.said for request in requests if not request.side][-1:]
    return newest[0].count(digest(prompt)) if newest else 0


def turns(requests: Iterable[StubModelRequest]) -> list[ModelTurn]:
    """Fold requests into turns, oldest first.

    A request behind a tool's result continues the turn before it, and so does
    the retry of a request that failed.
    """
    folded: list[ModelTurn] = []
    for request in requests:
        if request.side:
            continue
        last = folded[-1] if folded else None
        retried = last is not None and (last.outcome, last.sha256) == ("failed", request.sha256)
        if last is not None and (request.after_tool or retried):
            folded[-1] = evolve(
                last,
                ended=request.ended,
                outcome=request.outcome,
                requests=last.requests + 1,
            )
            continue
        folded.append(
            ModelTurn(
                prompt=request.prompt,
                sha256=request.sha256,
                length=request.length,
                started=request.started,
                ended=request.ended,
                outcome=request.outcome,
                requests=1,
            )
        )
    return folded
