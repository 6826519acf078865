"""Input for sessions whose host cannot be reached (protocol-wake)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from attrs import frozen
from twisted.logger import Logger

from tservice.core.errors import operation_failed
from tservice.core.events import Event, EventName
from tservice.core.places.location import LocationOutage
from tservice.core.places.location_registry import LocationRegistry
from tservice.core.tasks import spawn_logged
from tservice.sessions.interfaces import Delivery
from tservice.sessions.live import Live
from tservice.sessions.record.model import Location
from tservice.sessions.record.requests import InputRequest, check_input


@frozen
class Away:
    """Routes input to a reachable session, or keeps it until the host is reachable again.

    @ivar take_up: adopts the running process of a session that was started by an earlier run of
        this service.
    """

    places: LocationRegistry
    take_up: Callable[[Live], Awaitable[bool]]

    _log = Logger()

    def outage(self, live: Live) -> LocationOutage | None:
        """Return the outage that blocks input to a session with a process; C{None} without an
        outage.
        """
        record = live.record
        if record.pid is None:
            return None
        found = self.places.find_outage(record.place)
        if found is None and record.location is Location.REMOTE and live.pane is None:
            # The host is reachable again, but its tmux was not queried yet.
            return LocationOutage(title=record.name)
        return found

    async def input(self, live: Live, request: InputRequest) -> Delivery:
        """Type C{request} now, buffer it, or wake the host for it, as the request says.

        @raise ServiceError: as L{InputQueue.deliver}; 422: the host is out of reach, and nothing
            was typed or will be.
        """
        outage = self.outage(live)
        if outage is None:
            return await live.inputs.deliver(request)
        if request.submitting is not None:
            check_input(request)
            await self.places.prepare_location(live.record.place)
            await self.take_up(live)
            return await live.inputs.deliver(request)
        self.places.request_connection(live.record.place)
        if not request.may_wait:
            raise operation_failed(f"{outage.title} is out of reach; nothing was typed")
        return live.inputs.keep(request)

    def refuse_key(self, live: Live) -> None:
        """Refuse a key press while the host is out of reach, and request the host's wake-up.

        Keys are never buffered: the dialog that a key answers may be gone when the host returns.

        @raise ServiceError: 422: the host is out of reach.
        """
        outage = self.outage(live)
        if outage is not None:
            self.places.request_connection(live.record.place)
            raise operation_failed(f"{outage.title} is out of reach; nothing was pressed")

    def heard(self, find: Callable[[str], Live | None]) -> Callable[[Event], None]:
        """Return an event listener that resumes sessions whose host reconnected."""

        def hear(event: Event) -> None:
            if event.name is not EventName.REMOTE_SESSION_RECONNECTED:
                return
            live = None if event.session_id is None else find(event.session_id)
            if live is not None:
                self.back(live)

        return hear

    def back(self, live: Live) -> None:
        """Resume input of a session whose host is reachable again."""
        if live.pane is not None:
            live.inputs.catch_up()
        else:
            # The session types the buffered input first.
            spawn_logged(self._take_up(live), self._log, "adopting a session on a reconnected host")

    async def _take_up(self, live: Live) -> None:
        await self.take_up(live)
