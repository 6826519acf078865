"""Accounts that are gone: what features keep for them must not reach the next one of that name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tservice.core.events import Event, EventHub, EventName
from tservice.core.identity import Known


class Departures:
    """Has features forget, from the start on and whenever an account was changed.

    @param forgets: what each forgets of owners who are not known.
    """

    def __init__(
        self, hub: EventHub, known: Known, forgets: Sequence[Callable[[Known], object]]
    ) -> None:
        self._hub, self._known, self._forgets = hub, known, forgets
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Forget those of before, whom a full disk or a kill may have left."""
        self._forget()
        self._unsubscribe = self._hub.subscribe(self._heard)

    def stop(self) -> None:
        """Hear nothing more."""
        self._unsubscribe()

    def _heard(self, event: Event) -> None:
        if event.name is EventName.ADMIN_USERS_CHANGED:
            self._forget()

    def _forget(self) -> None:
        for forget in self._forgets:
            forget(self._known)
