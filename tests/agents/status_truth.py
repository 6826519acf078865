"""A session's status beside what truly happened: who was right, and by how much they differ."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from attrs import frozen

from tests.integration.harness import PATIENCE, DaemonHarness

SAMPLE = 0.05
"""Seconds between two samples of the session's record."""


@frozen
class StatusMove:
    """A change between working and idle.

    @ivar at: seconds since the epoch.
    """

    at: float
    busy: bool


@frozen
class StatusSample:
    """What the record said at some moment between C{asked} and C{at}, seconds since the epoch."""

    asked: float
    at: float
    busy: bool


@frozen
class TurnEdge:
    """When a turn began or ended, in seconds since the epoch: by whom it was known first, and last.

    The agent and its model know it at different moments, on a busy machine seconds apart.  Between
    the two both are true.
    """

    first: float
    last: float

    @classmethod
    def of(cls, *moments: float) -> TurnEdge:
        """Known to several."""
        return cls(min(moments), max(moments))

    def off(self, at: float) -> float:
        """How much later C{at} is; negative: earlier."""
        return at - min(max(at, self.first), self.last)


@frozen(kw_only=True)
class StatusDeviation:
    """One change of the truth, and how much later the status changed; negative: earlier.

    @ivar told: by the event.
    @ivar shown: by the record.
    @ivar slow: seconds for which the machine kept anybody waiting then who asked for the record.
    """

    what: str
    busy: bool
    told: float
    shown: float
    slow: float = 0.0

    @property
    def worst(self) -> float:
        """Seconds that are not the machine's."""
        return max(abs(self.told), abs(self.shown)) - self.slow

    def __str__(self) -> str:
        edge = "begin" if self.busy else "end"
        off = f"event {self.told:+.3f} s  record {self.shown:+.3f} s"
        return f"{self.what:24} {edge:6} {off}  slow {self.slow:.3f} s"


class StatusWatcher:
    """Follows one session's status by both ways that clients have, in threads of its own."""

    def __init__(self, daemon: DaemonHarness, session: str) -> None:
        self._session = session
        where = urlsplit(daemon.url)
        self._address = (str(where.hostname), where.port)
        self._over = threading.Event()
        self._open = threading.Event()
        self._told: list[StatusMove] = []
        self._hooks: list[tuple[str, float]] = []
        self._samples: list[StatusSample] = []
        self._events = http.client.HTTPConnection(*self._address, timeout=PATIENCE)
        self._threads = [threading.Thread(target=work) for work in (self._listen, self._sample)]

    def __enter__(self) -> StatusWatcher:
        for thread in self._threads:
            thread.start()
        if not self._open.wait(PATIENCE):
            raise AssertionError("no event stream")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(PATIENCE)
        self._events.close()

    def told(self) -> list[StatusMove]:
        """What the events told, less what repeats the one before."""
        return distinct_moves(self._told)

    def shown(self) -> list[StatusMove]:
        """When the record was first seen changed."""
        return sampled_moves(self._samples, self.told())

    def slowest(self, since: float, until: float) -> float:
        """Seconds of the slowest answer to who asked for the record between two moments."""
        taken = [one for one in tuple(self._samples) if one.at >= since and one.asked <= until]
        return max((one.at - one.asked for one in taken), default=0.0)

    def hooks(self, event: str) -> list[float]:
        """When the daemon took in the hooks of that name, in seconds since the epoch."""
        return [at for name, at in tuple(self._hooks) if name == event]

    def _sample(self) -> None:
        connection = http.client.HTTPConnection(*self._address, timeout=PATIENCE)
        while not self._over.wait(SAMPLE):
            asked = time.time()
            connection.request("GET", f"/api/sessions/{self._session}")
            status = json.loads(connection.getresponse().read())["data"]["status"]
            self._samples.append(StatusSample(asked, time.time(), status == "busy"))
        connection.close()

    def _listen(self) -> None:
        self._events.request("GET", "/api/events?sessions=none")
        stream = self._events.getresponse()
        name = ""
        # The heartbeat wakes it up at the end: nothing else may come any more.
        while not self._over.is_set():
            line = stream.readline().decode().strip()
            field, _, value = line.partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                self._heard(name, json.loads(value))

    def _heard(self, name: str, data: dict[str, Any]) -> None:
        self._open.set()
        if name.startswith("hook:") and data["sessionId"] == self._session:
            self._hooks.append((name.removeprefix("hook:"), data["at"] / 1000))
        if name in ("session:working", "session:idle") and data["id"] == self._session:
            self._told.append(StatusMove(time.time(), name == "session:working"))


def distinct_moves(moves: Iterable[StatusMove]) -> list[StatusMove]:
    """The moves from idle on, each different from the one before it."""
    found: list[StatusMove] = []
    busy = False
    for move in tuple(moves):
        if move.busy != busy:
            busy = move.busy
            found.append(move)
    return found


def sampled_moves(samples: Iterable[StatusSample], told: Sequence[StatusMove]) -> list[StatusMove]:
    """The moves that the samples show.

    A turn may be over before the next sample: what no sample lies within is taken as told.
    """
    taken = tuple(samples)
    missed = [
        (begin, end)
        for begin, end in zip(told[::2], told[1::2], strict=False)
        if not any(begin.at <= one.asked and one.at <= end.at for one in taken)
    ]
    shown = [
        StatusMove(one.at, one.busy)
        for one in taken
        if not any(one.asked <= end.at and begin.at <= one.at for begin, end in missed)
    ]
    replaced = [move for span in missed for move in span]
    return distinct_moves(sorted([*shown, *replaced], key=lambda move: move.at))


@frozen(kw_only=True)
class TurnSpan:
    """A turn as it truly was."""

    what: str
    begun: TurnEdge
    ended: TurnEdge


Slowest = Callable[[float, float], float]
"""As L{StatusWatcher.slowest}."""


def compare_moves(
    truth: Sequence[TurnSpan],
    told: Sequence[StatusMove],
    shown: Sequence[StatusMove],
    slowest: Slowest,
) -> list[StatusDeviation]:
    """The deviation of each begin and each end.

    @raise AssertionError: there were other changes than the truth's.
    """
    true = [
        (span.what, edge, busy)
        for span in truth
        for edge, busy in ((span.begun, True), (span.ended, False))
    ]
    for name, moves in (("events", told), ("record", shown)):
        if [move.busy for move in moves] != [busy for _, _, busy in true]:
            raise AssertionError(f"the {name} do not match\n{format_story(true, moves)}")
    return [
        StatusDeviation(
            what=what,
            busy=busy,
            told=edge.off(heard.at),
            shown=edge.off(seen.at),
            slow=slowest(min(edge.first, heard.at), max(edge.last, seen.at)),
        )
        for (what, edge, busy), heard, seen in zip(true, told, shown, strict=True)
    ]


def format_story(true: Sequence[tuple[str, TurnEdge, bool]], moves: Sequence[StatusMove]) -> str:
    """Both in the order of time, for whoever reads of a failure."""
    rows = [
        (at, f"truly {'busy' if busy else 'idle'}: {what}")
        for what, edge, busy in true
        for at in sorted({edge.first, edge.last})
    ]
    rows += [(move.at, f"    said to be {'busy' if move.busy else 'idle'}") for move in moves]
    return "\n".join(f"{at:.3f} {text}" for at, text in sorted(rows))
