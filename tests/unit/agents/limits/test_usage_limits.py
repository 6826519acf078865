"""Usage limits: their words, the pause and the way on (protocol-automatic)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.event_helpers import to_wire
from tests.unit.agents.approvals_harness import ApprovalCase
from tests.unit.agents.dialog_client import BUSY, permission_page
from tests.unit.agents.harness import COMPOSER
from tservice.agents.limits.automatic_commands import AutomaticCommands
from tservice.agents.limits.reset_time import parse_reset
from tservice.agents.limits.usage_limits import ESCAPE_PAUSE, UsageLimitService
from tservice.agents.transcripts.model import TranscriptTally, TurnFailure
from tservice.core.kernel.clock import get_unix_ms
from tservice.sessions.record.model import AutoClear, AutoCompact, AutoResume, Session

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 20, 13, 30, tzinfo=UTC)
"""A Friday; 14:30 in Berlin, 8:30 in New York."""


def reset(text: str, now: datetime = NOW) -> str | None:
    found = parse_reset(text, int(now.timestamp() * 1000), BERLIN)
    return None if found is None else datetime.fromtimestamp(found / 1000, UTC).isoformat(" ")[:16]


class WordsTests(SynchronousTestCase):
    """What agents write."""

    def test_reset_times_are_read(self) -> None:
        for text, want in (
            ("3pm (UTC)", "2026-11-20 15:00"),
            ("2:42pm (UTC)", "2026-11-20 14:42"),
            ("3pm (America/New_York)", "2026-11-20 20:00"),
            ("3pm", "2026-11-20 14:00"),
            ("at 15:00", "2026-11-20 14:00"),
            ("12am", "2026-11-20 23:00"),
            ("12:05 p.m.", "2026-11-21 11:05"),
            ("1pm (UTC)", "2026-11-21 13:00"),
            ("1:29pm (UTC)", "2026-11-20 13:29"),
            ("7am (UTC+2)", "2026-11-21 05:00"),
            ("7am (GMT-03:30)", "2026-11-21 10:30"),
            ("tomorrow at 9:15", "2026-11-21 08:15"),
            ("Nov 21, 9am", "2026-11-21 08:00"),
            ("21 November at 17:30 UTC", "2026-11-21 17:30"),
            ("Dec 1st", "2026-11-30 23:00"),
            ("Nov 23, 2026 3:00 PM", "2026-11-23 14:00"),
            ("2026-11-24 06:07 UTC", "2026-11-24 06:07"),
            ("Monday at 10am", "2026-11-23 09:00"),
            ("Fri 9am (UTC)", "2026-11-27 09:00"),
            ("in 2 hours 15 minutes", "2026-11-20 15:45"),
            ("2h 5m", "2026-11-20 15:35"),
            ("in 3 days", "2026-11-23 13:30"),
            ("limit reached|1795189200", "2026-11-20 15:40"),
        ):
            self.assertEqual(want, reset(text), text)

    def test_texts_without_a_time_give_no_reset(self) -> None:
        for text in (
            "soon",
            "",
            "25:00",
            "13pm",
            "Feb 31",
            "in a while",
            "version 3",
            "1999999999",
            "Sep 2027",
            "2026-13-01",
        ):
            self.assertIsNone(reset(text), text)

    def test_reset_date_crosses_the_year_end(self) -> None:
        eve = datetime(2026, 12, 31, 23, 0, tzinfo=UTC)
        self.assertEqual("2027-01-01 08:00", reset("Jan 1, 9am", eve))

    @given(st.text(max_size=60))
    def test_any_text_gives_a_near_future_time_or_none(self, text: str) -> None:
        """Whatever stands there is a time ahead or none."""
        at = int(NOW.timestamp() * 1000)
        found = parse_reset(text, at, BERLIN)
        day = 86_400_000
        self.assertTrue(found is None or at - day < found < at + 33 * day)

    @given(st.integers(0, 23), st.integers(0, 59), st.booleans())
    def test_every_time_of_day_is_read(self, hour: int, minute: int, half: bool) -> None:
        """12 and 24 hours name the same time."""
        short = f"{(hour - 1) % 12 + 1}:{minute:02}{'pm' if hour > 11 else 'am'}"
        text = f"{short if half else f'{hour}:{minute:02}'} (UTC)"
        found = reset(text)
        assert found is not None
        self.assertEqual(f"{hour:02}:{minute:02}", found[11:])


class LimitPauseTests(ApprovalCase):
    """A session at its limit."""

    def setUp(self) -> None:
        super().setUp()
        self.limits = self.open_limits()

    def open_limits(self) -> UsageLimitService:
        limits = UsageLimitService(
            self.clock, self.sessions, self.agents.agents, self.machine.hub, UTC
        )
        limits.start()
        self.addCleanup(limits.stop)
        return limits

    def limited(self, **auto: Any) -> Session:
        """A session that reached a limit which ends in an hour."""
        session = self.ready()
        auto = {"enabled": True, **auto}
        self.sessions.update_record(session.id, auto_resume=AutoResume(**auto))
        self.spend(5)
        at = datetime.fromtimestamp(self.clock.seconds() + 3600, UTC)
        self.reset_at = at.replace(second=0, microsecond=0)
        text = f"You've hit your session limit · resets {self.reset_at:%H:%M} (UTC)"
        self.machine.events.clear()
        self.hook(session, "stop", hook_event_name="StopFailure", last_assistant_message=text)
        return self.sessions.get(session.id)

    def names(self) -> list[str]:  # type: ignore[override]
        return [e.name[8:] for e in self.machine.events if e.name.startswith("session:limit")]

    def test_limited_session_pauses_and_resumes(self) -> None:
        session = self.limited()
        want = int(self.reset_at.timestamp() * 1000) + 120_000
        self.assertEqual((True, want), (session.limit_paused, session.auto_resume.resume_at))
        self.assertEqual(["limitPauseScheduled"], self.names())
        told = {str(e.name): to_wire(e) for e in self.machine.events}
        self.assertEqual(want, told["session:limitPauseScheduled"]["resumeAt"])
        self.spend((want - get_unix_ms(self.clock)) / 1000 - 1)
        self.assertEqual([], self.client(session).log)
        self.spend(1.5)
        self.assertEqual([(None, "Escape")], self.client(session).log)
        self.spend(5)
        self.assertEqual(["continue"], self.pane(session).pastes)
        after = self.sessions.get(session.id)
        self.assertEqual((False, None), (after.limit_paused, after.auto_resume.resume_at))
        self.assertEqual(["limitPauseScheduled", "limitResume"], self.names())

    def test_limited_session_without_auto_resume_only_pauses(self) -> None:
        session = self.limited(enabled=False)
        self.assertEqual((True, None), (session.limit_paused, session.auto_resume.resume_at))
        self.sessions.update_record(
            session.id, auto_resume=evolve(session.auto_resume, enabled=True)
        )
        self.assertIsNotNone(self.sessions.get(session.id).auto_resume.resume_at)
        self.assertEqual(["limitPauseScheduled"], self.names())

    def test_switching_auto_resume_off_cancels_the_resume(self) -> None:
        session = self.limited()
        self.sessions.update_record(
            session.id, auto_resume=evolve(session.auto_resume, enabled=False)
        )
        self.assertEqual(["limitPauseScheduled", "limitResumeCancelled"], self.names())
        self.spend(4000)
        self.assertEqual([], self.client(session).log)

    def test_working_output_cancels_the_pause(self) -> None:
        session = self.limited()
        self.show(session, BUSY, "⠂ Claude Code")
        self.spend(5)
        after = self.sessions.get(session.id)
        self.assertEqual((False, None), (after.limit_paused, after.auto_resume.resume_at))
        self.assertEqual(["limitPauseScheduled", "limitResumeCancelled"], self.names())
        self.show(session, COMPOSER)
        self.spend(4000)
        self.assertEqual([], self.pane(session).pastes)

    def shown(self, session: Session, *, resume: bool = True) -> Session:
        """The session after its screen showed what looks like a limit."""
        self.sessions.update_record(session.id, auto_resume=AutoResume(enabled=resume))
        text = "❯ go\n\n● You've hit your weekly limit · resets Jan 20, 3pm (UTC)\n\n"
        self.show(session, text + COMPOSER)
        self.spend(5)
        return self.sessions.get(session.id)

    def used(self, session: Session, percent: float, resets_in: float = 3600) -> int:
        """Its status line tells how much of the plan is used; when that window ends."""
        resets = int(self.clock.seconds() + resets_in)
        window = {"used_percentage": percent, "resets_at": resets}
        self.agents.telemetry.handle_telemetry_report(
            session.id, {"rate_limits": {"five_hour": window}}
        )
        return resets * 1000

    def test_answer_that_reads_like_a_limit_is_none(self) -> None:
        """The words of an answer are those of a notice as often as not."""
        found = self.shown(self.ready())
        self.assertEqual((False, None), (found.limit_paused, found.auto_resume.resume_at))
        self.assertEqual([], self.names())

    def test_limit_text_after_a_successful_turn_is_none(self) -> None:
        session = self.ready()
        self.hook(session, "prompt_submitted")
        self.hook(session, "stop")
        self.assertFalse(self.shown(session).limit_paused)

    def test_screen_adds_the_reset_time_missing_in_the_record(self) -> None:
        session = self.ready()
        self.hook(
            session,
            "stop",
            hook_event_name="StopFailure",
            last_assistant_message="You've hit your weekly limit",
        )
        self.assertTrue(self.sessions.get(session.id).limit_paused)
        found = self.shown(session)
        want = int(datetime(2027, 1, 20, 15, 2, tzinfo=UTC).timestamp() * 1000)
        self.assertEqual((True, want), (found.limit_paused, found.auto_resume.resume_at))

    def test_limit_in_the_transcript_pauses_once(self) -> None:
        session = self.ready()
        text = "You've hit your usage limit. Try again in 2 hours."
        tally = TranscriptTally(failure=TurnFailure(text=text, at=get_unix_ms(self.clock)))
        self.limits.handle_tally(session.id, tally)
        self.assertTrue(self.sessions.get(session.id).limit_paused)
        self.show(session, BUSY, "⠂ Claude Code")
        self.spend(5)
        self.assertFalse(self.sessions.get(session.id).limit_paused)
        self.limits.handle_tally(session.id, tally)
        self.assertFalse(self.sessions.get(session.id).limit_paused)

    def test_other_error_in_the_transcript_is_no_limit(self) -> None:
        session = self.ready()
        self.limits.handle_tally(
            session.id, TranscriptTally(failure=TurnFailure(text="429 Too Many Requests"))
        )
        self.assertFalse(self.sessions.get(session.id).limit_paused)

    def test_status_line_reports_the_limit(self) -> None:
        session = self.ready()
        self.sessions.update_record(session.id, auto_resume=AutoResume(enabled=True))
        self.used(session, 99.5)
        self.assertFalse(self.sessions.get(session.id).limit_paused)
        ends = self.used(session, 100)
        found = self.sessions.get(session.id)
        self.assertEqual((True, ends + 120_000), (found.limit_paused, found.auto_resume.resume_at))

    def test_successful_turn_overrides_the_status_line(self) -> None:
        """Usage beyond the plan can be bought; then only the agent's notice beside it counts."""
        session = self.ready()
        self.hook(session, "prompt_submitted")
        self.hook(session, "stop")
        self.used(session, 100)
        self.assertFalse(self.sessions.get(session.id).limit_paused)
        self.assertTrue(self.shown(session).limit_paused)

    def test_expired_usage_window_is_no_limit(self) -> None:
        session = self.ready()
        self.used(session, 100, resets_in=-60)
        self.assertFalse(self.sessions.get(session.id).limit_paused)

    def test_dialog_of_the_agent_is_not_closed(self) -> None:
        session = self.limited()
        self.client(session).queue.append([permission_page()])
        self.client(session).draw()
        self.sessions.update_record(session.id, limit_paused=True)
        self.spend(4000)
        self.assertEqual([], self.client(session).log)
        self.assertEqual("limitResumeCancelled", self.names()[-1])

    def test_limit_pause_survives_a_restart(self) -> None:
        session = self.limited()
        self.limits.stop()
        self.limits = self.open_limits()
        self.spend(4000)
        self.assertEqual(["continue"], self.pane(session).pastes)

    def due(self) -> Session:
        """A paused session whose time comes now."""
        session = self.limited()
        at = session.auto_resume.resume_at
        assert at is not None
        self.spend((at - get_unix_ms(self.clock)) / 1000)
        return session

    def killed(self, session: Session, screen: str, title: str) -> None:
        """The service is killed for an hour; the next one finds C{screen}."""
        self.machine.crash()
        self.show(session, screen, title)
        self.clock.advance(3600)
        self.machine.restart()
        self.limits = self.open_limits()

    def test_kill_between_escape_and_prompt_still_resumes(self) -> None:
        session = self.due()
        self.spend(ESCAPE_PAUSE / 2)
        self.assertEqual((["Escape"], []), (self.pane(session).keys, self.pane(session).pastes))
        self.killed(session, COMPOSER, "✳ Claude Code")
        self.spend(10)
        self.assertEqual(["continue"], self.pane(session).pastes)
        self.assertFalse(self.sessions.get(session.id).limit_paused)

    def test_kill_while_the_prompt_is_typed_resumes_once(self) -> None:
        session = self.due()
        while not self.pane(session).pastes:
            self.spend(0.01)
        self.assertEqual(0, self.pane(session).keys.count("Enter"))
        self.killed(session, COMPOSER.replace("❯\xa0", "❯\xa0continue"), "✳ Claude Code")
        self.spend(30)
        self.assertEqual(["continue"], self.pane(session).pastes)
        self.assertEqual(1, self.pane(session).keys.count("Enter"))
        self.assertFalse(self.sessions.get(session.id).limit_paused)

    def test_kill_after_the_enter_does_not_interrupt_the_turn(self) -> None:
        session = self.due()
        while self.pane(session).keys.count("Enter") == 0:
            self.spend(0.01)
        self.assertTrue(self.sessions.get(session.id).limit_paused)
        for screen, title in ((BUSY, "⠂ Claude Code"), (COMPOSER, "✳ Claude Code")):
            self.killed(session, screen, title)
            self.spend(30)
            self.assertEqual(["continue"], self.pane(session).pastes)
            self.assertEqual(1, self.pane(session).keys.count("Escape"))
            self.assertFalse(self.sessions.get(session.id).limit_paused)

    def test_limit_read_late_ends_at_its_own_time(self) -> None:
        """It was written while the service was away; its time of day is past by now."""
        session = self.ready()
        self.sessions.update_record(session.id, auto_resume=AutoResume(enabled=True))
        at = datetime.fromtimestamp(self.clock.seconds(), UTC)
        resets = at.replace(second=0, microsecond=0) + timedelta(hours=1)
        text = f"You've hit your session limit · resets {resets:%H:%M} (UTC)"
        failure = TurnFailure(text=text, at=get_unix_ms(self.clock))
        self.clock.advance(3 * 3600)
        self.limits.handle_tally(session.id, TranscriptTally(failure=failure))
        self.spend(10)
        self.assertEqual(["continue"], self.pane(session).pastes)


