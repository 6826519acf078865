"""To which prompt belongs what an agent tells: to one, and to none twice (protocol-prompts).  Pure.

Prompts are often equal ("continue"), and what is told of one may come behind the Enter of the next:
Claude Code runs the hook of a prompt that waited in a turn when that turn is over.  So a telling is
of a prompt for sure only where they could not all be of the others that read the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from hashlib import sha256

from attrs import define, frozen

from tservice.agents.transcripts.claude import unpasted
from tservice.sessions.interfaces import Told

KEPT = 256
"""Prompts of a session that are remembered, and what hooks told of so many; the newest."""

LATE_MS = 600_000
"""How long behind its Enter a prompt may be told of that waits in a turn."""


def mark_of(text: str) -> bytes:
    """What prompts have in common that read the same.

    White space is none of it: agents show and keep tabs, line ends and blanks their own way.  Nor
    are the bounds that they put around a paste.
    """
    folded = "".join(unpasted(text).split())
    return sha256(folded.encode("utf-8", "surrogatepass")).digest()


@define(eq=False)
class Entry:
    """A prompt whose Enter was pressed.

    @ivar since: when that was, in Unix milliseconds.
    @ivar until: when the agent had read that Enter for sure; C{None}: it is not known to.
    """

    mark: bytes
    since: int
    until: int | None = None


@frozen
class Span:
    """When a prompt may be told of, in Unix milliseconds; C{until} is no part of it."""

    since: int
    until: int

    def holds(self, at: int) -> bool:
        """Whether C{at} is in it."""
        return self.since <= at < self.until


@frozen
class _Heard:
    mark: bytes
    at: int
    name: str | None


class Ledger:
    """The prompts of one session in the order of their Enters, and what hooks told."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=KEPT)
        self._heard: deque[_Heard] = deque(maxlen=KEPT)

    def enter(self, text: str, at: int, *, caught_up: bool) -> Entry:
        """Enter is pressed for C{text}.

        @param caught_up: the agent has read everything that was typed before.
        """
        for each in self._entries if caught_up else ():
            each.until = at if each.until is None else each.until
        entry = Entry(mark=mark_of(text), since=at)
        self._entries.append(entry)
        return entry

    def heard(self, text: str, at: int, name: str | None = None) -> None:
        """A hook told of a prompt.

        @param name: what the agent calls that prompt; told again, it is the same one.
        """
        if name is None or all(each.name != name for each in self._heard):
            self._heard.append(_Heard(mark_of(text), at, name))

    def told_by_hook(self, entry: Entry) -> Told:
        """What hooks told of it; they may do so any time later."""
        return self.told(entry, [each.at for each in self._heard if each.mark == entry.mark])

    def told(self, entry: Entry, told: Sequence[int], *, at_once: bool = False) -> Told:
        """What is told of it by what was told of such prompts.

        @param told: when that was, from L{beginning} on.
        @param at_once: that is when the agent read the Enter; else it may be later.
        """
        others = [_span(each, at_once) for each in self._others(entry)]
        return judge(_span(entry, at_once), others, told)

    def beginning(self, entry: Entry, *, at_once: bool = False) -> int:
        """Since when what is told may be of it, or of others that it may be taken for."""
        others = (_span(each, at_once) for each in self._others(entry))
        return min((entry.since, *(each.since for each in others if each.until > entry.since)))

    def _others(self, entry: Entry) -> list[Entry]:
        return [each for each in self._entries if each.mark == entry.mark and each is not entry]


def judge(span: Span, others: Sequence[Span], told: Sequence[int]) -> Told:
    """What is told of one prompt.

    @param span: when it may be told of; C{others}: when those may that read the same.
    @param told: when such a prompt was told of.
    """
    if not any(map(span.holds, told)):
        return Told.NOT_YET
    sure = explained(told, others) < explained(told, [*others, span])
    return Told.SUBMITTED if sure else Told.UNCLEAR


def explained(told: Iterable[int], spans: Sequence[Span]) -> int:
    """How many tellings there are prompts for at most, one each."""
    left = sorted(spans, key=lambda each: each.until)
    for at in sorted(told):
        own = next((each for each in left if each.holds(at)), None)
        if own is not None:
            left.remove(own)
    return len(spans) - len(left)


def _span(entry: Entry, at_once: bool) -> Span:
    until = entry.until if at_once else None
    return Span(entry.since, entry.since + LATE_MS if until is None else until)
