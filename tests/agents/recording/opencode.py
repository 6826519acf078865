"""Scenes of opencode."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from tests.agents.panes import AgentPane
from tests.agents.recording.recorder import ScreenRecorder

READY = "Ask anything"


def _ready(recorder: ScreenRecorder) -> AgentPane:
    pane = recorder.start(trusted=True)
    pane.wait(READY, 40)
    time.sleep(1.5)
    return pane


def composer(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        recorder.keep(pane, "ready", 0.5)
        pane.type("half a thought")
        recorder.keep(pane, "typed")
        pane.keys("C-j")
        pane.type("and a second line")
        recorder.keep(pane, "typed_two_lines")


def answers(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.submit("SAY: Ways:\\n\\n1. Rename\\n2. Copy\\n3. Leave\\n\\nWhich?")
        pane.wait("Which\\? *$", 30)
        pane.wait("Stub Model · ")
        recorder.keep(pane, "answer_numbered", 1.0)
        pane.submit("SAY: Permission required\\n\\nAllow once   Allow always   Reject")
        pane.wait("^ +Allow once   Allow always")
        recorder.keep(pane, "answer_permission", 1.5)


def busy(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.submit("HOLD: one")
        pane.wait("interrupt", 30)
        recorder.keep(pane, "busy_early", 0.3)
        recorder.keep(pane, "busy_later", 3.0)
        pane.type("typed meanwhile")
        recorder.keep(pane, "busy_typed")
        pane.keys("Enter")
        recorder.keep(pane, "busy_queued", 0.8)
        recorder.world.stub.release("one")
        pane.wait("You said: typed meanwhile")
        recorder.keep(pane, "after_queue", 1.5)
        pane.submit("SLOW: 8")
        recorder.keep(pane, "streaming", 3.0)
        pane.keys("Escape")
        time.sleep(0.2)
        pane.keys("Escape")
        recorder.keep(pane, "interrupted", 1.0)


def approval(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.submit("RUN: touch made")
        pane.wait("Permission required", 30)
        recorder.keep(pane, "approval", 1.0)
        pane.keys("Right")
        recorder.keep(pane, "approval_right")
        pane.keys("Escape")
        recorder.keep(pane, "approval_refused", 1.5)
        target = recorder.world.place.work / "notes.txt"
        pane.submit(f"WRITE: {target}")
        pane.wait("Permission required", 30)
        recorder.keep(pane, "write_dialog", 1.0)
        pane.keys("Enter")
        pane.wait("Done with the tool")
        recorder.keep(pane, "write_done", 1.5)


def errors(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.submit("FAIL: 400")
        pane.wait("stub says 400", 30)
        recorder.keep(pane, "error_400", 1.5)
        pane.type("/")
        recorder.keep(pane, "slash_menu", 1.0)


SCENES: Mapping[str, Callable[[ScreenRecorder], None]] = {
    scene.__name__: scene for scene in (composer, answers, busy, approval, errors)
}
