"""Scenes of pi, which never asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.agents.panes import AgentPane
from tests.agents.recording.recorder import ScreenRecorder

READY = r"0\.0%/128k"


def _ready(recorder: ScreenRecorder) -> AgentPane:
    pane = recorder.start(trusted=True)
    pane.wait(READY)
    return pane


def composer(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        recorder.keep(pane, "ready", 1.0)
        pane.type("half a thought")
        recorder.keep(pane, "typed")
        pane.keys("C-j")
        pane.type("and a second line")
        recorder.keep(pane, "typed_two_lines")


def answers(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.submit("SAY: Ways:\\n\\n1. Rename\\n2. Copy\\n3. Leave\\n\\nWhich?")
        pane.wait("Which\\? *$")
        recorder.keep(pane, "answer_numbered", 1.0)


def busy(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.submit("HOLD: one")
        pane.wait("Working")
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
        recorder.keep(pane, "interrupted", 1.0)


def commands(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.submit("RUN: sleep 3; touch made")
        recorder.keep(pane, "command_running", 1.5)
        pane.wait("Done with the tool")
        recorder.keep(pane, "command_done", 1.0)
        pane.submit("FAIL: 400")
        pane.wait("stub says 400")
        recorder.keep(pane, "error_400", 1.5)
        pane.type("/")
        recorder.keep(pane, "slash_menu", 1.0)


SCENES: Mapping[str, Callable[[ScreenRecorder], None]] = {
    scene.__name__: scene for scene in (composer, answers, busy, commands)
}
