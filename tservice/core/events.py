"""The event hub: what happened, told to whoever listens in this process.

Event names are stable (protocol-versioning); the SSE stream sends them as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from attrs import field, frozen
from twisted.logger import Logger


class Audience(Enum):
    """Who may see an event in multi-user mode (protocol-sse)."""

    EVERYONE = "everyone"
    OWNER = "owner"
    """The named owner, and admins; without an owner nobody but admins."""
    ADMINS = "admins"
    PERSON = "person"
    """The named owner alone, an admin, and with no token: what signs in as somebody is neither for
    other admins nor for programs."""


@frozen(kw_only=True)
class Event:
    """One thing that happened.

    @ivar name: a stable event name, for example C{session:created}.
    @ivar data: the JSON payload.
    @ivar session_id: the session that it is about, if any.
    @ivar owner: the user that an L{Audience.OWNER} event belongs to.
    @ivar bulky: true for the high-volume terminal stream, which clients may filter.
    @ivar scope: what a token needs to hear of it, beside the scope C{events}.
    """

    name: str
    data: Mapping[str, Any] = field(factory=dict)
    session_id: str | None = None
    owner: str | None = None
    audience: Audience = Audience.EVERYONE
    bulky: bool = False
    scope: str | None = None


Listener = Callable[[Event], None]


class EventHub:
    """Tells each event to every listener, in the order of subscription.

    A listener that raises is logged and does not keep the others from hearing.
    """

    _log = Logger()

    def __init__(self) -> None:
        self._listeners: dict[object, Listener] = {}

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Start telling C{listener}; the returned function ends it and may be called twice."""
        key = object()
        self._listeners[key] = listener

        def unsubscribe() -> None:
            self._listeners.pop(key, None)

        return unsubscribe

    def publish(self, event: Event) -> None:
        """Tell every listener of C{event} before returning."""
        for listener in tuple(self._listeners.values()):
            try:
                listener(event)
            except Exception:
                self._log.failure("a listener of {name} failed", name=event.name)
