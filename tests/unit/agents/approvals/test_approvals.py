"""The inbox: what becomes an item, and how items end (protocol-approvals)."""

from __future__ import annotations

import json
from datetime import UTC
from typing import Any
from unittest import mock

from attrs import evolve
from twisted.internet.defer import Deferred

from tests.callers import make_caller
from tests.event_helpers import to_wire
from tests.unit.agents.approvals_harness import ApprovalCase
from tests.unit.agents.dialog_client import BUSY, permission_page, question_page
from tests.unit.http.site_driver import ApiHarness, parse_http_answer
from tests.unit.sessions.harness import ADMIN, start_coroutine
from tservice.agents.approvals.answer_steps import AnswerAction, parse_answer
from tservice.agents.approvals.build import build_approvals
from tservice.agents.approvals.model import LIFETIME_MS
from tservice.agents.approvals.responses import make_item_response
from tservice.agents.approvals.routes import ApprovalRoutes
from tservice.agents.approvals.store import ApprovalStore
from tservice.agents.limits.build import build_agent_limits
from tservice.agents.transcripts.build import build_transcripts
from tservice.core.disk.disk_errors import FULL, DiskFull
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.late_binding import LateBinding
from tservice.core.kernel.zone import find_local_zone
from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration
from tservice.sessions.interfaces import Session

EVE = make_caller(username="eve", admin=False)


