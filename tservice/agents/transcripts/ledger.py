"""Assignment of agents' reports to prompts: each report belongs to at most one prompt
(protocol-prompts). Pure.

Prompts are often equal ("continue"), and the report of one may come after the Enter of the next:
Claude Code runs the hook of a queued prompt when the turn is over. So a report belongs to a prompt
for sure only if the reports cannot all belong to other prompts with the same text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from hashlib import sha256

from attrs import define, frozen

from tservice.agents.transcripts.claude import unpasted
from tservice.sessions.interfaces import PromptReport

KEPT = 256
"""Maximum number of a session's prompts that are remembered, and of hook reports; the newest are
kept.
"""

LATE_MS = 600_000
"""Maximum milliseconds between the Enter of a prompt that is queued in a turn, and its report."""


def mark_of(text: str) -> bytes:
    """Return a digest that equal prompts share.

    White space is ignored, because agents change tabs, line ends and blanks. So are the tags that
    they put around a paste.
    """
    folded = "".join(unpasted(text).split())
    return sha256(folded.encode("utf-8", "surrogatepass")).digest()


@define(eq=False)
class Entry:
    """Prompt whose Enter was pressed.

    @ivar since: time of the Enter, in Unix milliseconds.
    @ivar until: time at which the agent had certainly read that Enter; C{None} if unknown.
    """

    mark: bytes
    since: int
    until: int | None = None


@frozen
class Span:
    """Time in which a prompt may be reported, in Unix milliseconds; C{until} is exclusive."""

    since: int
    until: int

    def holds(self, at: int) -> bool:
        """Return true if C{at} is in the span."""
        return self.since <= at < self.until


@frozen
class _Heard:
    mark: bytes
    at: int
    name: str | None


class Ledger:
    """Prompts of one session in the order of their Enters, and the reports of hooks."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=KEPT)
        self._heard: deque[_Heard] = deque(maxlen=KEPT)

    def enter(self, text: str, at: int, *, caught_up: bool) -> Entry:
        """Record an Enter for C{text}.

        @param caught_up: the agent has read all earlier input.
        """
        for each in self._entries if caught_up else ():
            each.until = at if each.until is None else each.until
        entry = Entry(mark=mark_of(text), since=at)
        self._entries.append(entry)
        return entry

    def heard(self, text: str, at: int, name: str | None = None) -> None:
        """Record a hook's report of a prompt.

        @param name: the agent's id of that prompt; a repeated id is the same prompt.
        """
        if name is None or all(each.name != name for each in self._heard):
            self._heard.append(_Heard(mark_of(text), at, name))

    def told_by_hook(self, entry: Entry) -> PromptReport:
        """Return the result of the hooks for a prompt; they may report it at any later time."""
        return self.told(entry, [each.at for each in self._heard if each.mark == entry.mark])

    def told(self, entry: Entry, told: Sequence[int], *, at_once: bool = False) -> PromptReport:
        """Return the result for a prompt, given the reports of prompts with its text.

        @param told: times of the reports, from L{beginning} on.
        @param at_once: a report's time is that at which the agent read the Enter; otherwise it may
            be later.
        """
        others = [_span(each, at_once) for each in self._others(entry)]
        return judge(_span(entry, at_once), others, told)

    def beginning(self, entry: Entry, *, at_once: bool = False) -> int:
        """Return the earliest time of reports about this prompt, or about others with the same
        text.
        """
        others = (_span(each, at_once) for each in self._others(entry))
        return min((entry.since, *(each.since for each in others if each.until > entry.since)))

    def _others(self, entry: Entry) -> list[Entry]:
        return [each for each in self._entries if each.mark == entry.mark and each is not entry]


def judge(span: Span, others: Sequence[Span], told: Sequence[int]) -> PromptReport:
    """Return the result for one prompt.

    @param span: the time in which it may be reported; C{others}: the same for those with equal
        text.
    @param told: times of reports with that text.
    """
    if not any(map(span.holds, told)):
        return PromptReport.NOT_YET
    sure = explained(told, others) < explained(told, [*others, span])
    return PromptReport.SUBMITTED if sure else PromptReport.UNCLEAR


def explained(told: Iterable[int], spans: Sequence[Span]) -> int:
    """Return the maximum number of reports that can be assigned to prompts, one each."""
    left = sorted(spans, key=lambda each: each.until)
    for at in sorted(told):
        own = next((each for each in left if each.holds(at)), None)
        if own is not None:
            left.remove(own)
    return len(spans) - len(left)


def _span(entry: Entry, at_once: bool) -> Span:
    until = entry.until if at_once else None
    return Span(entry.since, entry.since + LATE_MS if until is None else until)
