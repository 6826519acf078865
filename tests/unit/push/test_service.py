"""Who is told what, within which bounds, and which browsers are forgotten."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.logger import LogEvent, capturedLogs

from tests.unit.push.push_browsers import PushBrowser, PushCase, base64url_text
from tservice.agents.approvals.model import ItemKind
from tservice.agents.approvals.responses import ApprovalItemResponse
from tservice.core.kernel.events import Event, EventName
from tservice.core.net.outbound import OutboundError, OutboundFault, OutboundResponse
from tservice.push.model import MAX_PER_OWNER
from tservice.push.service import IN_FLIGHT, QUEUE, TELL_SECONDS

ANN = PushBrowser("https://push.example.org/ann")
BOB = PushBrowser("https://push.example.org/bob")


class AudienceTests(PushCase):
    def setUp(self) -> None:
        super().setUp()
        self.subscriptions.save_subscription(ANN.subscription("ann"))
        self.subscriptions.save_subscription(BOB.subscription("bob"))

    def test_only_the_owner_receives_the_message(self) -> None:
        self.tell(owner="ann")
        self.assertEqual([ANN.endpoint], self.urls())
        request = self.sent[0][0]
        self.assertEqual("POST", request.method)
        self.assertEqual(
            {"kind": "stop", "sessionId": "s1", "sessionName": "build"}, ANN.read(request.body)
        )

    def test_session_without_an_owner_sends_no_message(self) -> None:
        self.tell(owner=None)
        self.assertEqual([], self.sent)

    def test_approval_sends_a_message(self) -> None:
        item = ApprovalItemResponse(
            id="s1:1",
            session_id="s1",
            session_name="old",
            kind=ItemKind.PERMISSION,
            created_at=1,
            tool_summary="rm -r /",
            frame="f",
        )
        self.hub.publish(
            Event(name=EventName.APPROVAL_PENDING, payload=item, session_id="s1", owner="ann")
        )
        self.assertEqual(
            {"kind": "permission_prompt", "sessionId": "s1", "sessionName": "build"},
            ANN.read(self.sent[0][0].body),
        )

    def test_session_deleted_before_the_message_keeps_its_name(self) -> None:
        self.tell("approval:pending", kind="idle", sessionName="was", session_id="s9")
        self.assertEqual("was", ANN.read(self.sent[0][0].body)["sessionName"])

    def test_every_browser_of_the_owner_receives_the_message(self) -> None:
        self.subscriptions.save_subscription(
            PushBrowser("https://push.example.org/phone").subscription("ann")
        )
        self.tell()
        self.assertEqual(2, len(self.sent))

    def test_unwanted_events_send_no_message(self) -> None:
        self.tell("session:idle")
        self.settings.prefer(enabled=True, events=("exit",))
        self.tell("session:stop")
        self.settings.prefer(enabled=False, events=("stop",))
        self.tell("session:stop")
        self.assertEqual([], self.sent)

    def test_stopped_service_sends_no_message(self) -> None:
        self.tell()
        stopped = self.push.stopService()
        self.successResultOf(stopped)
        self.tell()
        self.assertEqual(1, len(self.sent))

    def test_stop_cancels_running_requests(self) -> None:
        given_up: list[object] = []
        waiting: Deferred[object] = Deferred(given_up.append)
        self.push._send = lambda request: waiting  # type: ignore[assignment,return-value]
        self.tell()
        self.successResultOf(self.push.stopService())
        self.assertEqual([waiting], given_up)


class PushAccountTests(PushCase):
    def setUp(self) -> None:
        super().setUp()
        self.subscriptions.save_subscription(ANN.subscription("ann"))
        self.subscriptions.save_subscription(BOB.subscription("bob"))

    def test_removed_or_disabled_account_loses_its_subscriptions(self) -> None:
        self.people.remove("ann")
        self.push.delete_inactive_owners()
        self.assertEqual(["bob"], self.subscriptions.list_owners())
        self.people.add("ann")
        self.tell(owner="ann")
        self.assertEqual([], self.sent)

    def test_removed_account_still_on_a_full_disk_gets_no_message(self) -> None:
        self.people.remove("ann")
        self.tell(owner="ann")
        self.assertEqual([], self.sent)


class PushLockoutTests(PushCase):
    """Sign-ins that are held up."""

    def setUp(self) -> None:
        super().setUp()
        for name in ("admin", "ann", "bob"):
            browser = PushBrowser(f"https://push.example.org/{name}")
            self.subscriptions.save_subscription(browser.subscription(name))

    def audience(self, username: str | None) -> list[str]:
        self.push.send_lockout(username)
        found = [url.rpartition("/")[2] for url in self.urls()]
        for _, answer in self.sent:
            answer.callback(OutboundResponse(status=201, headers={}))
        self.sent.clear()
        return sorted(found)

    def test_lockout_is_sent_to_admins_and_the_named_account(self) -> None:
        self.assertEqual(["admin"], self.audience(None))
        self.assertEqual(["admin", "ann"], self.audience("ann"))
        self.settings.prefer(enabled=False, events=())
        self.assertEqual([], self.audience("ann"))

    def test_flood_of_lockouts_waits_as_one_message(self) -> None:
        for _ in range(QUEUE):
            self.push.send_lockout("ann")
        self.assertEqual(2, len(self.push._waiting))


class SingleUserPushTests(PushCase):
    multiuser = False

    def test_single_user_has_all_browsers(self) -> None:
        self.subscriptions.save_subscription(ANN.subscription("admin"))
        self.tell(owner=None)
        self.assertEqual([ANN.endpoint], self.urls())


class OutcomeTests(PushCase):
    def setUp(self) -> None:
        super().setUp()
        self.subscriptions.save_subscription(ANN.subscription("ann"))

    def kept(self) -> list[str]:
        return [one.endpoint for one in self.subscriptions.list_subscriptions()]

    def test_expired_subscription_is_removed(self) -> None:
        for status in (404, 410):
            self.subscriptions.save_subscription(ANN.subscription("ann"))
            self.tell()
            self.answer(-1, status)
            self.assertEqual([], self.kept(), status)

    def test_other_answers_keep_the_subscription(self) -> None:
        for status in (200, 201, 202, 204, 301, 400, 401, 403, 413, 429, 500, 503):
            self.tell()
            self.answer(-1, status)
            self.assertEqual([ANN.endpoint], self.kept(), status)

    def errs(self, error: Exception) -> None:
        self.tell()
        self.sent[-1][1].errback(error)

    def test_address_out_of_bounds_removes_the_subscription(self) -> None:
        self.errs(OutboundError(OutboundFault.REFUSED))
        self.assertEqual([], self.kept())

    def test_network_failure_keeps_the_subscription(self) -> None:
        for fault in (
            OutboundFault.TIMED_OUT,
            OutboundFault.NOT_FOUND,
            OutboundFault.CONNECTION_REFUSED,
            OutboundFault.NETWORK,
        ):
            self.errs(OutboundError(fault))
            self.assertEqual([ANN.endpoint], self.kept(), fault)

    def test_flood_of_failures_is_logged_once_a_minute(self) -> None:
        with capturedLogs() as lines:
            for _ in range(20):
                self.errs(OutboundError(OutboundFault.NETWORK))
            for _ in range(IN_FLIGHT + QUEUE + 20):
                self.tell()
            self.assertEqual(2, self.told_of(lines))
            self.clock.advance(TELL_SECONDS)
            self.tell()
            self.assertEqual(3, self.told_of(lines))

    def told_of(self, lines: Sequence[LogEvent]) -> int:
        return len([line for line in lines if "push" in str(line.get("log_format"))])

    def test_invalid_browser_key_removes_the_subscription(self) -> None:
        broken = base64url_text(b"\x04" + bytes(64))
        self.subscriptions.save_subscription(evolve(ANN.subscription("ann"), p256dh=broken))
        self.tell()
        self.assertEqual(([], []), (self.kept(), self.sent))

    def test_internal_error_is_logged_and_the_next_message_is_sent(self) -> None:
        for _ in range(IN_FLIGHT):
            self.errs(ZeroDivisionError())
        self.assertEqual(IN_FLIGHT, len(self.flushLoggedErrors(ZeroDivisionError)))
        self.tell()
        self.assertEqual(IN_FLIGHT + 1, len(self.sent))


class PushBoundTests(PushCase):
    def setUp(self) -> None:
        super().setUp()
        self.subscriptions.save_subscription(ANN.subscription("ann"))

    def name_at(self, at: int) -> object:
        return ANN.read(self.sent[at][0].body)["sessionName"]

    def test_few_messages_are_sent_at_a_time_in_order(self) -> None:
        for number in range(IN_FLIGHT + 2):
            self.names["s1"] = str(number)
            self.tell()
        self.assertEqual(IN_FLIGHT, len(self.sent))
        self.answer(0, 201)
        self.answer(1, 201)
        found = [self.name_at(at) for at in range(len(self.sent))]
        self.assertEqual([str(number) for number in range(IN_FLIGHT + 2)], found)

    def test_oldest_waiting_message_is_dropped_at_the_bound(self) -> None:
        for number in range(IN_FLIGHT + QUEUE + 3):
            self.names["s1"] = str(number)
            self.tell()
        self.answer(0, 201)
        self.assertEqual(str(IN_FLIGHT + 3), self.name_at(IN_FLIGHT))
        for at in range(1, IN_FLIGHT + QUEUE):
            self.answer(at, 201)
        self.assertEqual(IN_FLIGHT + QUEUE, len(self.sent))
        self.assertEqual(str(IN_FLIGHT + QUEUE + 2), self.name_at(-1))


class FairTests(PushCase):
    """Of a user whose push services are slow and whose sessions are loud, and another."""

    def setUp(self) -> None:
        super().setUp()
        self.subscriptions.save_subscription(ANN.subscription("ann"))
        self.subscriptions.save_subscription(BOB.subscription("bob"))

    def test_owner_with_fewest_running_requests_is_next(self) -> None:
        for _ in range(IN_FLIGHT + 20):
            self.tell(owner="ann")
        self.tell(owner="bob")
        self.assertEqual([ANN.endpoint] * IN_FLIGHT, self.urls())
        self.answer(0, 201)
        self.assertEqual(BOB.endpoint, self.urls()[-1])

    def test_flood_of_one_owner_drops_its_own_messages(self) -> None:
        for _ in range(IN_FLIGHT):
            self.tell(owner="ann")
        self.tell(owner="bob")
        for _ in range(QUEUE + 50):
            self.tell(owner="ann")
        self.answer(0, 201)
        self.assertEqual(BOB.endpoint, self.urls()[-1])

    def test_waiting_messages_of_a_removed_account_are_dropped(self) -> None:
        for owner in ("ann", "bob"):
            for _ in range(IN_FLIGHT):
                self.tell(owner=owner)
        self.people.remove("bob")
        self.push.delete_inactive_owners()
        for at in range(IN_FLIGHT):
            self.answer(at, 201)
        self.assertEqual([ANN.endpoint] * IN_FLIGHT, self.urls())


class PushStoreTests(PushCase):
    def test_subscribing_again_updates_the_subscription(self) -> None:
        self.subscriptions.save_subscription(ANN.subscription("ann", at=1))
        self.subscriptions.save_subscription(ANN.subscription("ann", at=2))
        self.assertEqual(
            [2], [one.created_at for one in self.subscriptions.list_subscriptions("ann")]
        )

    def test_another_account_in_the_browser_takes_the_subscription(self) -> None:
        self.subscriptions.save_subscription(ANN.subscription("ann"))
        self.subscriptions.save_subscription(ANN.subscription("bob"))
        self.assertEqual([], self.subscriptions.list_subscriptions("ann"))
        self.assertEqual([ANN.subscription("bob")], self.subscriptions.list_subscriptions("bob"))

    def test_oldest_subscription_over_the_bound_is_removed(self) -> None:
        self.subscriptions.save_subscription(BOB.subscription("bob"))
        for number in range(MAX_PER_OWNER + 1):
            one = PushBrowser(f"https://push.example.org/{number}")
            self.subscriptions.save_subscription(one.subscription("ann", at=number))
        kept = [one.created_at for one in self.subscriptions.list_subscriptions("ann")]
        self.assertEqual(list(range(1, MAX_PER_OWNER + 1)), kept)
        self.assertEqual(1, len(self.subscriptions.list_subscriptions("bob")))

    def test_only_the_owner_removes_a_subscription(self) -> None:
        self.subscriptions.save_subscription(ANN.subscription("ann"))
        self.assertFalse(self.push.delete_subscription(ANN.endpoint, "bob"))
        self.assertTrue(self.push.delete_subscription(ANN.endpoint, "ann"))
        self.assertFalse(self.push.delete_subscription(ANN.endpoint, "ann"))
