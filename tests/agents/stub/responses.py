"""The OpenAI responses protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import define

from tests.agents.stub.chat import text_of
from tests.agents.stub.record import ModelPrompt
from tests.agents.stub.script import CallDirective, SayDirective
from tests.agents.stub.wire import Step, event, pieces

USAGE = {
    "input_tokens": 1200,
    "input_tokens_details": {"cached_tokens": 1000},
    "output_tokens": 34,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 1234,
}
SPACE = "/"
"""Between a namespace and the tool in it, as the stub names them."""
_CONTEXT = ("<environment_context>", "<user_instructions>", "# AGENTS.md", "<permissions")


def _items(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    given = body.get("input") or []
    return [{"role": "user", "content": given}] if isinstance(given, str) else list(given)


def _offered(tools: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The tools, also those of an MCP server, which Codex puts into a namespace."""
    for each in tools:
        if each.get("type") != "namespace":
            yield each
        for inner in each.get("tools") or []:
            yield {**inner, "name": f"{each['name']}{SPACE}{inner['name']}"}


def read(body: Mapping[str, Any]) -> ModelPrompt:
    """What the request asks."""
    items = _items(body)
    said = [text_of(each.get("content")) for each in items if each.get("role") == "user"]
    own = [text for text in said if not text.lstrip().startswith(_CONTEXT)]
    after_tool = bool(items) and str(items[-1].get("type", "")).endswith("_call_output")
    tools = {
        each.get("name") or each["type"]: each.get("parameters") or {}
        for each in _offered(body.get("tools") or [])
    }
    return ModelPrompt(
        prompt=own[-1] if own else "",
        model=str(body.get("model", "stub")),
        said=tuple(own),
        last_tool="" if after_tool else None,
        stream=bool(body.get("stream")),
        side=not tools or ("text" in body and "format" in (body["text"] or {})),
        tools=tools,
    )


@define
class _NumberedEvents:
    """Events with their running number."""

    number: int = 0

    def make(self, kind: str, **fields: Any) -> bytes:
        data = {"type": kind, "sequence_number": self.number, **fields}
        self.number += 1
        return event(kind, data)


def _item(identifier: str, answer: SayDirective | CallDirective) -> dict[str, Any]:
    if isinstance(answer, CallDirective):
        space, _, name = answer.name.rpartition(SPACE)
        return {
            **({"namespace": space} if space else {}),
            "type": "function_call",
            "id": f"fc_{identifier}",
            "call_id": f"call_{identifier}",
            "name": name,
            "status": "completed",
            "arguments": json.dumps(dict(answer.arguments)),
        }
    return {
        "type": "message",
        "id": f"msg_{identifier}",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": answer.text, "annotations": []}],
    }


def whole(
    identifier: str, asked: ModelPrompt, answer: SayDirective | CallDirective
) -> dict[str, Any]:
    """The answer of a request that did not ask for a stream."""
    return {
        "id": f"resp_{identifier}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": asked.model,
        "output": [_item(identifier, answer)],
        "parallel_tool_calls": False,
        "tools": [],
        "tool_choice": "auto",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "temperature": 1,
        "top_p": 1,
        "usage": USAGE,
    }


def _words(events: _NumberedEvents, item: Mapping[str, Any], say: SayDirective) -> Iterator[Step]:
    place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    empty = {"type": "output_text", "text": "", "annotations": []}
    yield events.make("response.content_part.added", **place, part=empty)
    for piece in pieces(say):
        if isinstance(piece, str):
            yield events.make("response.output_text.delta", **place, delta=piece)
        else:
            yield piece
    yield events.make("response.output_text.done", **place, text=say.text)
    yield events.make("response.content_part.done", **place, part=item["content"][0])


def _arguments(events: _NumberedEvents, item: Mapping[str, Any]) -> Iterator[Step]:
    place = {"item_id": item["id"], "output_index": 0}
    name = "response.function_call_arguments"
    yield events.make(f"{name}.delta", **place, delta=item["arguments"])
    yield events.make(f"{name}.done", **place, arguments=item["arguments"])


def stream(
    identifier: str, asked: ModelPrompt, answer: SayDirective | CallDirective
) -> Iterator[Step]:
    """The answer as server-sent events and waits."""
    events, full = _NumberedEvents(), whole(identifier, asked, answer)
    item = full["output"][0]
    started = {**full, "status": "in_progress", "output": [], "usage": None}
    yield events.make("response.created", response=started)
    opened = {**item, "status": "in_progress"}
    if isinstance(answer, SayDirective):
        opened["content"] = []
    yield events.make("response.output_item.added", output_index=0, item=opened)
    if isinstance(answer, SayDirective):
        yield from _words(events, item, answer)
    else:
        yield from _arguments(events, item)
    yield events.make("response.output_item.done", output_index=0, item=item)
    yield events.make("response.completed", response=full)
