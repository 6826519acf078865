"""The stub model server: Twisted resources for four protocols and a control API.

Control, all under C{/control}: C{GET requests} the record; C{POST conversation
{"since"}} what the user said, as the newest request has it; C{POST release
{"gate"}} lets a held answer go on; C{POST limits {"five_hour", "seven_day",
"reset", "rejected"}} sends plan-usage headers from now on, C{{}} stops that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any
from urllib.parse import unquote

from attrs import evolve, frozen
from twisted.internet.defer import CancelledError, Deferred, ensureDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from tests.agents.stub import anthropic, chat, gemini, responses
from tests.agents.stub.gates import StubGates
from tests.agents.stub.record import ModelPrompt, ModelRecord, Outcome
from tests.agents.stub.script import (
    CallDirective,
    FailDirective,
    SayDirective,
    ShellDirective,
    plan,
)
from tests.agents.stub.steps import PromptSteps
from tests.agents.stub.tools import fitted, shell_call
from tests.agents.stub.wire import Step, WireGate, WirePause

KEY_HEADERS = ("authorization", "x-api-key", "x-goog-api-key")
MAX_UNKNOWN = 200
"""How many unknown paths are remembered."""


@frozen
class ModelProtocol:
    """The pure halves of one protocol."""

    name: str
    read: Callable[[Mapping[str, Any]], ModelPrompt]
    stream: Callable[[str, ModelPrompt, SayDirective | CallDirective], Iterable[Step]]
    whole: Callable[[str, ModelPrompt, SayDirective | CallDirective], dict[str, Any]]
    error: Callable[[int, str], dict[str, Any]]


ANTHROPIC = ModelProtocol(
    "anthropic", anthropic.read, anthropic.stream, anthropic.whole, anthropic.error
)
CHAT = ModelProtocol("chat", chat.read, chat.stream, chat.whole, chat.error)
RESPONSES = ModelProtocol(
    "responses", responses.read, responses.stream, responses.whole, chat.error
)
GEMINI = ModelProtocol("gemini", gemini.read, gemini.stream, gemini.whole, gemini.error)

_ENDINGS = (
    ("/v1/messages", ANTHROPIC),
    ("/chat/completions", CHAT),
    ("/responses", RESPONSES),
)


def keys_of(request: Request) -> dict[str, str]:
    """The credentials in a request's headers."""
    found = {name: request.getHeader(name) for name in KEY_HEADERS}
    return {name: str(value) for name, value in found.items() if value is not None}


def protocol_of(path: str) -> ModelProtocol | None:
    """The protocol that a POST to this path speaks."""
    if ":generateContent" in path or ":streamGenerateContent" in path:
        return GEMINI
    return next((known for ending, known in _ENDINGS if path.endswith(ending)), None)


