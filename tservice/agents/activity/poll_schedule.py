"""Schedule of screen captures, and their interpretation (protocol-status).

A capture costs 1 to 3 ms. So the screen is captured once after the output becomes quiet, and a few
times while it flows. The limit is 1 / L{GAP} a second for each session, and nothing is captured
while nothing is printed. This module does no I/O.
"""

from __future__ import annotations

from enum import Enum

from attrs import evolve, frozen

from tservice.agents.activity.activity_machine import AgentState
from tservice.terminal.dialogs.dialog_kinds import DialogKind
from tservice.terminal.screen_rules import ScreenRules
from tservice.terminal.screen_status import ScreenReading

SETTLE = 0.3
"""Seconds without output after which the screen is captured."""
SETTLE_ASKED = 0.1
"""Like L{SETTLE}, while a dialog waits: the screen does not change until the dialog is answered."""
GAP = 0.3
"""Minimum seconds between two captures."""
FLOWING = {AgentState.WORKING: 2.5, AgentState.BLOCKED: 1.0}
"""Seconds between two captures while output flows; L{FLOWING_ELSE} in the other states."""
FLOWING_ELSE = 1.0
UNSEEN = 0.5
"""Seconds between two captures while output flows in a turn that no capture has shown yet."""
SILENCE = 2.5
"""Seconds of silence after which a composer without a working line means idle (protocol-status)."""
SLACK = 0.01
"""Seconds by which a timer may seem to fire early, because sums of large floats are inexact."""
ASKING = 1.0
"""Seconds between two checks for the answer to a prompt that had no visible effect."""
BREAK = 2.0
"""Seconds without output that end a flow; also the minimum duration of a sustained flow."""
RETRY = 1.0
"""Seconds between a failed capture and the next one."""
STREAK = 4
"""Number of consecutive captures of an idle agent that count as silence, because some screens are
never quiet.
"""
CALM = 0.25
"""Seconds without visible work after which a turn that was visible is over. No hook reports Escape,
and L{SILENCE} seems long to a person. A single capture is not enough, because it may fall
between a dialog and the work that follows it.
"""
GRACE = 2.0
"""Seconds after a C{stop} hook in which the screen does not count as working: the agent runs the
hook before it removes its spinner.
"""

TURN_DIALOGS = frozenset(
    {
        DialogKind.PERMISSION,
        DialogKind.PLAN,
        DialogKind.QUESTION,
        DialogKind.REVIEW,
        DialogKind.FORM,
    }
)
"""Dialogs of a turn. The others appear at the agent's start, or after a command of the user."""


@frozen(kw_only=True)
class PollSchedule:
    """Times of a pane's output, in the clock's seconds.

    @ivar begun: when the present flow of output began.
    @ivar last: when something was printed last; at first the time at which watching began.
    """

    begun: float
    last: float

    def after_output(self, now: float) -> PollSchedule:
        """Return the schedule after output at the time C{now}."""
        return evolve(self, begun=now if now - self.last > BREAK else self.begun, last=now)

    def has_sustained_output(self) -> bool:
        """Return true if output has flowed long enough to prove that the agent works."""
        return self.last - self.begun >= BREAK

    def is_silent(self, now: float) -> bool:
        """Return true if the silence is long enough to prove that the agent is idle."""
        return now >= self.last + SILENCE - SLACK

    def is_settled(self, now: float) -> bool:
        """Return true if the silence is long enough for a completely drawn screen."""
        return now >= self.last + SETTLE - SLACK


@frozen(kw_only=True)
class LastCapture:
    """Result of the last capture.

    @ivar at: time of the capture, in the clock's seconds.
    @ivar is_current: nothing has been printed since the capture.
    @ivar has_failed: the capture failed.
    @ivar calm_since: time in the clock's seconds since which every capture has shown no work, after
        work had been visible in the turn; C{None} otherwise.
    @ivar unseen: no capture has shown the turn yet, or the submission had no visible effect.
    @ivar pending: a submission has had no visible effect so far.
    @ivar answer_by: time until which the submission's answer is awaited, in the clock's seconds;
        C{None} if no answer is awaited.
    """

    at: float
    is_current: bool
    has_failed: bool = False
    calm_since: float | None = None
    unseen: bool = False
    pending: bool = False
    answer_by: float | None = None


