"""A working day of 50 agents on a Clock: what rings with and without rules."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from attrs import define

from tests.run_figures import report_figure
from tests.unit.notifications.notice_harness import HOOK, NoticeCase
from tservice.notifications.model import NEEDS_PERSON, ChannelRule, Notice, NoticeRules, QuietHours
from tservice.notifications.rules import find_quiet_end
from tservice.sessions.interfaces import SessionStall, Snooze

AGENTS, CHILDREN = 20, 30
DAY = 24 * 3600
STEP = 5
"""Seconds between two looks at the day."""
QUIET = QuietHours(enabled=True, start="22:00", end="07:00", time_zone="UTC")
PUSH = ChannelRule(
    enabled=True,
    events=("permission_prompt", "elicitation_dialog", "idle_prompt", "error", "stalled"),
)
LIMIT_MS = 60_000


@define
class Waiting:
    """A question that somebody has to answer."""

    since: int
    kind: str
    told: bool = False
    unexcused_ms: int = 0


class SimulatedDayTests(NoticeCase):
    """The rules of somebody who works from 9 to 18, looks around, and snoozes now and then."""

    rules = NoticeRules(push=PUSH, webhooks=(HOOK,), quiet_hours=QUIET)

    def setUp(self) -> None:
        super().setUp()
        self.random = random.Random(45)
        self.waiting: dict[str, Waiting] = {}
        self.busy_until: dict[str, int] = {}
        self.events: Counter[str] = Counter()
        self.watched: str | None = None
        self.longest = 0
        self.announced: set[str] = set()
        announce = self.notices._announce

        def note_sessions(account: str, rules: NoticeRules, notices: Sequence[Notice]) -> None:
            self.announced |= {notice.session_id for notice in notices}
            announce(account, rules, notices)

        self.patch(self.notices, "_announce", note_sessions)
        for number in range(AGENTS):
            self.sessions.add(f"agent{number}")
        for number in range(CHILDREN):
            self.sessions.add(f"child{number}", f"agent{number % 10}")
        del self.sessions.records["s"]
        for name in self.sessions.records:
            self.begin_turn(name)

    def test_nothing_that_needs_a_person_waits_longer_than_a_minute(self) -> None:
        end = self.clock.seconds() + DAY
        while self.clock.seconds() < end:
            self.clock.advance(STEP)
            self.let_person_act()
            for name, until in list(self.busy_until.items()):
                if self.now >= until:
                    self.end_turn(name)
            self.check_waiting()
        self.report()
        self.assertLessEqual(self.longest, LIMIT_MS)
        self.assertLess(len(self.pushed()), self.events.total() * 2 / 3)

    def begin_turn(self, name: str) -> None:
        self.waiting.pop(name, None)
        self.announced.discard(name)
        self.sessions.update_record(name, stall=None)
        self.tell("session:working", name)
        self.busy_until[name] = self.now + int(self.random.expovariate(1 / 900) * 1000)

    def end_turn(self, name: str) -> None:
        """A turn asks, fails or ends."""
        del self.busy_until[name]
        kind = self.random.choices(
            ["permission_prompt", "elicitation_dialog", "idle_prompt", "error", "stalled"],
            [40, 10, 48, 1, 1],
        )[0]
        self.waiting[name] = Waiting(since=self.now, kind=kind)
        if kind == "permission_prompt":
            self.ask(name)
        elif kind == "elicitation_dialog":
            self.ask(name, "question")
        elif kind == "stalled":
            stall = SessionStall(reason="silent", since=self.now, detail="")
            self.sessions.update_record(name, stall=stall)
            self.tell("session:stalled", name)
        elif kind == "error":
            self.tell("session:error", name)
        else:
            self.tell("session:stop", name)
            self.ask(name, "idle")
        self.events[kind] += 1

    def let_person_act(self) -> None:
        """Look at sessions, snooze and answer in the hours of work; later answer a few by phone."""
        hour = self.now // 3_600_000 % 24
        if not 9 <= hour < 23:
            return
        self.answer(1 / 600 if hour < 18 else 1 / 1800)
        if hour >= 18:
            self.watch(None)
            return
        if self.random.random() < STEP / 60:
            self.watch(self.random.choice([None, *(self.waiting or self.sessions.records)]))
        if self.watched is not None:
            self.notices.record_look("ann", "desk", self.watched)
        if self.random.random() < STEP / 3600:
            name = self.random.choice(list(self.sessions.records))
            self.sessions.update_record(name, snooze=Snooze(until=self.now + 1_800_000))
        for name, record in list(self.sessions.records.items()):
            if record.snooze is not None and (record.snooze.until or 0) <= self.now:
                self.sessions.update_record(name, snooze=None)

    def answer(self, per_second: float) -> None:
        """Answer some of what waits."""
        for name in list(self.waiting):
            # At the desk, what is on the screen is answered soon.
            factor = 20 if name == self.watched else 1
            if self.random.random() < STEP * per_second * factor:
                self.resolve(name)
                self.begin_turn(name)

    def watch(self, name: str | None) -> None:
        if name != self.watched:
            self.watched = name
            self.notices.record_look("ann", "desk", name)

    def check_waiting(self) -> None:
        """Count how long each question waits although nothing excuses that."""
        quiet = find_quiet_end(QUIET, self.now) is not None
        for name, waiting in self.waiting.items():
            record = self.sessions.records[name]
            left_to_parent = waiting.kind == "idle_prompt" and record.parent_session_id
            seen = waiting.kind not in ("permission_prompt", "elicitation_dialog") and (
                self.watched == name
            )
            if waiting.told or seen or left_to_parent or name in self.announced:
                waiting.told = True
            elif not quiet and record.snooze is None:
                waiting.unexcused_ms += STEP * 1000
                self.longest = max(self.longest, waiting.unexcused_ms)

    def report(self) -> None:
        """Print what rang."""
        sent = Counter(message.kind for _, channel, message in self.sent if channel == "push")
        agents = AGENTS + CHILDREN
        report_figure(f"simulated day of {agents} agents, push: kind, without, with rules")
        for kind in (*sorted(self.events), "digest"):
            report_figure(f"  {kind:20} {self.events[kind]:6} {sent[kind]:6}")
        report_figure(f"  {'all':20} {self.events.total():6} {sent.total():6}")
        report_figure(f"  longest wait without a notice: {self.longest / 1000:.0f} s")
        self.assertTrue(set(self.events) >= NEEDS_PERSON)
