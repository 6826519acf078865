"""Rules for the location of a session's process (protocol-os-users)."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from tservice.core.callers.identity import Identity
from tservice.core.disk.files import FileError
from tservice.core.kernel.errors import make_failure_error
from tservice.core.locations.location import Location
from tservice.core.locations.location_registry import LocationRegistry
from tservice.sessions.record.model import Session


@frozen(kw_only=True)
class SessionLocationRules:
    """Rules for the locations of sessions.

    A session stays at the location where it was created, because its workspace and the agent's
    conversation are there.  If its account gets another OS user, or none, running processes
    continue and new starts are refused.

    @ivar places: the registry of locations.
    @ivar of_account: returns the OS user of an owner's account.
    """

    places: LocationRegistry
    of_account: Callable[[str | None], str | None]

    def find_caller_location(self, caller: Identity) -> Location:
        """Return the location for sessions that C{caller} creates.

        @raise ServiceError: 422 naming C{osUser}: panes cannot run as that user now.
        """
        return self.places.get_caller_location(caller)

    def find_start_location(self, session: Session) -> Location:
        """Return the location where the process of C{session} is to be started.

        @raise ServiceError: 422: the location does not allow a start now.
        """
        return self.places.get_usable_location(session.location_id, self.of_account(session.owner))

    async def find_running_location(self, session: Session) -> Location:
        """Return the location where C{session} runs, even if no new process may be started there.

        @raise ServiceError: 422, 429: the location does not answer.
        """
        await self.places.refresh_if_reachable(session.location_id)
        return self.places.find_earlier_location(session.location_id)


def write_hook_secret(place: Location) -> None:
    """Write the secret for agent hooks to the file from which hooks at C{place} read it.

    @raise ServiceError: 422: the file cannot be written.
    """
    if place.hooks is None:
        return
    try:
        place.hooks.put()
    except (OSError, FileError) as error:
        raise make_failure_error(f"could not write the hooks' secret: {error}") from error
