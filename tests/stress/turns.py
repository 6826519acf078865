"""When somebody may have been an admin, as far as who asks can tell."""

from __future__ import annotations

import time
from collections import deque
from itertools import pairwise

from attrs import define, field

TURNING = "cy"
"""The one who is an admin now and then; what it leaves with others then is theirs to see."""
SLACK = 0.5
"""Seconds within which what was on its way when a right ended may still arrive."""
BEAT = 0.02
"""Seconds between two beats, where nothing keeps a thread waiting."""
BEATS = 100


@define
class StressTurnTimes:
    """The times of it.

    @ivar spans: from the asking for the right to the answer of its end.
    @ivar beats: of a thread that does nothing else: where they are late, all is read late.
    """

    spans: list[list[float]] = field(factory=list)
    beats: deque[float] = field(factory=lambda: deque([time.monotonic()], maxlen=BEATS))

    def beat(self) -> None:
        """Every L{BEAT} seconds."""
        self.beats.append(time.monotonic())

    def may_be_admin(self, name: str, since: float, until: float) -> bool:
        """Whether C{name} may have been one at some moment in between."""
        return name == TURNING and any(
            begun <= until and since <= ended for begun, ended in list(self.spans)
        )

    def may_be_told(self, name: str) -> bool:
        """Whether what C{name} has just read may have been sent while it was one."""
        now = time.monotonic()
        late = max(after - before for before, after in pairwise([*self.beats, now]))
        return self.may_be_admin(name, now - SLACK - late, now)
