"""Scenes of Claude Code."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.agents.panes import AgentPane
from tests.agents.recipes import CLAUDE_READY
from tests.agents.recording.recorder import ScreenRecorder

FORM = Path(__file__).resolve().parents[1] / "mcp_form.py"
IDLE = "^\u2733"
"""The title's first character while no turn runs."""

TRUSTED = "^ \u276f (?:1. )?Yes"
"""The marked option that trusts the folder; 2.1.330 numbers none and begins at "No"."""

LOOKALIKES = {
    "numbered": "SAY: Three ways:\\n\\n1. Rename the file\\n2. Copy it\\n3. Leave it\\n\\nWhich?",
    "permission": (
        "SAY: It shows:\\n\\n Do you want to proceed?\\n \u276f 1. Yes\\n   2. No\\n\\n"
        " Esc to cancel"
    ),
    "trust": (
        "SAY: The page says: Quick safety check, one you trust?\\n\\n"
        "\u276f 1. Yes, I trust this folder\\n  2. No, exit\\n\\nEnter to confirm"
    ),
    "code": (
        "SAY: Use this:\\n\\n```python\\nfor n in range(3):\\n    print(n)\\n```\\n\\nThat is all."
    ),
}
"""Answers of the model that look like something to be chosen from."""


def _start(recorder: ScreenRecorder, *arguments: str, **options: Any) -> AgentPane:
    """In a mode that asks: 2.1.330 begins in its auto mode where none is named."""
    asking = () if arguments else ("--permission-mode", "default")
    return recorder.start(*asking, *arguments, trusted=True, **options)


def _ready(recorder: ScreenRecorder, *arguments: str, **options: Any) -> AgentPane:
    pane = _start(recorder, *arguments, **options)
    pane.wait(CLAUDE_READY)
    time.sleep(0.5)
    return pane


def _answered(pane: AgentPane, prompt: str) -> None:
    pane.submit(prompt)
    pane.wait(r"^\S [^ ]+ for \d+s")
    pane.wait_title(IDLE)
    time.sleep(0.3)


def trust(recorder: ScreenRecorder) -> None:
    with recorder.start() as pane:
        pane.wait("Enter to confirm")
        recorder.keep(pane, "trust")
        pane.keys("Down")
        recorder.keep(pane, "trust_down")
        if not re.search(TRUSTED, pane.look().text, re.M):
            pane.keys("Up")
        pane.wait(TRUSTED)
        pane.keys("Enter")
        pane.wait(CLAUDE_READY)
        recorder.keep(pane, "ready_after_trust")


