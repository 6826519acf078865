"""Cleanup after removed accounts, so that a new account of the same name does not get their
data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tservice.core.callers.identity import AccountExists
from tservice.core.kernel.events import Event, EventHub, EventName


class RemovedAccountCleanup:
    """Service that makes features delete the data of accounts that no longer exist.

    It runs at the start and after each change of accounts.

    @param forgets: functions of the features that delete such data.
    """

    def __init__(
        self,
        hub: EventHub,
        known: AccountExists,
        forgets: Sequence[Callable[[AccountExists], object]],
    ) -> None:
        self._hub, self._known, self._forgets = hub, known, forgets
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Delete data that an earlier run of the service could not delete, and subscribe to
        events.
        """
        self._delete_unknown()
        self._unsubscribe = self._hub.subscribe(self._handle_event)

    def stop(self) -> None:
        """Unsubscribe from events."""
        self._unsubscribe()

    def _handle_event(self, event: Event) -> None:
        if event.name is EventName.ADMIN_USERS_CHANGED:
            self._delete_unknown()

    def _delete_unknown(self) -> None:
        for forget in self._forgets:
            forget(self._known)