def compute_next_capture(
    rhythm: PollSchedule, looked: LastCapture, doing: AgentState
) -> float | None:
    """Return the time of the next capture, in the clock's seconds.

    C{None} means that the next capture must wait for further output.
    """
    if looked.has_failed:
        return looked.at + RETRY
    in_turn = doing in (AgentState.WORKING, AgentState.BLOCKED)
    if in_turn and looked.calm_since is not None:
        return looked.calm_since + CALM
    if not looked.is_current:
        pace = UNSEEN if looked.unseen else FLOWING.get(doing, FLOWING_ELSE)
        flowing = looked.at + pace
        settle = SETTLE_ASKED if doing is AgentState.BLOCKED else SETTLE
        return max(looked.at + GAP, min(rhythm.last + settle, flowing))
    if (in_turn or looked.pending) and looked.at < rhythm.last + SILENCE - SLACK:
        return rhythm.last + SILENCE
    if looked.answer_by is not None and looked.at < looked.answer_by - SLACK:
        return max(looked.at + GAP, min(looked.at + ASKING, looked.answer_by))
    return None


def never_shows_work(rules: ScreenRules) -> bool:
    """Return true if neither the screen nor the title ever shows that the agent works."""
    return rules.working_line is None and rules.working_title is None


def can_screen_show_idle(rules: ScreenRules, titled: bool) -> bool:
    """Return true if the screen can show that the agent is idle while output flows.

    If an agent shows its work in the title, the frame alone is not enough, because Codex streams
    its answer without a spinner.

    @param titled: the title has shown work in this run; titles may be switched off.
    """
    return not never_shows_work(rules) and (rules.working_title is None or titled)


UNTITLED = "; its title showed nothing"
"""Suffix of the reason if only silence could show that the agent is idle."""


def shows_turn_end(reading: ScreenReading, rules: ScreenRules, title: str) -> bool:
    """Return true if an agent that shows its work in the title shows an idle screen."""
    return reading.state == "idle" and rules.working_title is not None and title != ""


class CaptureVerdict(Enum):
    """Conclusion that is drawn from a capture."""

    WORKING = "working"
    IDLE = "idle"
    ASKED = "asked"


@frozen(kw_only=True)
class CaptureContext:
    """Facts from before a capture that influence its interpretation.

    @ivar state: the state of the agent before the capture.
    @ivar is_silent: nothing was printed for L{SILENCE} seconds. A series of captures of an idle
        agent counts too: L{STREAK} captures, or L{CALM} seconds after visible work.
    @ivar is_sustained: output has been flowing for L{BREAK} seconds.
    @ivar has_submission: Enter was pressed since the agent was idle last.
    @ivar shows_rest: result of L{can_screen_show_idle}.
    """

    state: AgentState
    is_silent: bool
    is_sustained: bool
    has_submission: bool
    shows_rest: bool = True


def judge_capture(
    reading: ScreenReading, rules: ScreenRules, scene: CaptureContext
) -> tuple[CaptureVerdict, str] | None:
    """Return the conclusion from one capture and its reason; C{None} if nothing is new.

    If an agent's work is invisible (no working line, no title), the rhythm of its output decides.
    The rhythm counts only after a submission, because echoed keys look like work.
    """
    if reading.dialog is not None:
        asked = reading.dialog.kind in TURN_DIALOGS
        return (CaptureVerdict.ASKED, reading.evidence) if asked else None
    if reading.working:
        return CaptureVerdict.WORKING, reading.evidence
    blind = never_shows_work(rules)
    if blind and scene.is_sustained and scene.has_submission and not scene.is_silent:
        return CaptureVerdict.WORKING, "output is sustained"
    if reading.state == "idle" and (scene.is_silent or scene.state is AgentState.STARTING):
        frame_alone = scene.state is AgentState.WORKING and not blind and not scene.shows_rest
        return CaptureVerdict.IDLE, reading.evidence + (UNTITLED if frame_alone else "")
    if blind and scene.is_silent and scene.state is AgentState.WORKING:
        return CaptureVerdict.IDLE, "output went quiet"
    return None
