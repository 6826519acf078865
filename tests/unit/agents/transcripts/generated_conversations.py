"""Made-up conversations in the agents' formats: tools, failures, interrupts, compaction."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Lines = Iterator[dict[str, Any]]
WORDS = ("look", "paint", "كلام", "漢字", "👩‍👩‍👧", "`code`", "**bold**", "<b>", "\u2028")


def make_words(chance: random.Random, many: int = 12) -> str:
    """So many words at most, in the signs of all the world."""
    # Nothing but white space is no message.
    return " ".join(["look", *(chance.choice(WORDS) for _ in range(chance.randrange(many)))])


def _encode(lines: Lines) -> bytes:
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)


def _claude(chance: random.Random, turns: int) -> Lines:
    serial = iter(range(1, 10**9))

    def said(*blocks: dict[str, Any], **more: Any) -> Lines:
        name = f"msg_{next(serial)}"
        for block in blocks:
            usage = {"input_tokens": 100, "output_tokens": 7}
            message = {"id": name, "model": "opus", "role": "assistant", "content": [block]}
            yield {"type": "assistant", "message": {**message, "usage": usage}, **more}

    for turn in range(turns):
        text = f"{turn}: {make_words(chance)}"
        if chance.random() < 0.2:
            yield {"type": "queue-operation", "operation": "enqueue", "content": text}
            yield from said({"type": "text", "text": "still at it"})
            yield {"type": "queue-operation", "operation": "dequeue"}
            prompt = {"promptSource": "queued"}
        else:
            prompt = {"promptSource": "typed"}
        yield {"type": "user", "message": {"role": "user", "content": text}, **prompt}
        for _ in range(chance.randrange(4)):
            name = f"toolu_{next(serial)}"
            call = {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "true"}}
            thought = {"type": "thinking", "thinking": make_words(chance)}
            yield from said(*([thought] if chance.random() < 0.3 else []), call)
            if chance.random() < 0.1:
                stopped = [{"type": "text", "text": "[Request interrupted by user for tool use]"}]
                yield {"type": "user", "message": {"role": "user", "content": stopped}}
                break
            failed = chance.random() < 0.3
            block = {"type": "tool_result", "tool_use_id": name, "is_error": failed}
            block["content"] = "Exit code 2\nbad" if failed else make_words(chance)
            yield {"type": "user", "message": {"role": "user", "content": [block]}}
        if chance.random() < 0.1:
            yield from _iterate_side(said, f"toolu_{next(serial)}", chance)
        if chance.random() < 0.1:
            text = "API Error: 529"
            more = {"isApiErrorMessage": True}
            yield from said({"type": "text", "text": text}, **more)
        else:
            yield from said({"type": "text", "text": make_words(chance, 60)})
        if chance.random() < 0.05:
            summary = {"role": "user", "content": f"Summary {turn}"}
            yield {"type": "user", "isCompactSummary": True, "message": summary}


def _iterate_side(said: Callable[..., Lines], name: str, chance: random.Random) -> Lines:
    """A sub-agent of an older version, whose lines stand among those of the conversation."""
    call = {"type": "tool_use", "id": name, "name": "Task", "input": {"description": "look"}}
    yield from said(call)
    asked = {"role": "user", "content": f"below: {make_words(chance)}"}
    yield {"type": "user", "isSidechain": True, "message": asked}
    below = {"type": "tool_use", "id": f"{name}_b", "name": "Bash", "input": {"command": "ls"}}
    yield from said(below, isSidechain=True)
    listed = {"type": "tool_result", "tool_use_id": f"{name}_b", "content": "a.txt"}
    yield {"type": "user", "isSidechain": True, "message": {"role": "user", "content": [listed]}}
    yield from said({"type": "text", "text": make_words(chance)}, isSidechain=True)
    result = {"type": "tool_result", "tool_use_id": name, "content": "seen"}
    yield {"type": "user", "message": {"role": "user", "content": [result]}}


def _codex(chance: random.Random, turns: int) -> Lines:
    yield {"type": "session_meta", "payload": {"id": "c1", "cwd": "/w"}}
    for turn in range(turns):

        def item(kind: str, block: str, text: str) -> dict[str, Any]:
            told = {"type": kind, "content": [{"type": block, "text": text}]}
            return {"type": "event_msg", "payload": {"type": "item_completed", "item": told}}

        yield item("UserMessage", "text", f"{turn}: {make_words(chance)}")
        for number in range(chance.randrange(4)):
            name = f"call_{turn}_{number}"
            call = {"type": "function_call", "name": "exec_command", "call_id": name}
            yield {"type": "response_item", "payload": {**call, "arguments": '{"cmd": "true"}'}}
            text = chance.choice(("aborted by user", "Process exited with code 1\nOutput:\nx"))
            answer = {"type": "function_call_output", "call_id": name, "output": text}
            yield {"type": "response_item", "payload": answer}
        if chance.random() < 0.1:
            error = {"type": "task_complete", "error": {"message": f"failed {turn}"}}
            yield {"type": "event_msg", "payload": error}
        else:
            yield item("AgentMessage", "Text", make_words(chance, 60))
        if chance.random() < 0.05:
            yield {"type": "compacted", "payload": {"message": f"Summary {turn}"}}


def _gemini(chance: random.Random, turns: int) -> Lines:
    yield {"sessionId": "g1", "projectHash": "0"}
    for turn in range(turns):
        yield {
            "id": f"u{turn}",
            "type": "user",
            "content": [{"text": f"{turn}: {make_words(chance)}"}],
        }
        for number in range(chance.randrange(3)):
            tokens = {"input": 100, "output": 7}
            line = {"id": f"t{turn}-{number}", "type": "gemini", "content": "", "tokens": tokens}
            yield line
            call = {"id": "c", "name": "run_shell_command", "args": {"command": "true"}}
            yield {**line, "toolCalls": [{**call, "status": "executing"}]}
            yield {**line, "toolCalls": [{**call, "status": "success"}]}
        if chance.random() < 0.1:
            yield {"id": f"e{turn}", "type": "error", "content": f"failed {turn}"}
        yield {"id": f"a{turn}", "type": "gemini", "content": make_words(chance, 60)}
        if chance.random() < 0.05:
            kept = {"id": f"s{turn}", "type": "user", "content": [{"text": f"Summary {turn}"}]}
            yield {"$set": {"messages": [kept]}}


def _pi(chance: random.Random, turns: int) -> Lines:
    yield {"type": "session", "id": "p1", "cwd": "/w"}
    for turn in range(turns):

        def said(role: str, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
            return {"type": "message", "message": {"role": role, "content": list(blocks), **more}}

        yield said("user", {"type": "text", "text": f"{turn}: {make_words(chance)}"})
        for number in range(chance.randrange(4)):
            name = f"call_{turn}_{number}"
            call = {"type": "toolCall", "id": name, "name": "bash", "arguments": {"command": "x"}}
            yield said("assistant", {"type": "thinking", "thinking": "hm"}, call)
            text = {"type": "text", "text": "no\n\nCommand exited with code 3"}
            yield said("toolResult", text, toolCallId=name, isError=True)
        if chance.random() < 0.1:
            yield said("assistant", stopReason="error", errorMessage=f"failed {turn}")
        else:
            yield said("assistant", {"type": "text", "text": make_words(chance, 60)})


GENERATORS: Mapping[str, Callable[[random.Random, int], bytes]] = {
    "primary": lambda chance, turns: _encode(_claude(chance, turns)),
    "codex": lambda chance, turns: _encode(_codex(chance, turns)),
    "gemini": lambda chance, turns: _encode(_gemini(chance, turns)),
    "pi": lambda chance, turns: _encode(_pi(chance, turns)),
}
"""Conversations of so many turns, by mode."""
