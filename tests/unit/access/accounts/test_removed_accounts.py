"""What is kept for accounts that are gone."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tservice.access.accounts.removed_accounts import RemovedAccountCleanup
from tservice.core.callers.identity import AccountExists
from tservice.core.kernel.events import Event, EventHub, EventName

CHANGED = Event(name=EventName.ADMIN_USERS_CHANGED)


class DepartureTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.accounts = {"ann"}
        self.kept = {"ann", "bob"}
        self.hub = EventHub()
        self.departures = RemovedAccountCleanup(self.hub, self.accounts.__contains__, [self.forget])

    def forget(self, known: AccountExists) -> None:
        self.kept = set(filter(known, self.kept))

    def test_departed_accounts_are_removed_at_the_start(self) -> None:
        self.departures.start()
        self.assertEqual({"ann"}, self.kept)

    def test_removed_account_is_cleaned_up_before_its_name_is_reused(self) -> None:
        self.departures.start()
        self.accounts.clear()
        self.hub.publish(CHANGED)
        self.assertEqual(set(), self.kept)

    def test_stopped_departures_clean_up_nothing(self) -> None:
        self.departures.start()
        self.departures.stop()
        self.accounts.clear()
        self.hub.publish(CHANGED)
        self.assertEqual({"ann"}, self.kept)