class ItemTests(ApprovalCase):
    """What is put in."""

    def test_permission_dialog_becomes_an_item(self) -> None:
        session = self.asked(
            permission_page(),
            tool_name="Bash",
            tool_input={"command": "touch made.txt"},
            cwd="/srv",
        )
        item = to_wire(make_item_response(self.item(session)))
        self.assertEqual(f"{session.id}:1", item["id"])
        self.assertEqual(
            ("permission", "Bash", "/srv"), (item["kind"], item["toolName"], item["cwd"])
        )
        self.assertEqual("touch made.txt", item["toolSummary"])
        self.assertEqual({"n": 1, "label": "Yes", "selected": True}, item["options"][0])
        self.assertIn("touch made.txt", item["context"])
        self.assertEqual(32, len(item["frame"]))
        self.assertTrue(self.approvals.is_blocked(session.id))
        self.assertEqual("pending", self.told()[0][0])
        json.dumps(item)

    def test_checked_boxes_of_a_multiple_choice_page_are_in_the_item(self) -> None:
        page = question_page("Checks", "Types", "Style", multi=True)
        page.ticked = {2}
        session = self.asked(page, tool_name="AskUserQuestion")
        boxes = [
            option.get("checked")
            for option in to_wire(make_item_response(self.item(session)))["options"]
        ]
        self.assertEqual([False, True, False, None], boxes)
        before = self.item(session)
        self.told()
        self.client(session).take("1")
        self.spend(3)
        self.assertEqual([("updated", "question")], self.told())
        after = self.item(session)
        self.assertEqual((before.id, before.frame), (after.id, after.frame))
        self.assertEqual([True, True], [option.checked for option in after.options[:2]])
        self.assertEqual([after], ApprovalStore(self.machine.database).load_items())

    def test_both_hooks_of_one_dialog_make_one_item(self) -> None:
        session = self.asked(permission_page(), tool_name="Bash")
        first = self.item(session)
        self.told()
        self.hook(session, "permission_prompt", message="Claude needs your permission")
        self.spend(3)
        self.assertEqual((first.id, "Bash"), (self.item(session).id, self.item(session).tool_name))
        self.assertEqual([("updated", "permission")], self.told())

    def test_item_of_a_question_holds_the_question_text(self) -> None:
        """Not that the agent waits, which is all that its hook tells 6 s later."""
        session = self.asked(question_page("Colour", "Red", "Blue"), tool_name="AskUserQuestion")
        self.assertEqual("Which colour shall it be?", self.item(session).message)
        self.hook(session, "permission_prompt", message="Claude needs your permission")
        self.spend(3)
        self.assertEqual("Which colour shall it be?", self.item(session).message)

    def test_hook_before_the_screen_makes_one_item(self) -> None:
        session = self.ready()
        self.hook(session, "permission_prompt", tool_name="Bash")
        self.spend(0.3)
        self.client(session).ask(permission_page())
        self.spend(3)
        self.assertEqual("Bash", self.item(session).tool_name)

    def test_hook_without_a_dialog_makes_no_item(self) -> None:
        session = self.ready()
        self.hook(session, "permission_prompt", tool_name="Bash")
        self.spend(10)
        self.assertEqual([], self.told())

    def test_dialog_without_a_hook_makes_an_item(self) -> None:
        session = self.ready()
        self.client(session).ask(permission_page())
        self.spend(5)
        self.assertEqual("permission", self.item(session).kind)

    def test_newer_dialog_supersedes_the_item(self) -> None:
        session = self.asked(permission_page())
        self.client(session).ask(permission_page("rm x"))
        self.client(session).leave("elsewhere")
        self.spend(5)
        self.assertEqual(f"{session.id}:2", self.item(session).id)
        kinds = self.told()
        self.assertIn(("resolved", "superseded"), kinds)

    def test_unsupported_modes_have_no_items(self) -> None:
        """Of whose screens too little is known, and all without hooks while they may not."""
        self.machine.install("agy")
        self.assert_asks_nothing("antigravity")
        self.change_settings(external_signals=False)
        self.assert_asks_nothing("codex")

    def assert_asks_nothing(self, mode: str) -> None:
        session = self.agent("x", mode=mode)
        self.client(session).ask(permission_page())
        self.hook(session, "permission_prompt")
        self.spend(5)
        self.assertIsNone(self.inbox.get_item(session.id))

    def test_agent_without_hooks_has_items(self) -> None:
        """Its screen tells of the dialog: what is asked, once, and that the turn waits for it."""
        session = self.agent("x", mode="codex")
        self.spend(4)
        self.signals()
        self.client(session).ask(permission_page())
        self.spend(5)
        item = self.item(session)
        self.assertEqual(("permission", "Do you want to proceed?"), (item.kind, item.message))
        self.assert_signals(["working", "blocked"])
        self.client(session).ask(permission_page("rm x"))
        self.client(session).leave("elsewhere")
        self.spend(5)
        self.assert_signals(["blocked"])
        self.assertEqual(f"{session.id}:2", self.item(session).id)
        self.give(self.item(session), "deny")
        self.assertIsNone(self.inbox.get_item(session.id))
        self.assertEqual(("rm x", "Escape"), self.client(session).log[-1])

    def test_items_are_dismissed_when_the_inbox_is_switched_off(self) -> None:
        session = self.agent("x", mode="codex")
        self.client(session).ask(permission_page())
        self.spend(5)
        self.told()
        self.change_settings(external_signals=False)
        self.assertEqual([("resolved", "dismissed")], self.told())
        self.assertIsNone(self.inbox.get_item(session.id))

    def test_inbox_switched_off_has_no_items(self) -> None:
        self.change_settings(approvals_inbox_enabled=False)
        session = self.asked(permission_page())
        self.assertIsNone(self.inbox.get_item(session.id))
        self.assertEqual([], self.run_now(self.approvals.list_checked(ADMIN)))
        with self.assertRaises(ServiceError) as caught:
            self.approvals.mark_viewed(session.id, ADMIN)
        self.assertEqual(ErrorCode.FORBIDDEN, caught.exception.code)

    def test_idle_prompt_makes_an_item(self) -> None:
        session = self.ready()
        self.hook(session, "idle_prompt", message="Claude is waiting for your input")
        item = self.item(session)
        self.assertEqual(("idle", "idle"), (item.kind, item.frame))
        self.assertFalse(self.approvals.is_blocked(session.id))
        self.assertEqual(item.id, self.approvals.mark_viewed(session.id, ADMIN))
        self.assertIsNotNone(self.item(session).acknowledged_at)
        self.assertEqual(["pending", "updated"], [name for name, _ in self.told()])
        given = self.start_answer(item, "text", text="go on")
        self.spend(5)
        self.successResultOf(given)
        self.assertEqual(["go on"], self.pane(session).pastes)
        self.assertEqual(("resolved", "answered"), self.told()[-1])

    def test_idle_item_accepts_a_text_only(self) -> None:
        session = self.ready()
        self.hook(session, "idle_prompt")
        code, _ = self.refused_answer(self.item(session), "approve")
        self.assertEqual(ErrorCode.INVALID_INPUT, code)

    def test_viewing_a_permission_dialog_does_not_acknowledge_it(self) -> None:
        session = self.asked(permission_page())
        self.assertIsNone(self.approvals.mark_viewed(session.id, ADMIN))
        self.assertIsNone(self.item(session).acknowledged_at)


