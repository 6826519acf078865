"""Input for sessions whose host cannot be reached (protocol-wake)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from attrs import frozen
from twisted.logger import Logger

from tservice.core.kernel.errors import make_failure_error
from tservice.core.kernel.events import Event, EventName
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.locations.location import LocationOutage
from tservice.core.locations.location_registry import LocationRegistry
from tservice.sessions.interfaces import InputDelivery
from tservice.sessions.live_session import LiveSession
from tservice.sessions.record.model import SessionLocationKind
from tservice.sessions.record.requests import InputRequest, check_input


@frozen
class OfflineInput:
    """Types input into reachable sessions, and stores input for sessions on unreachable hosts.

    @ivar adopt_process: adopts the running process of a session that was started by an earlier run
        of this service. Returns false if its server does not answer.
    """

    places: LocationRegistry
    adopt_process: Callable[[LiveSession], Awaitable[bool]]

    _log = Logger()

    def find_outage(self, live: LiveSession) -> LocationOutage | None:
        """Return the outage of the host that blocks input to a session with a process; C{None}
        without an outage.
        """
        record = live.record
        if record.pid is None:
            return None
        found = self.places.find_outage(record.location_id)
        if found is None and record.location is SessionLocationKind.REMOTE and live.pane is None:
            # The host is reachable again, but its tmux was not queried yet.
            return LocationOutage(title=record.name)
        return found

    async def type_or_buffer_input(self, live: LiveSession, request: InputRequest) -> InputDelivery:
        """Type C{request} now, buffer it, or wake the host for it, as the request says.

        @raise ServiceError: as L{InputQueue.deliver_input}; 422: the host is out of reach, and the
            input was not typed and will not be.
        """
        outage = self.find_outage(live)
        if outage is None:
            return await live.inputs.deliver_input(request)
        if request.submitting is not None:
            check_input(request)
            await self.places.prepare_location(live.record.location_id)
            await self.adopt_process(live)
            return await live.inputs.deliver_input(request)
        self.places.request_connection(live.record.location_id)
        if not request.may_wait:
            raise make_failure_error(f"{outage.title} is out of reach; nothing was typed")
        return live.inputs.buffer_input(request)

    def refuse_key(self, live: LiveSession) -> None:
        """Refuse a key press while the host is out of reach, and request the host's wake-up.

        Keys are never buffered: the dialog that a key answers may be gone when the host returns.

        @raise ServiceError: 422: the host is out of reach.
        """
        outage = self.find_outage(live)
        if outage is not None:
            self.places.request_connection(live.record.location_id)
            raise make_failure_error(f"{outage.title} is out of reach; nothing was pressed")

    def make_reconnect_listener(
        self, find: Callable[[str], LiveSession | None]
    ) -> Callable[[Event], None]:
        """Return an event listener that resumes sessions whose host reconnected."""

        def handle_event(event: Event) -> None:
            if event.name is not EventName.REMOTE_SESSION_RECONNECTED:
                return
            live = None if event.session_id is None else find(event.session_id)
            if live is not None:
                self.resume_input_after_reconnect(live)

        return handle_event

    def resume_input_after_reconnect(self, live: LiveSession) -> None:
        """Resume input of a session whose host is reachable again."""
        if live.pane is not None:
            live.inputs.type_buffered()
        else:
            # The session types the buffered input first.
            spawn_logged(
                self._adopt_process(live), self._log, "adopting a session on a reconnected host"
            )

    async def _adopt_process(self, live: LiveSession) -> None:
        await self.adopt_process(live)
