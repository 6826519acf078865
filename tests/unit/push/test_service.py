"""Who is told what, within which bounds, and which browsers are forgotten."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.logger import LogEvent, capturedLogs

from tests.event_helpers import make_event
from tests.unit.push.push_browsers import PushBrowser, PushCase, base64url_text
from tservice.agents.approvals.model import ItemKind
from tservice.agents.approvals.responses import ApprovalItemResponse
from tservice.core.events import Event, EventName
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

    def test_the_owner_and_nobody_else(self) -> None:
        self.tell(owner="ann")
        self.assertEqual([ANN.endpoint], self.urls())
        request = self.sent[0][0]
        self.assertEqual("POST", request.method)
        self.assertEqual(
            {"kind": "stop", "sessionId": "s1", "sessionName": "build"}, ANN.read(request.body)
        )

    def test_a_session_of_nobody(self) -> None:
        self.tell(owner=None)
        self.assertEqual([], self.sent)

    def test_an_approval(self) -> None:
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

    def test_a_session_that_is_gone_by_then(self) -> None:
        self.tell("approval:pending", kind="idle", sessionName="was", session_id="s9")
        self.assertEqual("was", ANN.read(self.sent[0][0].body)["sessionName"])

    def test_every_browser_of_the_owner(self) -> None:
        self.subscriptions.save_subscription(
            PushBrowser("https://push.example.org/phone").subscription("ann")
        )
        self.tell()
        self.assertEqual(2, len(self.sent))

    def test_what_nobody_asked_for(self) -> None:
        self.tell("session:idle")
        self.settings.prefer(enabled=True, events=("exit",))
        self.tell("session:stop")
        self.settings.prefer(enabled=False, events=("stop",))
        self.tell("session:stop")
        self.assertEqual([], self.sent)

    def test_after_the_stop_nothing_is_heard(self) -> None:
        self.tell()
        stopped = self.push.stopService()
        self.successResultOf(stopped)
        self.tell()
        self.assertEqual(1, len(self.sent))

    def test_the_stop_gives_up_what_is_on_its_way(self) -> None:
        given_up: list[object] = []
        waiting: Deferred[object] = Deferred(given_up.append)
        self.push._send = lambda request: waiting  # type: ignore[assignment,return-value]
        self.tell()
        self.successResultOf(self.push.stopService())
        self.assertEqual([waiting], given_up)


class AccountTests(PushCase):
    def setUp(self) -> None:
        super().setUp()
        self.subscriptions.save_subscription(ANN.subscription("ann"))
        self.subscriptions.save_subscription(BOB.subscription("bob"))

    def test_an_account_that_is_gone_or_locked(self) -> None:
        self.people.remove("ann")
        self.hub.publish(make_event("admin:usersChanged"))
        self.assertEqual(["bob"], self.subscriptions.list_owners())
        self.people.add("ann")
        self.tell(owner="ann")
        self.assertEqual([], self.sent)

    def test_one_whose_browsers_a_full_disk_has_still(self) -> None:
        self.people.remove("ann")
        self.tell(owner="ann")
        self.assertEqual([], self.sent)

    def test_accounts_that_changed_while_it_was_down(self) -> None:
        self.people.remove("bob")
        self.successResultOf(self.push.stopService())
        self.push.startService()
        self.assertEqual(["ann"], self.subscriptions.list_owners())


class LockoutTests(PushCase):
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

    def test_admins_and_whose_name_it_is(self) -> None:
        self.assertEqual(["admin"], self.audience(None))
        self.assertEqual(["admin", "ann"], self.audience("ann"))
        self.settings.prefer(enabled=False, events=())
        self.assertEqual([], self.audience("ann"))

    def test_a_flood_waits_as_one_message(self) -> None:
        for _ in range(QUEUE):
            self.push.send_lockout("ann")
        self.assertEqual(2, len(self.push._waiting))


class SingleUserTests(PushCase):
    multiuser = False

    def test_all_browsers_are_one_users(self) -> None:
        self.subscriptions.save_subscription(ANN.subscription("admin"))
        self.tell(owner=None)
        self.assertEqual([ANN.endpoint], self.urls())


class OutcomeTests(PushCase):
    def setUp(self) -> None:
        super().setUp()
        self.subscriptions.save_subscription(ANN.subscription("ann"))

    def kept(self) -> list[str]:
        return [one.endpoint for one in self.subscriptions.list_subscriptions()]

    def test_a_browser_that_is_gone_is_forgotten(self) -> None:
        for status in (404, 410):
            self.subscriptions.save_subscription(ANN.subscription("ann"))
            self.tell()
            self.answer(-1, status)
            self.assertEqual([], self.kept(), status)

    def test_any_other_answer_keeps_it(self) -> None:
        for status in (200, 201, 202, 204, 301, 400, 401, 403, 413, 429, 500, 503):
            self.tell()
            self.answer(-1, status)
            self.assertEqual([ANN.endpoint], self.kept(), status)

    def errs(self, error: Exception) -> None:
        self.tell()
        self.sent[-1][1].errback(error)

    def test_an_address_out_of_bounds_forgets_it(self) -> None:
        self.errs(OutboundError(OutboundFault.REFUSED))
        self.assertEqual([], self.kept())

    def test_a_network_that_fails_keeps_it(self) -> None:
        for fault in (
            OutboundFault.TIMED_OUT,
            OutboundFault.NOT_FOUND,
            OutboundFault.CONNECTION_REFUSED,
            OutboundFault.NETWORK,
        ):
            self.errs(OutboundError(fault))
            self.assertEqual([ANN.endpoint], self.kept(), fault)

    def test_a_flood_of_failures_is_told_once_a_minute(self) -> None:
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

    def test_a_key_that_is_no_point_is_forgotten(self) -> None:
        broken = base64url_text(b"\x04" + bytes(64))
        self.subscriptions.save_subscription(evolve(ANN.subscription("ann"), p256dh=broken))
        self.tell()
        self.assertEqual(([], []), (self.kept(), self.sent))

    def test_a_mistake_of_ours_is_logged_and_the_next_message_goes(self) -> None:
        for _ in range(IN_FLIGHT):
            self.errs(ZeroDivisionError())
        self.assertEqual(IN_FLIGHT, len(self.flushLoggedErrors(ZeroDivisionError)))
        self.tell()
        self.assertEqual(IN_FLIGHT + 1, len(self.sent))


class BoundTests(PushCase):
    def setUp(self) -> None:
        super().setUp()
        self.subscriptions.save_subscription(ANN.subscription("ann"))

    def name_at(self, at: int) -> object:
        return ANN.read(self.sent[at][0].body)["sessionName"]

    def test_a_few_at_a_time_in_their_order(self) -> None:
        for number in range(IN_FLIGHT + 2):
            self.names["s1"] = str(number)
            self.tell()
        self.assertEqual(IN_FLIGHT, len(self.sent))
        self.answer(0, 201)
        self.answer(1, 201)
        found = [self.name_at(at) for at in range(len(self.sent))]
        self.assertEqual([str(number) for number in range(IN_FLIGHT + 2)], found)

    def test_at_the_bound_the_oldest_that_waits_goes(self) -> None:
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

    def test_who_has_fewest_under_way_is_next(self) -> None:
        for _ in range(IN_FLIGHT + 20):
            self.tell(owner="ann")
        self.tell(owner="bob")
        self.assertEqual([ANN.endpoint] * IN_FLIGHT, self.urls())
        self.answer(0, 201)
        self.assertEqual(BOB.endpoint, self.urls()[-1])

    def test_a_flood_pushes_out_its_own(self) -> None:
        for _ in range(IN_FLIGHT):
            self.tell(owner="ann")
        self.tell(owner="bob")
        for _ in range(QUEUE + 50):
            self.tell(owner="ann")
        self.answer(0, 201)
        self.assertEqual(BOB.endpoint, self.urls()[-1])

    def test_who_is_gone_gets_nothing_that_waited(self) -> None:
        for owner in ("ann", "bob"):
            for _ in range(IN_FLIGHT):
                self.tell(owner=owner)
        self.people.remove("bob")
        self.hub.publish(make_event("admin:usersChanged"))
        for at in range(IN_FLIGHT):
            self.answer(at, 201)
        self.assertEqual([ANN.endpoint] * IN_FLIGHT, self.urls())


class StoreTests(PushCase):
    def test_subscribing_again_changes_and_does_not_add(self) -> None:
        self.subscriptions.save_subscription(ANN.subscription("ann", at=1))
        self.subscriptions.save_subscription(ANN.subscription("ann", at=2))
        self.assertEqual(
            [2], [one.created_at for one in self.subscriptions.list_subscriptions("ann")]
        )

    def test_another_user_of_the_browser_takes_it_over(self) -> None:
        self.subscriptions.save_subscription(ANN.subscription("ann"))
        self.subscriptions.save_subscription(ANN.subscription("bob"))
        self.assertEqual([], self.subscriptions.list_subscriptions("ann"))
        self.assertEqual([ANN.subscription("bob")], self.subscriptions.list_subscriptions("bob"))

    def test_the_oldest_beyond_the_bound_goes(self) -> None:
        self.subscriptions.save_subscription(BOB.subscription("bob"))
        for number in range(MAX_PER_OWNER + 1):
            one = PushBrowser(f"https://push.example.org/{number}")
            self.subscriptions.save_subscription(one.subscription("ann", at=number))
        kept = [one.created_at for one in self.subscriptions.list_subscriptions("ann")]
        self.assertEqual(list(range(1, MAX_PER_OWNER + 1)), kept)
        self.assertEqual(1, len(self.subscriptions.list_subscriptions("bob")))

    def test_forgetting_needs_the_owner(self) -> None:
        self.subscriptions.save_subscription(ANN.subscription("ann"))
        self.assertFalse(self.push.delete_subscription(ANN.endpoint, "bob"))
        self.assertTrue(self.push.delete_subscription(ANN.endpoint, "ann"))
        self.assertFalse(self.push.delete_subscription(ANN.endpoint, "ann"))
