"""Schedule of looks at a screen, and their interpretation (protocol-status). Pure.

A look costs 1 to 3 ms. So there is one after the output becomes quiet, and a few while it flows: at
most 1 / L{GAP} a second for each session, and none while nothing is printed.
"""

from __future__ import annotations

from enum import Enum

from attrs import evolve, frozen

from tservice.agents.activity.activity_machine import AgentState
from tservice.terminal.dialog_kinds import DialogKind
from tservice.terminal.screen_rules import ScreenRules
from tservice.terminal.screen_status import ScreenReading

SETTLE = 0.3
"""Seconds without output after which the screen is captured."""
SETTLE_ASKED = 0.1
"""Like L{SETTLE}, while a dialog waits: the screen does not change until the dialog is answered."""
GAP = 0.3
"""Minimum seconds between two looks."""
FLOWING = {AgentState.WORKING: 2.5, AgentState.BLOCKED: 1.0}
"""Seconds between two looks while output flows; L{FLOWING_ELSE} in the other states."""
FLOWING_ELSE = 1.0
UNSEEN = 0.5
"""Seconds between two looks while output flows in a turn that no look has confirmed yet."""
SILENCE = 2.5
"""Seconds of silence after which a composer without a working line means idle (protocol-status)."""
SLACK = 0.01
"""Seconds by which a timer may seem to fire early, because sums of large floats are inexact."""
ASKING = 1.0
"""Seconds between two looks for the answer to a prompt without any visible effect."""
BREAK = 2.0
"""Seconds without output that end a flow; also the minimum duration of a sustained flow."""
RETRY = 1.0
"""Seconds after a failed look."""
STREAK = 4
"""Number of consecutive looks showing an idle agent that count as silence: some screens are
never quiet.
"""
CALM = 0.25
"""Seconds after which a turn is over that was seen working and whose screen and title no longer
show work. No hook reports Escape, and L{SILENCE} seems long to a person. A single look is not
enough, because it may fall between a dialog and the work that follows it.
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
"""Dialogs of a turn. The others appear at the start, or after a command of the user."""


@frozen(kw_only=True)
class PollSchedule:
    """Times of a pane's output, in the clock's seconds.

    @ivar begun: when the present flow began.
    @ivar last: when something was printed last; at first the start of watching.
    """

    begun: float
    last: float

    def after_output(self, now: float) -> PollSchedule:
        """Return the rhythm after output."""
        return evolve(self, begun=now if now - self.last > BREAK else self.begun, last=now)

    def is_sustained(self) -> bool:
        """Return true if the flow lasted long enough to mean work."""
        return self.last - self.begun >= BREAK

    def is_silent(self, now: float) -> bool:
        """Return true if the silence was long enough to mean rest."""
        return now >= self.last + SILENCE - SLACK

    def is_settled(self, now: float) -> bool:
        """Return true if the silence was long enough for a complete screen."""
        return now >= self.last + SETTLE - SLACK


@frozen(kw_only=True)
class LastLook:
    """Result of the last look.

    @ivar at: its time, in the clock's seconds.
    @ivar current: nothing was printed since.
    @ivar failed: it failed.
    @ivar calm_since: the time since which every look showed the end of a turn that had been seen
        working.
    @ivar unseen: no look has confirmed the turn yet, or the submission had no visible effect.
    @ivar pending: a submission without any visible effect so far.
    @ivar answer_by: the time until which its answer is awaited, in the clock's seconds.
    """

    at: float
    is_current: bool
    has_failed: bool = False
    calm_since: float | None = None
    unseen: bool = False
    pending: bool = False
    answer_by: float | None = None


def compute_next_look(rhythm: PollSchedule, looked: LastLook, doing: AgentState) -> float | None:
    """Return the time of the next look; C{None} means not before further output."""
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


def is_blind(rules: ScreenRules) -> bool:
    """Return true if the screen never shows that the agent works."""
    return rules.working_line is None and rules.working_title is None


def can_show_rest(rules: ScreenRules, titled: bool) -> bool:
    """Return true if the screen can show that the agent rests while output runs.

    If an agent shows its work in the title, the frame alone is not enough: Codex streams its answer
    without a spinner.

    @param titled: the title was seen to show work in this run; titles may be switched off.
    """
    return not is_blind(rules) and (rules.working_title is None or titled)


UNTITLED = "; its title showed nothing"
"""Suffix of the reason if only silence could show that the agent rests."""


def shows_turn_end(reading: ScreenReading, rules: ScreenRules, title: str) -> bool:
    """Return true if the screen shows the end of a turn that the title had shown."""
    return reading.state == "idle" and rules.working_title is not None and title != ""


class LookVerdict(Enum):
    """Interpretation of a look."""

    WORKING = "working"
    IDLE = "idle"
    ASKED = "asked"


@frozen(kw_only=True)
class ScreenContext:
    """Context of a frame.

    @ivar silent: nothing was printed for L{SILENCE}, or L{STREAK} looks showed an idle agent, or
        they did for L{CALM}, where that counts.
    @ivar sustained: output has been flowing for L{BREAK}.
    @ivar submitted: Enter was pressed since the agent was idle last.
    @ivar rests: result of L{can_show_rest}: the screen can show rest while output runs.
    """

    state: AgentState
    is_silent: bool
    is_sustained: bool
    has_submission: bool
    shows_rest: bool = True


def judge_look(
    reading: ScreenReading, rules: ScreenRules, scene: ScreenContext
) -> tuple[LookVerdict, str] | None:
    """Return the verdict of one look with its reason; C{None} means that nothing new is known.

    If an agent's work is invisible (no working line, no title), the rhythm of its output decides.
    It counts only after a submission, because echoed keys look like work.
    """
    if reading.dialog is not None:
        asked = reading.dialog.kind in TURN_DIALOGS
        return (LookVerdict.ASKED, reading.evidence) if asked else None
    if reading.working:
        return LookVerdict.WORKING, reading.evidence
    blind = is_blind(rules)
    if blind and scene.is_sustained and scene.has_submission and not scene.is_silent:
        return LookVerdict.WORKING, "output is sustained"
    if reading.state == "idle" and (scene.is_silent or scene.state is AgentState.STARTING):
        frame_alone = scene.state is AgentState.WORKING and not blind and not scene.shows_rest
        return LookVerdict.IDLE, reading.evidence + (UNTITLED if frame_alone else "")
    if blind and scene.is_silent and scene.state is AgentState.WORKING:
        return LookVerdict.IDLE, "output went quiet"
    return None
