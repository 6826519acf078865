"""The Gemini generateContent protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.agents.stub.record import ModelPrompt
from tests.agents.stub.script import CallDirective, SayDirective
from tests.agents.stub.wire import Step, event, pieces

USAGE = {"promptTokenCount": 1200, "candidatesTokenCount": 34, "totalTokenCount": 1234}
ROUTING = {
    "reasoning": "stub",
    "model_choice": "flash",
    "complexity_reasoning": "stub",
    "complexity_score": 10,
    "next_speaker": "user",
}
"""What the client's routing requests want to read; they ask for JSON."""

_CONTEXT = ("<session_context>", "This is the Gemini CLI")


def _wants_json(body: Mapping[str, Any]) -> bool:
    config = body.get("generationConfig") or {}
    asked = config.get("responseMimeType") == "application/json"
    return bool(asked or config.get("responseJsonSchema"))


def _words(parts: Any) -> str:
    texts = [str(part["text"]) for part in parts or [] if part.get("text")]
    return "\n".join(text for text in texts if not text.lstrip().startswith(_CONTEXT))


def read(body: Mapping[str, Any]) -> ModelPrompt:
    """What the request asks."""
    users = [each for each in body.get("contents") or [] if each.get("role") != "model"]
    parts = users[-1].get("parts") or [] if users else []
    spoken = [words for words in (_words(each.get("parts")) for each in users) if words]
    declared = [
        function
        for tool in body.get("tools") or []
        for function in tool.get("functionDeclarations") or []
    ]
    tools = {
        each["name"]: each.get("parametersJsonSchema") or each.get("parameters") or {}
        for each in declared
    }
    return ModelPrompt(
        prompt=spoken[-1] if spoken else "",
        said=tuple(spoken),
        last_tool="" if any("functionResponse" in part for part in parts) else None,
        side=not tools or _wants_json(body),
        tools=tools,
    )


def _answer(parts: list[dict[str, Any]], finish: str | None = "STOP") -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "usageMetadata": USAGE, "modelVersion": "stub"}


def whole(
    identifier: str, asked: ModelPrompt, answer: SayDirective | CallDirective
) -> dict[str, Any]:
    """The answer of a request that did not ask for a stream."""
    if isinstance(answer, CallDirective):
        call = {"name": answer.name, "args": dict(answer.arguments)}
        return _answer([{"functionCall": call}])
    if asked.side:
        return _answer([{"text": json.dumps(ROUTING)}])
    return _answer([{"text": answer.text}])


def stream(
    identifier: str, asked: ModelPrompt, answer: SayDirective | CallDirective
) -> Iterator[Step]:
    """The answer as server-sent events and waits."""
    if isinstance(answer, CallDirective) or asked.side:
        yield event(None, whole(identifier, asked, answer))
        return
    for piece in pieces(answer):
        yield event(None, _answer([{"text": piece}], None)) if isinstance(piece, str) else piece
    yield event(None, _answer([{"text": ""}]))


def error(status: int, message: str) -> dict[str, Any]:
    """The body of a refusal."""
    return {"error": {"code": status, "message": message, "status": "UNAVAILABLE"}}
