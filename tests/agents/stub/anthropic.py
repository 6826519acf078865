"""The Anthropic Messages protocol: requests in, streamed answers out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.agents.stub.record import ModelPrompt
from tests.agents.stub.script import CallDirective, SayDirective
from tests.agents.stub.wire import Step, WireGate, WirePause, event, pieces, thoughts

USAGE = {
    "input_tokens": 1200,
    "output_tokens": 34,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 5000,
}
_ADDED_BY_CLIENT = ("<system-reminder>", "[Request interrupted", "<local-command", "<command-")
_SUGGESTING = "You predict what a person will want to say"
"""How the service's own question begins, which is asked without tools on purpose."""
_COMPACTING = "CRITICAL: Respond with TEXT ONLY"
_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def _own_words(block: Mapping[str, Any]) -> str:
    text = str(block.get("text") or "") if block.get("type") == "text" else ""
    # A line end is put between prompts that were queued; no prompt has one at its end.
    return "" if text.lstrip().startswith(_ADDED_BY_CLIENT) else text.removesuffix("\n")


def _newest(content: Any) -> tuple[str, bool]:
    """The user's newest words, and whether only a tool's result is newer than any.

    The client puts prompts whose turn failed into one message with the next
    prompt, a text block each: the last block is the newest.
    """
    if isinstance(content, str):
        return content, False
    for block in reversed(content or []):
        if block.get("type") == "tool_result":
            return "", True
        text = _own_words(block)
        if text:
            return text, False
    return "", False


def _said(users: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """All own words of the user."""
    words: list[str] = []
    for message in users:
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        words += [text for text in map(_own_words, blocks or []) if text]
    return tuple(words)


def _last_tool(messages: list[Mapping[str, Any]]) -> str:
    """The name of the newest tool call, which a result then answers."""
    blocks = [
        block
        for message in messages
        if message.get("role") == "assistant" and isinstance(message.get("content"), list)
        for block in message["content"]
        if block.get("type") == "tool_use"
    ]
    return str(blocks[-1]["name"]) if blocks else ""


def _plan_file(messages: list[Mapping[str, Any]]) -> str | None:
    """The path that the client's plan-mode reminder names."""
    found = re.findall(r"(/[^\s\"\\`]+/plans/[^\s\"\\`]+\.md)", json.dumps(messages))
    return found[-1] if found else None


def read(body: Mapping[str, Any]) -> ModelPrompt:
    """What the request asks."""
    messages = list(body.get("messages") or [])
    users = [each for each in messages if each.get("role") == "user"]
    prompt, after_tool = _newest(users[-1].get("content")) if users else ("", False)
    if after_tool:
        prompt = next((said for said, after in map(_of, reversed(users)) if not after), "")
    tools = {each["name"]: each.get("input_schema") or {} for each in body.get("tools") or []}
    return ModelPrompt(
        prompt=prompt,
        model=str(body.get("model", "stub")),
        said=_said(users),
        last_tool=_last_tool(messages) if after_tool else None,
        plan_file=_plan_file(messages),
        stream=bool(body.get("stream")),
        side=(not tools and not prompt.startswith(_SUGGESTING)) or prompt.startswith(_COMPACTING),
        tools=tools,
    )


def _of(message: Mapping[str, Any]) -> tuple[str, bool]:
    return _newest(message.get("content"))


def _message(identifier: str, asked: ModelPrompt) -> dict[str, Any]:
    return {
        "id": f"msg_{identifier}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**USAGE, "output_tokens": 1},
    }


def _block(
    index: int, start: Mapping[str, Any], *deltas: Step | Mapping[str, Any]
) -> Iterator[Step]:
    yield event(
        "content_block_start",
        {"type": "content_block_start", "index": index, "content_block": start},
    )
    for delta in deltas:
        if isinstance(delta, bytes | WirePause | WireGate):
            yield delta
            continue
        yield event(
            "content_block_delta",
            {"type": "content_block_delta", "index": index, "delta": delta},
        )
    yield event("content_block_stop", {"type": "content_block_stop", "index": index})


def _text(index: int, say: SayDirective) -> Iterator[Step]:
    deltas = [
        {"type": "text_delta", "text": piece} if isinstance(piece, str) else piece
        for piece in pieces(say)
    ]
    return _block(index, {"type": "text", "text": ""}, *deltas)


def _thinking(say: SayDirective) -> Iterator[Step]:
    deltas: list[Step | Mapping[str, Any]] = [
        {"type": "thinking_delta", "thinking": piece} if isinstance(piece, str) else piece
        for piece in thoughts(say)
    ]
    deltas.append({"type": "signature_delta", "signature": "c3R1Yg=="})
    return _block(0, {"type": "thinking", "thinking": "", "signature": ""}, *deltas)


def _use(index: int, identifier: str, call: CallDirective) -> Iterator[Step]:
    start = {"type": "tool_use", "id": f"toolu_{identifier}", "name": call.name, "input": {}}
    arguments = json.dumps(dict(call.arguments))
    return _block(index, start, {"type": "input_json_delta", "partial_json": arguments})


def stream(
    identifier: str, asked: ModelPrompt, answer: SayDirective | CallDirective
) -> Iterator[Step]:
    """The answer as server-sent events and waits."""
    message = _message(identifier, asked)
    yield event("message_start", {"type": "message_start", "message": message})
    if isinstance(answer, CallDirective):
        yield from _text(0, SayDirective(text=f"I will use {answer.name}."))
        yield from _use(1, identifier, answer)
    else:
        if answer.think:
            yield from _thinking(answer)
        yield from _text(1 if answer.think else 0, answer)
    reason = "tool_use" if isinstance(answer, CallDirective) else "end_turn"
    yield event(
        "message_delta",
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": USAGE,
        },
    )
    yield event("message_stop", {"type": "message_stop"})


