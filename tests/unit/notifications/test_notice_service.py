"""What rings when, on a Clock."""

from __future__ import annotations

from tests.event_helpers import make_event
from tests.unit.notifications.notice_harness import EVERYTHING, HOOK, NoticeCase
from tservice.notifications.model import NoticeRules, QuietHours
from tservice.notifications.presence import DEVICES_LIMIT, LOOK_SECONDS, LookRegistry
from tservice.sessions.interfaces import SessionStall, Snooze

ASKS, QUESTION = "s asks for permission", "s asks a question"
QUIET = QuietHours(enabled=True, start="07:00", end="09:00")
"""It is 8:00 when a test begins."""


class ServiceTests(NoticeCase):
    """L{NoticeService}."""

    def test_every_selected_channel_gets_the_notice(self) -> None:
        self.ask()
        self.assertEqual(["browser", "push", "hook"], [channel for _, channel, _ in self.sent])
        message = self.sent[0][2]
        self.assertEqual(
            (ASKS, "critical", "s"), (message.title, message.urgency, message.session_id)
        )

    def test_other_accounts_are_left_to_the_settings(self) -> None:
        self.notices.replace_rules("ann", None)
        self.ask()
        self.assertEqual([], self.sent)

    def test_rules_survive_a_restart(self) -> None:
        self.notices.stop()
        self.begin()
        self.ask()
        self.assertEqual([ASKS], self.pushed())

    def test_rules_of_a_removed_account_are_deleted(self) -> None:
        self.notices.delete_unknown_accounts(lambda name: False)
        self.ask()
        self.assertEqual([], self.sent)
        self.assertEqual([], self.database.query_rows("SELECT * FROM notification_rules"))

    def test_signal_of_a_dialog_repeats_no_notice_of_its_item(self) -> None:
        self.ask()
        self.tell("session:blocked")
        self.assertEqual([ASKS], self.pushed())

    def test_dialog_without_an_item_is_announced(self) -> None:
        self.tell("session:blocked")
        self.assertEqual([QUESTION], self.pushed())

    def test_second_dialog_right_after_an_answer_is_announced(self) -> None:
        self.ask()
        self.resolve()
        self.ask()
        self.assertEqual([ASKS, ASKS], self.pushed())

    def test_watched_question_rings_once_nobody_looks(self) -> None:
        self.notices.record_look("ann", "desk", "s")
        self.ask()
        self.assertEqual([], self.pushed())
        self.clock.advance(LOOK_SECONDS)
        self.assertEqual([ASKS], self.pushed())

    def test_watched_question_rings_when_the_page_is_left(self) -> None:
        self.notices.record_look("ann", "desk", "s")
        self.notices.record_look("ann", "phone", "s")
        self.ask()
        self.notices.record_look("ann", "desk", None)
        self.assertEqual([], self.pushed())
        self.notices.record_look("ann", "phone", None)
        self.assertEqual([ASKS], self.pushed())

    def test_question_in_front_of_an_empty_chair_rings_within_a_minute(self) -> None:
        for second in range(60):
            if second % 10 == 0:
                self.notices.record_look("ann", "desk", "s")
            if second == 0:
                self.ask()
            self.clock.advance(1)
        self.assertEqual([ASKS], self.pushed())

    def test_watched_question_that_was_answered_never_rings(self) -> None:
        self.notices.record_look("ann", "desk", "s")
        self.ask()
        self.resolve()
        self.clock.advance(LOOK_SECONDS)
        self.assertEqual([], self.pushed())

    def test_look_of_another_account_silences_nothing(self) -> None:
        self.notices.record_look("root", "desk", "s")
        self.ask()
        self.assertEqual([ASKS], self.pushed())

    def test_question_rings_when_a_snooze_ends(self) -> None:
        self.sessions.update_record("s", snooze=Snooze(until=self.now + 60_000))
        self.ask()
        self.clock.advance(30)
        self.assertEqual([], self.pushed())
        self.sessions.update_record("s", snooze=None)
        self.assertEqual([ASKS], self.pushed())

    def test_turn_that_ended_in_a_snooze_and_went_on_is_forgotten(self) -> None:
        self.sessions.update_record("s", snooze=Snooze(until=self.now + 60_000))
        self.tell("session:stop")
        self.tell("session:working")
        self.sessions.update_record("s", snooze=None)
        self.assertEqual([], self.pushed())

    def test_quiet_hours_end_with_one_digest(self) -> None:
        self.notices.replace_rules("ann", self.rules.model_copy(update={"quiet_hours": QUIET}))
        for name in ("a", "b", "c"):
            self.sessions.add(name)
        self.ask("a")
        self.ask("b", "question")
        self.tell("session:stop", "c")
        self.assertEqual([], self.pushed())
        self.clock.advance(3600)
        self.assertEqual(["2 of 3 sessions need you"], self.pushed())
        message = next(message for _, channel, message in self.sent if channel == "push")
        self.assertEqual("digest", message.kind)
        self.assertEqual(
            "a asks for permission; b asks a question; c has finished its turn", message.body
        )
        self.assertEqual("a", message.session_id)
        # The webhook gets no info, so that its digest has two.
        hook = next(message for _, channel, message in self.sent if channel == "hook")
        self.assertEqual("2 sessions need you", hook.title)

    def test_without_digest_each_waiting_notice_rings(self) -> None:
        given = {"quiet_hours": QUIET, "digest": False}
        self.notices.replace_rules("ann", self.rules.model_copy(update=given))
        self.sessions.add("a")
        self.ask("s")
        self.ask("a")
        self.clock.advance(3600)
        self.assertEqual([ASKS, "a asks for permission"], self.pushed())

    def test_family_is_announced_once_and_then_together(self) -> None:
        for name in ("one", "two", "three"):
            self.sessions.add(name, "s")
        self.ask("one")
        self.clock.advance(5)
        self.ask("two")
        self.ask("three")
        self.assertEqual(["one asks for permission"], self.pushed())
        self.clock.advance(25)
        self.assertEqual("2 sessions need you", self.pushed()[-1])
        self.assertEqual(2, len(self.pushed()))

    def test_new_rules_decide_what_waits(self) -> None:
        self.notices.replace_rules("ann", self.rules.model_copy(update={"quiet_hours": QUIET}))
        self.ask()
        self.notices.replace_rules("ann", self.rules)
        self.assertEqual([ASKS], self.pushed())

    def test_stall_that_is_over_is_not_announced_after_quiet_hours(self) -> None:
        self.notices.replace_rules("ann", self.rules.model_copy(update={"quiet_hours": QUIET}))
        stall = SessionStall(reason="silent", since=1, detail="No output.")
        self.sessions.add("a")
        for name in ("s", "a"):
            self.sessions.update_record(name, stall=stall)
            self.tell("session:stalled", name)
        self.sessions.update_record("s", stall=None)
        self.clock.advance(3600)
        self.assertEqual(["a seems to hang"], self.pushed())

    def test_removed_session_leaves_nothing(self) -> None:
        self.notices.replace_rules("ann", self.rules.model_copy(update={"quiet_hours": QUIET}))
        self.ask()
        self.tell("session:deleted")
        self.clock.advance(3600)
        self.assertEqual([], self.pushed())
        self.assertEqual([], list(self.notices._held))
        self.assertEqual(set(), self.notices._asking)

    def test_failed_job_without_a_session_is_announced(self) -> None:
        self.hub.publish(
            make_event(
                "cron:runUpdated", owner="ann", status="failed", sessionName="nightly",
                sessionId=None, errorMessage="no host",
            )
        )  # fmt: skip
        self.assertEqual(["nightly could not complete a scheduled job"], self.pushed())


class LookTests(NoticeCase):
    """L{LookRegistry}."""

    rules = NoticeRules(browser=EVERYTHING, webhooks=(HOOK,))

    def test_devices_are_bounded(self) -> None:
        looks = LookRegistry(self.clock)
        for number in range(DEVICES_LIMIT + 1):
            looks.record_look("ann", f"d{number}", "s" if number == 0 else "other")
        self.assertIsNone(looks.find_end("ann", "s"))
        self.assertEqual(DEVICES_LIMIT, len(looks._looks["ann"]))
