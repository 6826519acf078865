"""Calls of tools, with the titles that people read.

This module does no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tservice.agents.todos import encode_todos, parse_todos
from tservice.agents.transcripts.conversation.items import (
    NAME_CHARS,
    TITLE_CHARS,
    ConversationItem,
    FileDiff,
    ItemKind,
    ItemRole,
    ToolCall,
)
from tservice.agents.transcripts.model import get_text_or_none
from tservice.core.values.text import shorten_text

_SHELL = frozenset(
    {"Bash", "bash", "exec_command", "shell", "shell_command", "local_shell", "run_shell_command"}
)
_QUESTIONS = frozenset(
    {"AskUserQuestion", "request_user_input", "question", "ask_user", "ask_user_question"}
)
_TODOS: Mapping[str, tuple[str, str]] = {
    "TodoWrite": ("todos", "content"),
    "todowrite": ("todos", "content"),
    "update_plan": ("plan", "step"),
    "write_todos": ("todos", "description"),
}
"""Tools for to-do lists, with the names of the list and of an entry's text."""
_SUBJECTS = (
    "file_path", "filePath", "absolute_path", "path", "command", "cmd", "pattern", "query", "url",
    "description", "subject", "prompt", "skill", "message", "name",
)  # fmt: skip
"""Names of inputs, the first of which that is a text is part of the title."""
_WORDS: Mapping[str, str] = {
    "replace": "Edit",
    "str_replace": "Edit",
    "apply_patch": "Edit",
    "write_file": "Write",
    "read_file": "Read",
    "run_shell_command": "Bash",
    "exec_command": "Bash",
    "shell": "Bash",
    "local_shell": "Bash",
    "shell_command": "Bash",
}
"""Names that stand in a title for an agent's own name of the same tool."""
_PATCHES = frozenset({"apply_patch"})
"""Tools whose input names no file."""
_SERVER = re.compile(r"mcp__(.{1,80}?)__(.{1,120})")


def make_call_item(
    name: str, given: Mapping[str, Any], at: int | None, **fields: Any
) -> ConversationItem:
    """Return the item of a tool's call.

    @param given: the tool's input.
    @param fields: further fields of the call.
    """
    kind, todos = ItemKind.TOOL, None
    if name in _QUESTIONS:
        kind = ItemKind.QUESTION
    elif name in _TODOS:
        many, text = _TODOS[name]
        told = parse_todos(given.get(many), text)
        todos = None if told is None else encode_todos(told)
        kind = ItemKind.TODO
    changed: tuple[FileDiff, ...] = fields.get("diffs", ())
    about = {"path": changed[0].path} if changed and name in _PATCHES else given
    call = ToolCall(
        name=name[:NAME_CHARS], title=make_tool_title(name, about), input=given, **fields
    )
    return ConversationItem(role=ItemRole.ASSISTANT, kind=kind, at=at, tool=call, todos=todos)


def is_shell(name: str) -> bool:
    """Return true if a tool runs shell commands."""
    return name in _SHELL


def make_tool_title(name: str, given: Mapping[str, Any]) -> str:
    """Return the title of a call: the tool, and the first input that says what it is about."""
    named = _SERVER.fullmatch(name)
    word = _WORDS.get(name, f"{named[1]} {named[2]}" if named else name)
    word = word[:1].upper() + word[1:]
    subject = next((text for key in _SUBJECTS if (text := _get_subject(given.get(key)))), "")
    return shorten_text(" ".join(f"{word} {subject}".split()), TITLE_CHARS)


def _get_subject(value: Any) -> str | None:
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        # Codex's older tool takes the words of a command; the shell's own are no information.
        return " ".join(value[2:] if value[1:2] in (["-c"], ["-lc"]) else value)[: TITLE_CHARS * 2]
    text = get_text_or_none(value)
    return None if text is None else text[: TITLE_CHARS * 2]