class LostRightTests(ApprovalCase):
    """Whoever answers may lose the right to while the screen is looked at, or between two keys."""

    def setUp(self) -> None:
        super().setUp()
        self.lost = False
        self.sessions.set_sender_check(lambda who, session: not self.lost)

    def again(self) -> None:
        if self.lost:
            raise ServiceError(ErrorCode.FORBIDDEN, "Your permission was revoked")

    def answered(self, session: Session, action: str, **fields: Any) -> Any:
        answer = parse_answer(AnswerAction(action), **fields)
        item = self.item(session)
        return start_coroutine(
            self.approvals.answer_item(item.id, answer, evolve(ADMIN, reauthorize=self.again))
        )

    def refused(self, given: Any) -> None:
        self.lost = True
        self.spend(20)
        error = self.failureResultOf(given, ServiceError).value
        self.assertEqual(ErrorCode.FORBIDDEN, error.code)

    def test_answer_without_rights_presses_no_key(self) -> None:
        session = self.asked(permission_page())
        item, pane = self.item(session), self.pane(session)
        typed = bytes(pane.typed)
        self.lost = True
        self.refused(self.answered(session, "approve"))
        self.assertEqual(typed, bytes(pane.typed))
        self.assertEqual(item.id, self.item(session).id, "it waits for somebody else")

    def test_answer_that_loses_rights_midway_presses_no_further_key(self) -> None:
        page = question_page("Checks", "Types", "Style", multi=True)
        session = self.asked(page, tool_name="AskUserQuestion")
        given = self.answered(session, "options", options=[1, 2])
        while not page.ticked:
            self.spend(0.05)
        self.refused(given)
        self.assertEqual(1, len(page.ticked))

    def test_text_answer_that_loses_rights_is_not_typed(self) -> None:
        session = self.ready()
        self.hook(session, "idle_prompt", message="Claude is waiting for your input")
        held: Deferred[None] = Deferred()
        look = self.agents.agents.capture_screen

        async def slow(session_id: str) -> Any:
            await held
            return await look(session_id)

        self.patch(self.agents.agents, "capture_screen", slow)
        given = self.answered(session, "text", text="go on")
        self.lost = True
        held.callback(None)
        self.refused(given)
        self.assertEqual([], self.pane(session).pastes)


