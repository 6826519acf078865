"""When to look at a screen, and what a look says of the activity (protocol-status).  Pure.

A look costs 1 to 3 ms, so there is one when the output goes quiet and, while it flows, one now and
then: at most 1 / L{GAP} a second of any session, and none while nothing is printed.
"""

from __future__ import annotations

from enum import Enum

from attrs import evolve, frozen

from tservice.agents.activity.machine import Doing
from tservice.terminal.kinds import DialogKind
from tservice.terminal.rules import ScreenRules
from tservice.terminal.status import Reading

SETTLE = 0.3
"""Seconds without output after which the screen is worth a look."""
SETTLE_ASKED = 0.1
"""The same while a dialog waits: it stands still until somebody answers it."""
GAP = 0.3
"""Seconds between two looks at least."""
FLOWING = {Doing.WORKING: 2.5, Doing.BLOCKED: 1.0}
"""Seconds between two looks while output flows; L{FLOWING_ELSE} in the other states."""
FLOWING_ELSE = 1.0
UNSEEN = 0.5
"""Seconds between two looks while output flows in a turn that was not seen to work yet."""
SILENCE = 2.5
"""Seconds of silence after which a composer without a working line means idle (protocol-status)."""
SLACK = 0.01
"""Seconds that a timer may seem to fire early: sums of large floats are not exact."""
ASKING = 1.0
"""Seconds between two looks for the answer to a prompt of which nothing is seen."""
BREAK = 2.0
"""Seconds without output that end a flow; also how long one lasts to count as sustained."""
RETRY = 1.0
"""Seconds after a look that failed."""
STREAK = 4
"""So many looks in a row that show an idle agent count as silence: some screens never rest."""
CALM = 0.25
"""Seconds after which a turn is over that was seen to work and whose screen shows, title and all,
that it does not any more.  No hook tells of Escape, and L{SILENCE} is longer than a person thinks
that it takes; one look alone may fall between a dialog and the work that follows it."""
GRACE = 2.0
"""Seconds after a C{stop} hook in which the screen cannot say that the agent works: it runs the
hook before it takes its spinner away."""

TURN_DIALOGS = frozenset(
    {
        DialogKind.PERMISSION,
        DialogKind.PLAN,
        DialogKind.QUESTION,
        DialogKind.REVIEW,
        DialogKind.FORM,
    }
)
"""Dialogs of a turn.  The others come up at the start, or by a command of the user."""


@frozen(kw_only=True)
class Rhythm:
    """The times of a pane's output, in the clock's seconds.

    @ivar begun: when the present flow began.
    @ivar last: when something was printed last; at first when watching began.
    """

    begun: float
    last: float

    def printed(self, now: float) -> Rhythm:
        """Something was printed."""
        return evolve(self, begun=now if now - self.last > BREAK else self.begun, last=now)

    def sustained(self) -> bool:
        """Whether the flow lasted long enough to mean work."""
        return self.last - self.begun >= BREAK

    def silent(self, now: float) -> bool:
        """Whether it was quiet long enough to mean rest."""
        return now >= self.last + SILENCE - SLACK

    def settled(self, now: float) -> bool:
        """Whether it was quiet long enough for a whole screen to be drawn."""
        return now >= self.last + SETTLE - SLACK


@frozen(kw_only=True)
class LastLook:
    """The last look.

    @ivar at: when, in the clock's seconds.
    @ivar current: nothing was printed since.
    @ivar failed: it did not succeed.
    @ivar calm_since: since when every look showed the end of a turn that had been seen to work.
    @ivar unseen: the turn was not seen to work yet, or what was submitted was not seen at all.
    @ivar pending: something was submitted of which nothing was seen yet.
    @ivar answer_by: until when its answer is waited for, in the clock's seconds.
    """

    at: float
    current: bool
    failed: bool = False
    calm_since: float | None = None
    unseen: bool = False
    pending: bool = False
    answer_by: float | None = None


def next_look(rhythm: Rhythm, looked: LastLook, doing: Doing) -> float | None:
    """When to look next; C{None}: not before something is printed."""
    if looked.failed:
        return looked.at + RETRY
    in_turn = doing in (Doing.WORKING, Doing.BLOCKED)
    if in_turn and looked.calm_since is not None:
        return looked.calm_since + CALM
    if not looked.current:
        pace = UNSEEN if looked.unseen else FLOWING.get(doing, FLOWING_ELSE)
        flowing = looked.at + pace
        settle = SETTLE_ASKED if doing is Doing.BLOCKED else SETTLE
        return max(looked.at + GAP, min(rhythm.last + settle, flowing))
    if (in_turn or looked.pending) and looked.at < rhythm.last + SILENCE - SLACK:
        return rhythm.last + SILENCE
    if looked.answer_by is not None and looked.at < looked.answer_by - SLACK:
        return max(looked.at + GAP, min(looked.at + ASKING, looked.answer_by))
    return None


def is_blind(rules: ScreenRules) -> bool:
    """Whether the screen never shows that the agent works."""
    return rules.working_line is None and rules.working_title is None


def tells_rest(rules: ScreenRules, titled: bool) -> bool:
    """Whether the screen can show that the agent rests while output runs.

    Of an agent whose title tells of its work the frame alone cannot: Codex streams its answer
    without a spinner.

    @param titled: the title was seen to tell of work in this run; it may be switched off.
    """
    return not is_blind(rules) and (rules.working_title is None or titled)


UNTITLED = "; its title told nothing"
"""Added to the reason where only a silence could show that the agent rests."""


def shows_the_end(reading: Reading, rules: ScreenRules, title: str) -> bool:
    """Whether a turn that the title told of is seen to be over."""
    return reading.state == "idle" and rules.working_title is not None and title != ""


class LookVerdict(Enum):
    """What a look says."""

    WORKING = "working"
    IDLE = "idle"
    ASKED = "asked"


@frozen(kw_only=True)
class Scene:
    """What is known beside the frame itself.

    @ivar silent: nothing was printed for L{SILENCE}, or L{STREAK} looks showed an idle agent, or
        they did for L{CALM}, where that counts.
    @ivar sustained: output flows since L{BREAK}.
    @ivar submitted: Enter was pressed since the agent was idle last.
    @ivar rests: L{tells_rest}: the screen can show rest while output runs.
    """

    doing: Doing
    silent: bool
    sustained: bool
    submitted: bool
    rests: bool = True


def judge(reading: Reading, rules: ScreenRules, scene: Scene) -> tuple[LookVerdict, str] | None:
    """The verdict of one look with its reason; C{None}: nothing new is known.

    Of an agent whose work cannot be seen (no working line, no title) the rhythm of its output
    tells, once something was submitted to it: echoed keys look like work.
    """
    if reading.dialog is not None:
        asked = reading.dialog.kind in TURN_DIALOGS
        return (LookVerdict.ASKED, reading.evidence) if asked else None
    if reading.working:
        return LookVerdict.WORKING, reading.evidence
    blind = is_blind(rules)
    if blind and scene.sustained and scene.submitted and not scene.silent:
        return LookVerdict.WORKING, "output is sustained"
    if reading.state == "idle" and (scene.silent or scene.doing is Doing.STARTING):
        frame_alone = scene.doing is Doing.WORKING and not blind and not scene.rests
        return LookVerdict.IDLE, reading.evidence + (UNTITLED if frame_alone else "")
    if blind and scene.silent and scene.doing is Doing.WORKING:
        return LookVerdict.IDLE, "output went quiet"
    return None
