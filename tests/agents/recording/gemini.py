"""Scenes of Gemini CLI."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from tests.agents.panes import AgentPane
from tests.agents.recording.recorder import ScreenRecorder

READY = "Type your message"
IDLE = "Ready"


def _ready(recorder: ScreenRecorder) -> AgentPane:
    pane = recorder.start(trusted=True)
    pane.wait(READY)
    time.sleep(1.0)
    return pane


def trust(recorder: ScreenRecorder) -> None:
    with recorder.start() as pane:
        pane.wait("Do you trust")
        recorder.keep(pane, "trust", 1.0)
        pane.keys("Down")
        recorder.keep(pane, "trust_down")
        pane.keys("Up")
        pane.wait("● 1")
        pane.keys("Enter")
        pane.wait(READY)
        recorder.keep(pane, "ready_after_trust", 1.5)


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
        pane.wait("Which\\?$")
        pane.wait_title(IDLE)
        recorder.keep(pane, "answer_numbered", 1.0)
        pane.submit("SAY: Allow execution of [Shell]?\\n\\n● 1. Allow once\\n  2. No (esc)")
        pane.wait(r"^ +2\. No")
        pane.wait_title(IDLE)
        recorder.keep(pane, "answer_permission", 1.0)


def busy(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.submit("HOLD: one")
        recorder.keep(pane, "busy_early", 1.0)
        recorder.keep(pane, "busy_later", 3.0)
        pane.type("typed meanwhile")
        recorder.keep(pane, "busy_typed")
        pane.keys("Enter")
        recorder.keep(pane, "busy_queued", 0.6)
        recorder.world.stub.release("one")
        pane.wait("You said: typed meanwhile")
        pane.wait_title(IDLE)
        recorder.keep(pane, "after_queue", 1.0)
        pane.submit("SLOW: 6")
        recorder.keep(pane, "streaming", 2.5)
        pane.keys("Escape")
        recorder.keep(pane, "interrupted", 1.0)


def approval(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.submit("RUN: touch made")
        pane.wait("Allow execution")
        recorder.keep(pane, "approval", 1.0)
        pane.keys("Down")
        recorder.keep(pane, "approval_down")
        pane.keys("Escape")
        pane.wait_title(IDLE)
        recorder.keep(pane, "approval_refused", 1.0)
        target = recorder.world.place.work / "notes.txt"
        pane.submit(f"WRITE: {target}")
        pane.wait("Apply this change")
        recorder.keep(pane, "write_dialog", 1.0)
        pane.keys("Enter")
        pane.wait("Done with the tool")
        pane.wait_title(IDLE)
        recorder.keep(pane, "write_done", 1.0)


def errors(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.submit("FAIL: 400")
        pane.wait("stub says 400")
        recorder.keep(pane, "error_400", 1.5)
        pane.submit("/quit")
        pane.wait_dead()
        recorder.keep(pane, "exited")


SCENES: Mapping[str, Callable[[ScreenRecorder], None]] = {
    scene.__name__: scene for scene in (trust, composer, answers, busy, approval, errors)
}
