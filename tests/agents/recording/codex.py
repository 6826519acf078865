"""Scenes of Codex."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.agents.panes import AgentPane
from tests.agents.recording.recorder import ScreenRecorder

READY = "^› Ask Codex"


def _ready(recorder: ScreenRecorder) -> AgentPane:
    recorder.world.make_git()
    pane = recorder.start(trusted=True)
    pane.wait(READY)
    return pane


def _answered(pane: AgentPane, prompt: str, answer: str) -> None:
    pane.submit(prompt)
    pane.wait(answer)
    pane.wait_title("^work$")


def trust(recorder: ScreenRecorder) -> None:
    recorder.world.make_git()
    with recorder.start() as pane:
        pane.wait("Trust")
        recorder.keep(pane, "trust", 1.0)
        pane.keys("Down")
        recorder.keep(pane, "trust_down")
        pane.keys("Up")
        pane.wait("^› 1")
        pane.keys("Enter")
        pane.wait(READY)
        recorder.keep(pane, "ready_after_trust", 1.5)


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
        _answered(pane, "SAY: Ways:\\n\\n1. Rename\\n2. Copy\\n3. Leave\\n\\nWhich?", "Which\\?$")
        recorder.keep(pane, "answer_numbered")
        fake = "SAY: It asks\\n\\nWould you like to run the following command?\\n\\n"
        _answered(pane, f"{fake}› 1. Yes, proceed (y)\\n2. No", r"^\S? +2\. No")
        recorder.keep(pane, "answer_permission")


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
        pane.wait_title("^work$")
        recorder.keep(pane, "after_queue")
        pane.submit("SLOW: 6")
        recorder.keep(pane, "streaming", 2.5)
        pane.keys("Escape")
        recorder.keep(pane, "interrupted", 1.0)


def approval(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.submit("RUN: touch made")
        pane.wait("Would you like to run")
        recorder.keep(pane, "approval")
        pane.keys("Down")
        recorder.keep(pane, "approval_down")
        pane.keys("Escape")
        recorder.keep(pane, "approval_refused", 1.0)
        pane.submit("RUN: touch made; sleep 3")
        pane.wait("Would you like to run")
        pane.keys("y")
        recorder.keep(pane, "command_running", 1.5)
        pane.wait("Done with the tool")
        recorder.keep(pane, "command_done", 1.0)


def errors(recorder: ScreenRecorder) -> None:
    with _ready(recorder) as pane:
        pane.submit("FAIL: 400")
        pane.wait("stub says 400")
        recorder.keep(pane, "error_400", 1.0)
        pane.submit("/quit")
        pane.wait_dead()
        recorder.keep(pane, "exited")


SCENES: Mapping[str, Callable[[ScreenRecorder], None]] = {
    scene.__name__: scene for scene in (trust, composer, answers, busy, approval, errors)
}
