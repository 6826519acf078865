"""Assignment of agents' reports to prompts: each report belongs to at most one prompt
(protocol-prompts).

Prompts are often equal ("continue"), and the report of one may come after the Enter of the next.
Claude Code runs the hook of a queued prompt when the turn is over. So a report certainly belongs to
a prompt only if other prompts with the same text cannot explain all reports. This module does no
I/O.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from hashlib import sha256

from attrs import define, frozen

from tservice.agents.transcripts.parsers.claude import strip_paste_tags
from tservice.sessions.interfaces import PromptReport

KEPT = 256
"""Maximum number of a session's prompts that are kept, and of its hook reports; the newest are
kept.
"""

LATE_MS = 600_000
"""Maximum milliseconds between the Enter of a prompt and its report, if the prompt is queued in a
turn.
"""


def hash_prompt(text: str) -> bytes:
    """Return a digest that is the same for equal prompts.

    White space is ignored, because agents change tabs, line ends and blanks. The tags that agents
    put around a paste are ignored too.
    """
    folded = "".join(strip_paste_tags(text).split())
    return sha256(folded.encode("utf-8", "surrogatepass")).digest()


@define(eq=False)
class LedgerEntry:
    """Prompt that was submitted by Enter.

    @ivar mark: digest of the prompt's text.
    @ivar since: time of the Enter, in Unix milliseconds.
    @ivar until: time at which the agent had certainly read the Enter; C{None} if unknown.
    """

    mark: bytes
    since: int
    until: int | None = None


@frozen
class ReportSpan:
    """Time span in which a prompt may be reported, in Unix milliseconds; C{until} is exclusive."""

    since: int
    until: int

    def contains_time(self, at: int) -> bool:
        """Return true if C{at} (Unix milliseconds) is in the span."""
        return self.since <= at < self.until


@frozen
class _HookReport:
    mark: bytes
    at: int
    name: str | None


class PromptLedger:
    """Prompts of one session in the order of their submission, and hooks' reports about them."""

    def __init__(self) -> None:
        self._entries: deque[LedgerEntry] = deque(maxlen=KEPT)
        self._heard: deque[_HookReport] = deque(maxlen=KEPT)

    def add_prompt(self, text: str, at: int, *, caught_up: bool) -> LedgerEntry:
        """Record that Enter was pressed for C{text}.

        @param at: time of the Enter, in Unix milliseconds.
        @param caught_up: the agent has read all earlier input.
        """
        for each in self._entries if caught_up else ():
            each.until = at if each.until is None else each.until
        entry = LedgerEntry(mark=hash_prompt(text), since=at)
        self._entries.append(entry)
        return entry

    def add_hook_report(self, text: str, at: int, name: str | None = None) -> None:
        """Record a hook's report of a prompt.

        @param at: time of the report, in Unix milliseconds.
        @param name: the agent's id of the prompt; a repeated id means the same prompt.
        """
        if name is None or all(each.name != name for each in self._heard):
            self._heard.append(_HookReport(hash_prompt(text), at, name))

    def judge_by_hooks(self, entry: LedgerEntry) -> PromptReport:
        """Return what the hooks prove about a prompt; they may still report it later."""
        return self.judge_by_times(
            entry, [each.at for each in self._heard if each.mark == entry.mark]
        )

    def judge_by_times(
        self, entry: LedgerEntry, report_times: Sequence[int], *, at_once: bool = False
    ) -> PromptReport:
        """Return whether the times of reports prove that the agent received a prompt.

        Other prompts with the same text may have caused the same reports, and are considered.

        @param report_times: times of all reports with the prompt's text, in Unix milliseconds.
            Those before L{find_earliest_time} may be left out.
        @param at_once: true if a report has the time at which the agent read the Enter; false if
            its time may be later.
        """
        others = [_compute_span(each, at_once) for each in self._find_entries_of_same_prompt(entry)]
        return judge_reports(_compute_span(entry, at_once), others, report_times)

    def find_earliest_time(self, entry: LedgerEntry, *, at_once: bool = False) -> int:
        """Return the earliest time of a report that matters for this prompt, in Unix milliseconds.

        Reports about earlier prompts with the same text matter too.
        """
        others = (_compute_span(each, at_once) for each in self._find_entries_of_same_prompt(entry))
        return min((entry.since, *(each.since for each in others if each.until > entry.since)))

    def _find_entries_of_same_prompt(self, entry: LedgerEntry) -> list[LedgerEntry]:
        return [each for each in self._entries if each.mark == entry.mark and each is not entry]


def judge_reports(
    span: ReportSpan, others: Sequence[ReportSpan], report_times: Sequence[int]
) -> PromptReport:
    """Return what the reports prove about one prompt.

    @param span: the time in which the prompt may be reported.
    @param others: the same for other prompts with equal text.
    @param report_times: times of the reports with that text, in Unix milliseconds.
    """
    if not any(map(span.contains_time, report_times)):
        return PromptReport.NOT_YET
    sure = count_assignable_reports(report_times, others) < count_assignable_reports(
        report_times, [*others, span]
    )
    return PromptReport.SUBMITTED if sure else PromptReport.UNCLEAR


def count_assignable_reports(report_times: Iterable[int], spans: Sequence[ReportSpan]) -> int:
    """Return the maximum number of reports that can be assigned to different prompts."""
    left = sorted(spans, key=lambda each: each.until)
    for at in sorted(report_times):
        own = next((each for each in left if each.contains_time(at)), None)
        if own is not None:
            left.remove(own)
    return len(spans) - len(left)


def _compute_span(entry: LedgerEntry, at_once: bool) -> ReportSpan:
    until = entry.until if at_once else None
    return ReportSpan(entry.since, entry.since + LATE_MS if until is None else until)
