"""Turns of all kinds, and a status that is compared with them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from attrs import evolve

from tests.agents.driven_sessions import DrivenSessionCase
from tests.agents.status_truth import (
    StatusDeviation,
    StatusWatcher,
    TurnEdge,
    TurnSpan,
    compare_moves,
)
from tests.run_figures import report_figure
from tests.waiting import PATIENCE, assert_stays

PERMISSION = "Do you want to proceed?"
WORKING = "esc to interrupt"

LONG = int(2 * PATIENCE)
"""Seconds of an answer that somebody ends before it is over."""

EDGES = ("prompt_submitted", "stop")
"""The hooks by which the agent tells that a turn begins, and that it ended by itself."""

REST = 1.2
"""Seconds between two turns, so that a status that lags is seen to be wrong."""

BY_THEMSELVES = ("short", "streaming", "silent", "many_lines", "error", "tool_approved")

FEW = (
    "short",
    "silent",
    "error",
    "tool_approved",
    "escape_at_a_dialog",
    "escape_while_it_speaks",
)

BY_SOMEBODY = (
    "tool_denied",
    "no_by_its_number",
    "escape_at_a_dialog",
    "escape_at_a_question",
    "escape_while_it_speaks",
    "escape_while_it_thinks",
    "escape_between_attempts",
)


class StatusSuite(DrivenSessionCase):
    """Turns of all kinds.

    A scene returns when its turn truly ended where the model cannot know, for no request was under
    way: then what ended it is off the screen.
    """

    def scene_short(self) -> TurnEdge | None:
        self.type("SAY: hello")
        return None

    def scene_streaming(self) -> TurnEdge | None:
        self.type("SLOW: 3")
        return None

    def scene_silent(self) -> TurnEdge | None:
        """Nothing but the spinner moves."""
        self.type("THINK: 3")
        return None

    def scene_many_lines(self) -> TurnEdge | None:
        self.type("HUGE: 300")
        return None

    def scene_tool_approved(self) -> TurnEdge | None:
        """A dialog, a tool that takes longer than any silence, and words."""
        self.prompt("RUN: touch approved; sleep 3", wait="blocked")
        item = self.approval()
        self.works(2)
        self.answer(item, action="approve")
        return None

    def scene_tool_denied(self) -> TurnEdge | None:
        self.prompt("RUN: touch denied", wait="blocked")
        self.answer(self.approval(), action="deny")
        return self.gone(PERMISSION)

    def scene_no_by_its_number(self) -> TurnEdge | None:
        self.prompt("RUN: touch refused", wait="blocked")
        item = self.approval()
        self.answer(item, action="option", option=len(item["options"]))
        return self.gone(PERMISSION)

    def scene_escape_at_a_dialog(self) -> TurnEdge | None:
        self.prompt("RUN: touch escaped", wait="blocked")
        self.approval()
        self.key("Escape")
        return self.gone(PERMISSION)

    def scene_escape_at_a_question(self) -> TurnEdge | None:
        self.prompt("ASK:", wait="blocked")
        self.approval()
        self.key("Escape")
        return self.gone("Enter to select")

    def scene_escape_while_it_speaks(self) -> TurnEdge | None:
        self.type(f"SLOW: {LONG}")
        self.works(2)
        return self.escaped()

    def scene_escape_while_it_thinks(self) -> TurnEdge | None:
        known = len(self.turns())
        self.type(f"THINK: {LONG}")
        self.until("the model to be asked", lambda: len(self.turns()) > known)
        self.works(2)
        return self.taken_back(f"THINK: {LONG}")

    def works(self, seconds: float) -> None:
        """It is busy, and is shown so for C{seconds} on end."""
        self.until("work", lambda: self.record()["status"] == "busy")
        assert_stays("busy", lambda: self.record()["status"] == "busy", seconds)

    def scene_error(self) -> TurnEdge | None:
        self.type("FAIL: 400")
        return None

    def scene_escape_between_attempts(self) -> TurnEdge | None:
        self.type("FAIL: 529")
        self.until("the retry", lambda: "Retrying" in self.screen())
        self.works(1)
        return self.taken_back("FAIL: 529")

    def taken_back(self, prompt: str) -> TurnEdge:
        """Press Escape before there is an answer: the prompt comes back into the composer."""
        ended = self.escaped()
        self.until_idle()
        composed = f"❯\xa0{prompt}"
        self.until("the prompt in the composer", lambda: composed in self.screen())
        self.key("C-u")
        self.until("an empty composer", lambda: composed not in self.screen())
        return ended

    def escaped(self) -> TurnEdge:
        """Press Escape in a turn; when that ended: not before the key, and by when it shows."""
        pressed = time.time()
        self.key("Escape")
        return TurnEdge.of(pressed, self.gone(WORKING).last)

    def gone(self, text: str) -> TurnEdge:
        """When C{text} leaves the screen: between the last look that found it and the next."""
        there = [time.time()]

        def look() -> bool:
            asked = time.time()
            found = text in self.screen()
            there[:] = [asked] if found else there
            return not found

        self.until(f"{text} to go", look)
        return TurnEdge(there[0], time.time())

    def deviations(self, scenes: Sequence[str]) -> list[StatusDeviation]:
        """Play the scenes, and compare."""
        self.until_idle()
        self.prompt("SAY: ready")
        truth: list[TurnSpan] = []
        with StatusWatcher(self.daemon, self.session) as watcher:
            for name in scenes:
                known = len(self.turns())
                heard = {event: len(watcher.hooks(event)) for event in EDGES}
                play: Callable[[], TurnEdge | None] = getattr(self, f"scene_{name}")
                ended = play()
                self.over(known, ended)
                self.until_idle()
                # What it may be taken for meanwhile is part of the record.
                time.sleep(REST)
                span = self.span(name, known, ended)
                hooks = [watcher.hooks(event)[heard[event] :] for event in EDGES]
                begun, ended = (
                    TurnEdge.of(edge.first, edge.last, *told)
                    for edge, told in zip((span.begun, span.ended), hooks, strict=True)
                )
                truth.append(evolve(span, begun=begun, ended=ended))
        return compare_moves(truth, watcher.told(), watcher.shown(), watcher.slowest)

    def over(self, known: int, ended: TurnEdge | None) -> None:
        """The model saw the turn, and its end: a status of idle may still be the one before it."""

        def look() -> bool:
            turns = self.turns()[known:]
            return bool(turns) and (ended is not None or turns[-1].ended is not None)

        self.until("the end of the model's turn", look)

    def span(self, name: str, known: int, ended: TurnEdge | None) -> TurnSpan:
        """The newest turn, as the model saw it."""
        turns = self.turns()[known:]
        self.assertEqual(1, len(turns), f"{name}: {turns}")
        if ended is None:
            over = turns[0].ended
            assert over is not None, f"{name}: the model's turn is not over"
            ended = TurnEdge.of(over)
        return TurnSpan(what=name, begun=TurnEdge.of(turns[0].started), ended=ended)

    def check(self, scenes: Sequence[str]) -> None:
        """Play the scenes: the status changes when a turn begins or ends, and at no other time.

        C{bench/statuslag.py} holds the status to how late it may be.
        """
        report_figure("\n".join(["", *map(str, self.deviations(scenes))]))
