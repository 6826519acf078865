"""The OpenAI chat-completions protocol."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.agents.stub.record import ModelPrompt
from tests.agents.stub.script import CallDirective, SayDirective
from tests.agents.stub.wire import Step, event, pieces

USAGE = {"prompt_tokens": 1200, "completion_tokens": 34, "total_tokens": 1234}


_ADDED_BY_CLIENT = re.compile(r"<(system-reminder|current_datetime)>.*?</\1>\s*", re.DOTALL)
_BESIDE = ("[SUGGESTION MODE", "Managed memory has ")
"""Beginnings of what Qwen Code asks beside the conversation."""


def text_of(content: Any) -> str:
    """The text of a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return _ADDED_BY_CLIENT.sub("", content)
    parts = [part for part in content or [] if part.get("type") in ("text", "input_text")]
    texts = (_ADDED_BY_CLIENT.sub("", str(part.get("text") or "")) for part in parts)
    return "\n".join(text for text in texts if text)


def read(body: Mapping[str, Any]) -> ModelPrompt:
    """What the request asks."""
    messages = body.get("messages") or []
    users = [each for each in messages if each.get("role") == "user"]
    functions = [each.get("function") or {} for each in body.get("tools") or []]
    tools = {each["name"]: each.get("parameters") or {} for each in functions if "name" in each}
    prompt = text_of(users[-1].get("content")) if users else ""
    return ModelPrompt(
        prompt=prompt,
        model=str(body.get("model", "stub")),
        said=tuple(text_of(each.get("content")) for each in users),
        last_tool="" if messages and messages[-1].get("role") == "tool" else None,
        stream=bool(body.get("stream")),
        side=not tools or prompt.startswith(_BESIDE),
        tools=tools,
    )


def _call(identifier: str, call: CallDirective) -> dict[str, Any]:
    return {
        "id": f"call_{identifier}",
        "type": "function",
        "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))},
    }


def stream(
    identifier: str, asked: ModelPrompt, answer: SayDirective | CallDirective
) -> Iterator[Step]:
    """The answer as server-sent events and waits."""

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return event(None, {**base, "choices": [choice]})

    base = {
        "id": f"chatcmpl-{identifier}",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": asked.model,
    }
    yield chunk({"role": "assistant", "content": ""})
    if isinstance(answer, CallDirective):
        yield chunk({"tool_calls": [{**_call(identifier, answer), "index": 0}]})
    else:
        for piece in pieces(answer):
            yield chunk({"content": piece}) if isinstance(piece, str) else piece
    yield chunk({}, "tool_calls" if isinstance(answer, CallDirective) else "stop")
    yield event(None, {**base, "choices": [], "usage": USAGE})
    yield event(None, "[DONE]")


def whole(
    identifier: str, asked: ModelPrompt, answer: SayDirective | CallDirective
) -> dict[str, Any]:
    """The answer of a request that did not ask for a stream."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if isinstance(answer, SayDirective):
        message["content"] = answer.text
    else:
        message["tool_calls"] = [_call(identifier, answer)]
    finish = "stop" if isinstance(answer, SayDirective) else "tool_calls"
    return {
        "id": f"chatcmpl-{identifier}",
        "object": "chat.completion",
        "created": 1,
        "model": asked.model,
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": USAGE,
    }


def error(status: int, message: str) -> dict[str, Any]:
    """The body of a refusal."""
    return {"error": {"message": message, "type": "server_error", "code": None}}
