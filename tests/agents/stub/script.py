r"""The language in which a prompt tells the stub model what to answer.

A directive stands at the start of a line; the last one of the prompt counts.
After a tool's result the model says one closing sentence, whatever the
directive was.

==================  ====================================================
C{SAY: text}        those words; C{\n} in the text is a line end
C{RUN: command}     one call of the client's shell tool
C{WRITE: path}      one call of its file-writing tool
C{ASK:}             one single-choice question
C{ASKM:}            one multiple-choice question
C{ASK3:}            three questions, the second of them multiple-choice
C{PLAN:}            write the plan's file, where the client names one, and
                    leave plan mode
C{TOOL: name json}  any other tool
C{SLOW: seconds}    words, two a second, for that long
C{HOLD: name}       one word, then nothing until the test releases C{name}
C{THINK: seconds}   a thinking block for that long, then one sentence
C{HUGE: lines}      that many numbered lines at once
C{FAIL: status}     that HTTP status
C{LIMIT: seconds}   the plan's usage limit, lifted after that many seconds
==================  ====================================================
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from attrs import frozen

WORD_SECONDS = 0.5
"""Pause between two words of a slow answer."""


@frozen(kw_only=True)
class SayDirective:
    """A text answer.

    @ivar pause: seconds between two words; 0 sends the text in one piece.
    @ivar think: seconds of thinking before it.
    @ivar hold: name of the gate that the answer waits at after its first word.
    """

    text: str
    pause: float = 0.0
    think: float = 0.0
    hold: str | None = None


@frozen(kw_only=True)
class ShellDirective:
    """A call of whatever tool the client has for shell commands."""

    command: str


@frozen(kw_only=True)
class CallDirective:
    """A call of the tool C{name}."""

    name: str
    arguments: Mapping[str, Any]


@frozen(kw_only=True)
class FailDirective:
    """An HTTP error.

    @ivar reset: seconds until the plan's usage limit is lifted; L{None} where
        the error is no usage limit.
    """

    status: int
    reset: int | None = None


Plan = SayDirective | ShellDirective | CallDirective | FailDirective

CLOSING = "Done with the tool."
"""What the model says after any tool result."""


def _question(header: str, text: str, multiple: bool, *options: tuple[str, str]) -> dict[str, Any]:
    return {
        "question": text,
        "header": header,
        "multiSelect": multiple,
        "options": [{"label": label, "description": about} for label, about in options],
    }


SINGLE = _question(
    "Port",
    "Which port should the server listen on?",
    False,
    ("Keep 8080", "No change for the clients"),
    ("Move to 9090", "Clear of the proxy"),
    ("Let the kernel choose", "Printed at start"),
)
MULTIPLE = _question(
    "Checks",
    "Which checks should run before a commit?",
    True,
    ("Types", "The type checker"),
    ("Style", "The linter"),
    ("Unit tests", "The fast ones"),
    ("Docs", "Build the manual"),
)
SECOND = _question(
    "Store",
    "Where should the records live?",
    False,
    ("SQLite", "One file"),
    ("Plain files", "One a record"),
)


def _ask(*questions: Mapping[str, Any]) -> CallDirective:
    return CallDirective(name="AskUserQuestion", arguments={"questions": list(questions)})


def _slow(value: str) -> SayDirective:
    words = max(1, int(float(value or 5) / WORD_SECONDS))
    return SayDirective(text=" ".join(f"word{n}" for n in range(words)), pause=WORD_SECONDS)


def _huge(value: str) -> SayDirective:
    return SayDirective(text="\n".join(f"line {n} of many" for n in range(int(value or 500))))


def _tool(value: str) -> CallDirective:
    name, _, arguments = value.partition(" ")
    return CallDirective(name=name, arguments=json.loads(arguments or "{}"))


def _write(value: str) -> CallDirective:
    return CallDirective(name="Write", arguments={"file_path": value, "content": "hello\n"})


PLAN_TEXT = "# Plan\n\n1. Look at the code\n2. Change one line\n"


def _plan_mode(value: str) -> CallDirective:
    return CallDirective(name="ExitPlanMode", arguments={"plan": PLAN_TEXT})


DIRECTIVES: Mapping[str, Callable[[str], Plan]] = {
    "SAY": lambda value: SayDirective(text=value.replace("\\n", "\n")),
    "RUN": lambda value: ShellDirective(command=value or "echo hello"),
    "WRITE": _write,
    "ASK": lambda value: _ask(SINGLE),
    "ASKM": lambda value: _ask(MULTIPLE),
    "ASK3": lambda value: _ask(SINGLE, MULTIPLE, SECOND),
    "PLAN": _plan_mode,
    "TOOL": _tool,
    "SLOW": _slow,
    "HOLD": lambda value: SayDirective(text="holding until released", hold=value or "gate"),
    "THINK": lambda value: SayDirective(text="I have thought.", think=float(value or 2)),
    "HUGE": _huge,
    "FAIL": lambda value: FailDirective(status=int(value or 529)),
    "LIMIT": lambda value: FailDirective(status=429, reset=int(value or 3600)),
}


def directive(prompt: str) -> Plan | None:
    """The plan of the last directive in the prompt, or L{None} where it has none.

    A prompt may end with a program's output that is cut: half of a tool's input is no directive.
    """
    for line in reversed(prompt.splitlines()):
        word, colon, value = line.strip().partition(":")
        if colon and word in DIRECTIVES:
            with suppress(json.JSONDecodeError):
                return DIRECTIVES[word](value.strip())
    return None


def _plan_step(plan_file: str | None, last_tool: str | None) -> Plan:
    if last_tool == "ExitPlanMode":
        return SayDirective(text=CLOSING)
    if plan_file is not None and last_tool is None:
        return CallDirective(name="Write", arguments={"file_path": plan_file, "content": PLAN_TEXT})
    return _plan_mode("")


def plan(
    prompt: str, *, last_tool: str | None, has_tools: bool, plan_file: str | None = None
) -> Plan:
    """What the model does about a prompt.

    @param last_tool: the tool whose result stands behind the prompt.
    @param has_tools: the request offers tools; without them every plan that
        needs one becomes words (clients ask for titles that way).
    @param plan_file: where the client wants plans to be written.
    """
    found = directive(prompt)
    after_tool = last_tool is not None
    if has_tools and isinstance(found, CallDirective) and found.name == "ExitPlanMode":
        return _plan_step(plan_file, last_tool)
    if isinstance(found, FailDirective):
        return found
    if after_tool:
        return SayDirective(text=CLOSING)
    if found is None or (not has_tools and not isinstance(found, SayDirective)):
        return SayDirective(text=f"You said: {' '.join(prompt.split())[:60]}")
    if not has_tools:
        return SayDirective(text="A short title")
    return found