class StubModel(Resource):
    """Answers every path itself, since clients put prefixes before theirs.

    @param clock: times the pauses of slow answers.
    @param now: seconds since the epoch, for the record.
    """

    isLeaf = True
    _log = Logger()

    def __init__(self, clock: IReactorTime, now: Callable[[], float]) -> None:
        super().__init__()
        self._clock, self._now = clock, now
        self.record = ModelRecord()
        self.gates = StubGates()
        self.unknown: list[str] = []
        self.limits: dict[str, float] = {}
        self._numbers = count(1)
        self._steps = PromptSteps()

    def render(self, request: Request) -> bytes | int:
        """Answer one request; every method comes here."""
        path = request.path.decode("latin-1")
        assert request.content is not None
        body = json.loads(request.content.read() or b"{}")
        if path.startswith("/control/"):
            return _json(request, self._control(path.removeprefix("/control/"), body))
        if path.endswith("/count_tokens"):
            return _json(request, {"input_tokens": 1234})
        if ":countTokens" in path:
            return _json(request, {"totalTokens": 1234})
        if path.endswith("/models"):
            return _json(request, anthropic.models())
        protocol = protocol_of(path) if request.method == b"POST" else None
        if protocol is None:
            return self._unknown(request, path)
        return self._answer(request, protocol, body, path)

    def _unknown(self, request: Request, path: str) -> bytes:
        self.unknown = [*self.unknown, f"{request.method.decode()} {path}"][-MAX_UNKNOWN:]
        return _json(request, {"error": {"message": "the stub does not know this path"}}, 404)

    def _control(self, what: str, body: Mapping[str, Any]) -> dict[str, Any]:
        if what == "requests":
            return {"requests": self.record.as_json(), "unknown": self.unknown}
        if what == "conversation":
            said = self.record.conversation(int(body["since"]))
            return {"said": said, "requests": len(self.record.requests)}
        if what == "release":
            return {"released": self.gates.release(body["gate"])}
        if what == "limits":
            self.limits = dict(body)
            return {"limits": self.limits}
        raise ValueError(f"no control called {what}")

    def _answer(
        self, request: Request, protocol: ModelProtocol, body: Mapping[str, Any], path: str
    ) -> bytes | int:
        asked, streamed = protocol.read(body), "stream" in path
        if protocol is GEMINI:
            asked = evolve(asked, model=unquote(path.rpartition("/models/")[2].rpartition(":")[0]))
        planned = self._steps.next(asked, body) or plan(
            asked.prompt,
            last_tool=asked.last_tool,
            has_tools=not asked.side,
            plan_file=asked.plan_file,
        )
        number = self.record.begin(protocol.name, asked, planned, self._now(), keys_of(request))
        if isinstance(planned, FailDirective):
            self.record.end(number, "failed", self._now())
            return self._refuse(request, protocol, planned)
        answer = _resolved(asked, planned)
        self._add_limits(request)
        identifier = f"{next(self._numbers):020d}"
        if not (asked.stream and body.get("stream", streamed)):
            self.record.end(number, _outcome(answer), self._now())
            return _json(request, protocol.whole(identifier, asked, answer))
        request.setHeader(b"content-type", b"text/event-stream")
        self._run(request, number, answer, protocol.stream(identifier, asked, answer))
        return NOT_DONE_YET

    def _refuse(self, request: Request, protocol: ModelProtocol, fail: FailDirective) -> bytes:
        if fail.reset is not None:
            self._add_limits(request, {"rejected": 1, "five_hour": 1.0, "reset": fail.reset})
        text = "This request would exceed your account's rate limit."
        message = text if fail.reset is not None else f"stub says {fail.status}"
        return _json(request, protocol.error(fail.status, message), fail.status)

    def _add_limits(self, request: Request, limits: Mapping[str, float] | None = None) -> None:
        chosen = self.limits if limits is None else limits
        if not chosen:
            return
        for name, value in anthropic.limit_headers(self._now(), chosen).items():
            request.setHeader(name.encode(), value.encode())

    def _run(
        self,
        request: Request,
        number: int,
        answer: SayDirective | CallDirective,
        steps: Iterable[Step],
    ) -> None:
        sending = ensureDeferred(self._send(request, steps))
        gone = request.notifyFinish()
        gone.addErrback(lambda why: sending.cancel())
        sending.addCallbacks(
            lambda done: self._finish(request, number, answer),
            lambda why: self._abort(number, why),
        )
        sending.addErrback(lambda why: self._log.failure("answer {n} broke", why, n=number))

    async def _send(self, request: Request, steps: Iterable[Step]) -> None:
        for step in steps:
            if isinstance(step, bytes):
                request.write(step)
            else:
                await self._waited(step)

    def _waited(self, step: WirePause | WireGate) -> Deferred[None]:
        if isinstance(step, WireGate):
            return self.gates.wait(step.name)
        return deferLater(self._clock, step.seconds)

    def _finish(self, request: Request, number: int, answer: SayDirective | CallDirective) -> None:
        self.record.end(number, _outcome(answer), self._now())
        request.finish()

    def _abort(self, number: int, why: Failure) -> None:
        why.trap(CancelledError)
        self.record.end(number, "aborted", self._now())


def _resolved(
    asked: ModelPrompt, planned: SayDirective | ShellDirective | CallDirective
) -> SayDirective | CallDirective:
    if isinstance(planned, SayDirective):
        return planned
    if isinstance(planned, CallDirective):
        return fitted(asked, planned)
    call = shell_call(asked, planned)
    return call or SayDirective(text="The client offers no tool for shell commands.")


def _outcome(answer: SayDirective | CallDirective) -> Outcome:
    return "said" if isinstance(answer, SayDirective) else "tool"


def _json(request: Request, data: Mapping[str, Any], status: int = 200) -> bytes:
    request.setResponseCode(status)
    request.setHeader(b"content-type", b"application/json")
    return json.dumps(data).encode()