class AutomaticCommandTests(ApprovalCase):
    """Commands at thresholds."""

    def setUp(self) -> None:
        super().setUp()
        self.automatic = AutomaticCommands(
            self.clock, self.sessions, self.agents.agents, self.machine.hub
        )
        self.automatic.start()
        self.addCleanup(self.automatic.stop)

    def count(self, session: Session, tokens: int) -> None:
        self.automatic.handle_tally(session.id, TranscriptTally(context=tokens))
        self.spend(5)

    def test_compact_is_sent_once_for_each_crossing(self) -> None:
        session = self.ready()
        compact = AutoCompact(enabled=True, threshold=1000, prompt="keep\nthe plan")
        self.sessions.update_record(session.id, auto_compact=compact)
        self.count(session, 999)
        self.assertEqual([], self.pane(session).pastes)
        self.count(session, 1000)
        self.count(session, 1200)
        self.assertEqual(["/compact keep the plan"], self.pane(session).pastes)
        self.assertIn("session:autoCompact", self.names)
        self.count(session, 100)
        self.count(session, 1001)
        self.assertEqual(2, len(self.pane(session).pastes))

    def test_typed_command_is_not_repeated_after_a_kill(self) -> None:
        """Until the agent has compacted its context is what it was."""
        session = self.ready()
        self.sessions.update_record(
            session.id, auto_compact=AutoCompact(enabled=True, threshold=10)
        )
        tally = TranscriptTally(context=20, response_at=get_unix_ms(self.clock))
        for _ in range(2):
            self.automatic.handle_tally(session.id, tally)
            self.spend(5)
            self.assertEqual(["/compact"], self.pane(session).pastes)
            self.restart()
        self.automatic.handle_tally(session.id, evolve(tally, response_at=get_unix_ms(self.clock)))
        self.spend(5)
        self.assertEqual(["/compact"] * 2, self.pane(session).pastes)

    def restart(self) -> None:
        self.machine.crash()
        self.machine.restart()
        self.automatic = AutomaticCommands(
            self.clock, self.sessions, self.agents.agents, self.machine.hub
        )
        self.automatic.start()
        self.addCleanup(self.automatic.stop)

    def test_automatic_clear_comes_before_compact(self) -> None:
        session = self.ready()
        compact = AutoCompact(enabled=True, threshold=10)
        self.sessions.update_record(
            session.id, auto_compact=compact, auto_clear=AutoClear(enabled=True, threshold=20)
        )
        self.count(session, 30)
        self.assertEqual(["/clear"], self.pane(session).pastes)
        self.assertIn("session:autoClear", self.names)

    def test_automatic_command_waits_until_the_agent_is_idle(self) -> None:
        session = self.ready()
        self.sessions.update_record(session.id, auto_clear=AutoClear(enabled=True, threshold=20))
        self.show(session, BUSY, "⠂ Claude Code")
        self.spend(3)
        self.count(session, 30)
        self.assertEqual([], self.pane(session).pastes)
        self.show(session, COMPOSER, "✳ Claude Code")
        self.spend(10)
        self.assertEqual(["/clear"], self.pane(session).pastes)

    def test_automatic_command_waits_for_an_empty_composer(self) -> None:
        """They would be submitted with it; it goes once they are gone."""
        session = self.ready()
        self.sessions.update_record(session.id, auto_clear=AutoClear(enabled=True, threshold=20))
        self.show(session, COMPOSER.replace("❯\u00a0", "❯\u00a0fix the"), "✳ Claude Code")
        self.count(session, 30)
        self.assertEqual([], self.pane(session).pastes)
        self.show(session, COMPOSER, "✳ Claude Code")
        self.count(session, 31)
        self.assertEqual(["/clear"], self.pane(session).pastes)

    def test_automatic_command_is_not_typed_into_a_dialog(self) -> None:
        session = self.asked(permission_page())
        self.sessions.update_record(session.id, auto_clear=AutoClear(enabled=True, threshold=20))
        self.count(session, 30)
        self.assertEqual(([], []), (self.pane(session).pastes, self.client(session).log))