class ApprovalEndTests(ApprovalCase):
    """How items end."""

    def test_dialog_answered_in_the_terminal_resolves_its_item(self) -> None:
        session = self.asked(permission_page())
        item = self.item(session)
        self.told()
        self.client(session).leave("1")
        self.assertEqual([], self.run_now(self.approvals.list_checked(ADMIN)))
        self.assertEqual([("resolved", "resolved_in_terminal")], self.told())
        text = self.assert_refused(
            ErrorCode.CONFLICT,
            self.approvals.answer_item(item.id, parse_answer(AnswerAction.DENY), ADMIN),
        )
        self.assertIn("resolved_in_terminal", text)
        self.spend(61)
        self.assert_refused(
            ErrorCode.NOT_FOUND,
            self.approvals.answer_item(item.id, parse_answer(AnswerAction.DENY), ADMIN),
        )

    def test_unrecognized_screen_keeps_the_item(self) -> None:
        session = self.asked(permission_page())
        self.show(session, "vim\n~\n~")
        self.spend(5)
        self.assertEqual(1, len(self.run_now(self.approvals.list_checked(ADMIN))))

    def test_listing_does_not_wait_for_an_unresponsive_pane(self) -> None:
        session = self.asked(permission_page())
        self.pane(session).stop_answering()
        listing = start_coroutine(self.approvals.list_checked(ADMIN))
        self.spend(2.1)
        self.assertEqual(1, len(self.successResultOf(listing)))
        self.pane(session).resume_answering()

    def test_finished_elicitation_resolves_its_item(self) -> None:
        session = self.asked(question_page("Colour", "Red", "Green"), tool_name="AskUserQuestion")
        self.hook(session, "elicitation_response")
        self.assertEqual(("resolved", "resolved_in_terminal"), self.told()[-1])

    def test_prompt_resolves_an_idle_item(self) -> None:
        session = self.ready()
        self.hook(session, "idle_prompt")
        self.show(session, BUSY, "⠂ Claude Code")
        self.hook(session, "prompt_submitted")
        self.spend(3)
        self.assertEqual(("resolved", "resolved_in_terminal"), self.told()[-1])

    def test_ended_session_resolves_its_items(self) -> None:
        session = self.asked(permission_page())
        self.pane(session).exit_program(0)
        self.spend(1)
        self.assertEqual(("resolved", "session_ended"), self.told()[-1])

    def test_dismissed_item_is_resolved_once(self) -> None:
        session = self.asked(permission_page())
        item = self.item(session)
        self.approvals.dismiss_item(item.id, ADMIN)
        self.assertEqual(("resolved", "dismissed"), self.told()[-1])
        with self.assertRaises(ServiceError) as caught:
            self.approvals.dismiss_item(item.id, ADMIN)
        self.assertEqual(ErrorCode.CONFLICT, caught.exception.code)

    def test_dismissal_on_a_full_disk_reports_that_a_restart_undoes_it(self) -> None:
        seen, asked = self.ready(), self.asked(permission_page())
        self.hook(seen, "idle_prompt")
        database = self.machine.database
        with mock.patch.object(database, "execute", side_effect=DiskFull(FULL)):
            dismissed = self.assertRaises(
                ServiceError, self.approvals.dismiss_item, self.item(asked).id, ADMIN
            )
            viewed = self.assertRaises(ServiceError, self.approvals.mark_viewed, seen.id, ADMIN)
        self.assertEqual(ErrorCode.OPERATION_FAILED, dismissed.code)
        self.assertIn("dismissed, but a restart now would bring it back", dismissed.message)
        self.assertIn("viewed, but a restart now would undo it", viewed.message)
        self.assertIsNone(self.inbox.get_item(asked.id))
        self.assertIsNotNone(self.item(seen).acknowledged_at)
        database.deferred_writes.write_deferred()
        self.approvals.mark_viewed(seen.id, ADMIN)
        self.assertEqual([self.item(seen)], ApprovalStore(database).load_items())

    def test_idle_item_expires_after_twelve_hours(self) -> None:
        session = self.ready()
        self.hook(session, "idle_prompt")
        self.clock.advance(LIFETIME_MS / 1000 - 1)
        self.assertIsNotNone(self.inbox.get_item(session.id))
        self.clock.advance(2)
        self.assertIn(("resolved", "expired"), self.told())

    def test_restart_keeps_approvals_and_their_numbers(self) -> None:
        session = self.asked(permission_page(), tool_name="Bash")
        item = self.item(session)
        self.approvals.stop()
        self.open_inbox()
        self.assertEqual(item, self.item(session))
        self.approvals.dismiss_item(item.id, ADMIN)
        self.client(session).leave("1")
        self.client(session).ask(permission_page("another"))
        self.spend(5)
        self.assertEqual(f"{session.id}:2", self.item(session).id)

    def test_items_of_another_account_are_not_found(self) -> None:
        session = self.asked(permission_page())
        item = self.item(session)
        self.assertEqual([], self.run_now(self.approvals.list_checked(EVE)))
        self.assert_refused(
            ErrorCode.NOT_FOUND,
            self.approvals.answer_item(item.id, parse_answer(AnswerAction.DENY), EVE),
        )
        for work in (
            lambda: self.approvals.dismiss_item(item.id, EVE),
            lambda: self.approvals.mark_viewed(session.id, EVE),
        ):
            with self.assertRaises(ServiceError) as caught:
                work()
            self.assertEqual(ErrorCode.NOT_FOUND, caught.exception.code)
        self.approvals.dismiss_item(item.id, ADMIN)
        with self.assertRaises(ServiceError) as caught:
            self.approvals.dismiss_item(item.id, EVE)
        self.assertEqual(ErrorCode.NOT_FOUND, caught.exception.code)