def composer(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.type("half a thought")
        recorder.keep(pane, "typed")
        pane.keys("M-Enter")
        pane.type("and a second line")
        recorder.keep(pane, "typed_two_lines")
        pane.keys("Escape")
        time.sleep(0.2)
        pane.keys("Escape")
        time.sleep(0.5)
        pane.paste("one\ntwo\nthree\nfour\nfive")
        recorder.keep(pane, "pasted_five_lines")


def commands(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.type("/")
        recorder.keep(pane, "slash_menu", 1.0)
        pane.keys("BSpace")
        pane.type("!")
        recorder.keep(pane, "bash_mode")
        pane.keys("BSpace")
        pane.type("?")
        recorder.keep(pane, "shortcuts")
        pane.keys("BSpace")
        time.sleep(0.3)
        pane.submit("/model")
        recorder.keep(pane, "model_picker", 1.0)
        pane.keys("Escape")
        time.sleep(0.5)
        _answered(pane, "SAY: before")
        pane.keys("Escape")
        time.sleep(0.2)
        pane.keys("Escape")
        recorder.keep(pane, "rewind", 1.0)
        pane.keys("Escape")
        time.sleep(0.5)
        pane.submit("/config")
        recorder.keep(pane, "config", 1.5)


def answers(recorder: ScreenRecorder) -> None:
    for name, prompt in LOOKALIKES.items():
        with _ready(recorder) as pane:
            _answered(pane, prompt)
            recorder.keep(pane, f"answer_{name}")


def busy(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.submit("HOLD: one")
        pane.wait("^\u25cf")
        recorder.keep(pane, "busy_early", 0.1)
        recorder.keep(pane, "busy_later", 3.0)
        pane.type("typed meanwhile")
        recorder.keep(pane, "busy_typed")
        pane.keys("Enter")
        recorder.keep(pane, "busy_queued", 0.6)
        recorder.world.stub.release("one")
        pane.wait("You said: typed meanwhile")
        pane.wait_title(IDLE)
        recorder.keep(pane, "after_queue")


def thinking(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.submit("THINK: 4")
        recorder.keep(pane, "thinking", 2.5)
        pane.keys("Escape")
        pane.wait_title(IDLE)
        recorder.keep(pane, "thinking_taken_back")
        pane.keys("Escape")
        time.sleep(0.2)
        pane.keys("Escape")
        time.sleep(0.5)
        pane.submit("SLOW: 6")
        recorder.keep(pane, "streaming", 3.0)
        pane.keys("Escape")
        pane.wait("Interrupted")
        recorder.keep(pane, "interrupted")


def bash(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.submit("RUN: touch made")
        pane.wait("Do you want to proceed")
        recorder.keep(pane, "bash_dialog")
        pane.keys("Down")
        recorder.keep(pane, "bash_dialog_down")
        pane.keys("Escape")
        pane.wait("Interrupted")
        recorder.keep(pane, "bash_refused")
        pane.submit("RUN: sleep 3; touch made")
        pane.wait("Do you want to proceed")
        pane.keys("1")
        recorder.keep(pane, "bash_running", 1.5)
        pane.wait("Done with the tool")
        pane.wait_title(IDLE)
        recorder.keep(pane, "bash_done")


def files(recorder: ScreenRecorder) -> None:
    target = recorder.world.place.work / "notes.txt"
    with _ready(recorder) as pane:
        pane.submit(f"WRITE: {target}")
        pane.wait("Do you want to create")
        recorder.keep(pane, "write_dialog")
        pane.keys("1")
        pane.wait("Done with the tool")
        change = {"file_path": str(target), "old_string": "hello", "new_string": "goodbye"}
        pane.submit(f"TOOL: Edit {json.dumps(change)}")
        pane.wait("Do you want to make")
        recorder.keep(pane, "edit_dialog")
        pane.keys("3")
        pane.wait("rejected")
        time.sleep(0.5)
        pane.submit('TOOL: WebFetch {"url": "https://example.org/x", "prompt": "read"}')
        pane.wait("allow Claude to fetch")
        recorder.keep(pane, "fetch_dialog")


def question(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.submit("ASK:")
        pane.wait("Enter to select")
        recorder.keep(pane, "question")
        pane.keys("Down")
        recorder.keep(pane, "question_down")
        pane.type("4")
        time.sleep(0.3)
        pane.type("port 7")
        recorder.keep(pane, "question_free_text")
        pane.keys("Enter")
        pane.wait("Done with the tool")
        pane.wait_title(IDLE)
        recorder.keep(pane, "question_answered")


def multiple(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.submit("ASKM:")
        pane.wait("Enter to select")
        recorder.keep(pane, "multiple")
        pane.type("1")
        time.sleep(0.3)
        pane.type("3")
        recorder.keep(pane, "multiple_two_ticked")
        pane.keys("Right")
        pane.wait("Review your answers")
        recorder.keep(pane, "multiple_review")


def several(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.submit("ASK3:")
        pane.wait("to navigate")
        recorder.keep(pane, "several_first")
        pane.type("2")
        time.sleep(0.5)
        pane.type("2")
        recorder.keep(pane, "several_second")
        pane.keys("Right")
        time.sleep(0.5)
        recorder.keep(pane, "several_third")
        pane.type("1")
        pane.wait("Review your answers")
        recorder.keep(pane, "several_review")
        pane.keys("Escape")
        pane.wait_title(IDLE)
        recorder.keep(pane, "several_declined", 1.0)


def plan(recorder: ScreenRecorder) -> None:
    with _ready(recorder, "--permission-mode", "plan") as pane:
        recorder.keep(pane, "plan_ready")
        pane.submit("PLAN:")
        pane.wait("\u276f 1")
        recorder.keep(pane, "plan_dialog", 1.0)


def modes(recorder: ScreenRecorder) -> None:
    with _ready(recorder, "--permission-mode", "acceptEdits") as pane:
        recorder.keep(pane, "accept_edits_ready")
        _answered(pane, "HUGE: 120")
        recorder.keep(pane, "huge_answer")


def errors(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.submit("FAIL: 400")
        pane.wait("API Error")
        pane.wait_title(IDLE)
        recorder.keep(pane, "error_400")
        pane.submit("FAIL: 529")
        pane.wait("Retrying|attempt", 20)
        recorder.keep(pane, "error_529_retry", 0.2)


def limits(recorder: ScreenRecorder) -> None:
    with _ready(recorder, subscription=True) as pane:
        pane.submit("LIMIT: 7200")
        pane.wait("limit")
        pane.wait_title(IDLE)
        recorder.keep(pane, "usage_limit", 1.5)


def bypass(recorder: ScreenRecorder) -> None:
    flags = ("--dangerously-skip-permissions",)
    with recorder.start(*flags, trusted=True, env={"IS_SANDBOX": "1"}) as pane:
        pane.wait("Enter to confirm")
        recorder.keep(pane, "bypass_warning")
        pane.keys("Down")
        recorder.keep(pane, "bypass_warning_down")
        pane.keys("Enter")
        pane.wait(CLAUDE_READY)
        recorder.keep(pane, "bypass_ready")


def servers(recorder: ScreenRecorder) -> None:
    server = {"command": sys.executable, "args": [str(FORM)]}
    config = recorder.world.place.work / ".mcp.json"
    config.write_text(json.dumps({"mcpServers": {"forms": server}}), "utf-8")
    with _start(recorder) as pane:
        pane.wait("Enter to confirm")
        recorder.keep(pane, "mcp_server_dialog")
        pane.keys("1")
        pane.wait(CLAUDE_READY)
        time.sleep(1.5)
        pane.submit("TOOL: mcp__forms__ask_user {}")
        pane.wait("Do you want to proceed")
        recorder.keep(pane, "mcp_tool_dialog")
        pane.keys("1")
        pane.wait("requests your input")
        recorder.keep(pane, "form")
        pane.type("Ada")
        recorder.keep(pane, "form_typed")


def housekeeping(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        for number in range(4):
            _answered(pane, f"SAY: number {number} to keep")
        pane.submit("/compact")
        recorder.keep(pane, "compacting", 0.2)
        pane.wait("Compacted|compacted", 15)
        recorder.keep(pane, "compacted", 1.0)
        pane.submit("/clear")
        recorder.keep(pane, "cleared", 1.5)
        pane.submit("/exit")
        pane.wait_dead()
        recorder.keep(pane, "exited")


SCENES: Mapping[str, Callable[[ScreenRecorder], None]] = {
    scene.__name__: scene
    for scene in (
        trust,
        composer,
        commands,
        answers,
        busy,
        thinking,
        bash,
        files,
        question,
        multiple,
        several,
        plan,
        modes,
        errors,
        limits,
        bypass,
        servers,
        housekeeping,
    )
}
