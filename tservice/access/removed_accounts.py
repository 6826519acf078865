"""Cleanup after removed accounts: their data must not pass to a new account of the same name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tservice.core.events import Event, EventHub, EventName
from tservice.core.identity import AccountExists


class RemovedAccountCleanup:
    """Service that makes features delete data of unknown owners, at the start and after each change
    of accounts.

    @param forgets: functions of the features that delete the data of unknown owners.
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
        """Delete data that remains from before the start, after a full disk or a kill."""
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