def whole(
    identifier: str, asked: ModelPrompt, answer: SayDirective | CallDirective
) -> dict[str, Any]:
    """The answer of a request that did not ask for a stream."""
    content: list[dict[str, Any]] = (
        [{"type": "text", "text": answer.text}]
        if isinstance(answer, SayDirective)
        else [
            {
                "type": "tool_use",
                "id": f"toolu_{identifier}",
                "name": answer.name,
                "input": dict(answer.arguments),
            }
        ]
    )
    reason = "end_turn" if isinstance(answer, SayDirective) else "tool_use"
    return {
        **_message(identifier, asked),
        "content": content,
        "stop_reason": reason,
        "usage": USAGE,
    }


def error(status: int, message: str) -> dict[str, Any]:
    """The body of a refusal."""
    kind = _ERROR_TYPES.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


def limit_headers(now: float, limits: Mapping[str, float]) -> dict[str, str]:
    """The headers from which a subscription client reads its plan's use.

    @param limits: C{five_hour} and C{seven_day} as fractions of 1, C{reset} in
        seconds from now; C{rejected} non-zero where the plan is used up.
    """
    reset = str(int(now + limits.get("reset", 7200)))
    status = "rejected" if limits.get("rejected") else "allowed"
    prefix = "anthropic-ratelimit-unified"
    return {
        f"{prefix}-status": status,
        f"{prefix}-reset": reset,
        f"{prefix}-representative-claim": "five_hour",
        f"{prefix}-5h-status": status,
        f"{prefix}-5h-utilization": str(limits.get("five_hour", 0.42)),
        f"{prefix}-5h-reset": reset,
        f"{prefix}-7d-status": "allowed",
        f"{prefix}-7d-utilization": str(limits.get("seven_day", 0.17)),
        f"{prefix}-7d-reset": str(int(now + 400_000)),
    }


MODELS = (
    "claude-opus-5-5",
    "claude-opus-4-8",
    "claude-sonnet-5-5",
    "claude-sonnet-4-6",
    "claude-haiku-5-5",
    "claude-fable-5-2",
    "stub-model",
)
"""What the stub lists; it serves any other, too."""


def models() -> dict[str, Any]:
    """The answer to C{GET /v1/models}, in the fields of both vendors."""
    listed = [
        {
            "id": name,
            "type": "model",
            "object": "model",
            "display_name": name,
            "created": 1,
            "created_at": "2026-01-01T00:00:00Z",
            "owned_by": "stub",
        }
        for name in MODELS
    ]
    return {"object": "list", "has_more": False, "data": listed}