class ApprovalRouteTests(ApprovalCase):
    """Over HTTP."""

    def setUp(self) -> None:
        super().setUp()
        self.api = ApiHarness(collect_operations(ApprovalRoutes(self.approvals)), clock=self.clock)

    def test_items_are_listed_and_answered_over_http(self) -> None:
        session = self.asked(permission_page())
        (item,) = self.api.get("/api/approvals").data["approvals"]
        body = {"action": "approve", "expectFrame": item["frame"]}
        connection = self.api.connect()
        text = json.dumps(body).encode()
        path = f"/api/approvals/{item['id']}/answer"
        connection.send(
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(text)}\r\n\r\n".encode()
            + text
        )
        self.spend(5)
        data = parse_http_answer(connection.value()).data
        connection.lose()
        want = {"id": item["id"], "sessionId": session.id, "action": "approve"}
        self.assertEqual(want, data)
        self.assertEqual({"approvals": []}, self.api.get("/api/approvals").data)
        self.assertEqual(404, self.api.post(path, body).status)

    def test_bad_answer_bodies_name_their_field(self) -> None:
        session = self.asked(permission_page())
        path = f"/api/approvals/{self.item(session).id}/answer"
        for body, word in (
            ({}, "action"),
            ({"action": "explode"}, "action"),
            ({"action": "option"}, "option"),
            ({"action": "option", "option": 0}, "option"),
            ({"action": "option", "option": "1"}, "option"),
            ({"action": "options", "options": []}, "options"),
            ({"action": "options", "options": [1, 10]}, "options"),
            ({"action": "text", "text": ""}, "text"),
            ({"action": "text", "text": "x" * 4001}, "text"),
            ({"action": "approve", "option": 1}, "option"),
            ({"action": "approve", "extra": 1}, "extra"),
        ):
            status, code, text = self.api.post(path, body).error
            self.assertEqual((400, "INVALID_INPUT"), (status, code), body)
            self.assertIn(word, text)
        self.assertEqual([], self.client(session).log)

    def test_items_are_dismissed_and_viewed_over_http(self) -> None:
        session = self.asked(permission_page())
        item = self.item(session).id
        viewed = self.api.post(f"/api/approvals/session/{session.id}/viewed", None).data
        self.assertEqual({"sessionId": session.id, "acknowledged": None}, viewed)
        path = f"/api/approvals/{item}/dismiss"
        self.assertEqual({"id": item}, self.api.post(path, None).data)
        self.assertEqual(409, self.api.post(path, None).status)
        self.assertEqual(404, self.api.post("/api/approvals/x:1/dismiss", None).status)


class ApprovalFeatureTests(ApprovalCase):
    """All of it, as the program puts it together."""

    def test_approvals_feature_starts_serves_and_stops(self) -> None:
        ground, sessions = self.machine.ground(), self.sessions
        agents, clis = self.agents.agents, self.machine.clis
        inbox = build_approvals(
            ground,
            sessions=sessions,
            agents=agents,
            clis=clis,
            trust=self.agents.trust,
            channel=self.agents.channel.answers,
        )
        records = build_transcripts(
            ground,
            sessions=sessions,
            agents=agents,
            clis=clis,
            conversations=LateBinding("the conversations"),
        )
        upkeep = build_agent_limits(
            ground, sessions=sessions, agents=agents, transcripts=records.service
        )
        features: list[FeatureRegistration[Any]] = [inbox, records, upkeep]
        self.approvals.stop()
        for feature in features:
            feature.start()
        session = self.asked(permission_page())
        self.assertTrue(inbox.service.is_blocked(session.id))
        paths = {one.path for feature in features for one in feature.operations}
        self.assertEqual(11, len(paths))
        self.assertEqual(1, len(inbox.initial_state["approvals"](ADMIN)))
        for feature in reversed(features):
            feature.close()
        self.client(session).leave("1")
        self.spend(30)
        self.assertEqual(1, len(inbox.initial_state["approvals"](ADMIN)))

    def test_local_time_zone_is_read_safely(self) -> None:
        self.assertEqual("Europe/Berlin", str(find_local_zone({"TZ": ":Europe/Berlin"})))
        self.assertIs(UTC, find_local_zone({"TZ": "../../etc/passwd"}))
