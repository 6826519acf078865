"""Where a session's process runs (protocol-os-users)."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from tservice.core.errors import failed
from tservice.core.files import FileError
from tservice.core.identity import Identity
from tservice.core.places.place import Place
from tservice.core.places.places import Places
from tservice.sessions.record.model import Session


@frozen(kw_only=True)
class SessionPlaces:
    """The rules.

    A session is made in a place and stays there for good: what it left behind (the workspace, the
    agent's conversation) is there too.  When its account is given another OS user, or none, what
    runs goes on, and nothing is started anew.

    @ivar places: knows them.
    @ivar of_account: the OS user that an owner's account names now.
    """

    places: Places
    of_account: Callable[[str | None], str | None]

    def of_caller(self, caller: Identity) -> Place:
        """Where the sessions run that C{caller} makes.

        @raise ServiceError: 422 naming C{osUser}: panes cannot run as that user now.
        """
        return self.places.of(caller)

    def starting(self, session: Session) -> Place:
        """Where C{session} is to be started.

        @raise ServiceError: 422: nothing may be started there now.
        """
        return self.places.judge(session.place, self.of_account(session.owner))

    async def running(self, session: Session) -> Place:
        """Where C{session} runs, whatever became of that place since.

        @raise ServiceError: 422, 429: it does not answer.
        """
        await self.places.meet(session.place)
        return self.places.recall(session.place)


def put_secret(place: Place) -> None:
    """Have the hooks' secret where those of C{place} look for it.

    @raise ServiceError: 422: it cannot be put there.
    """
    if place.hooks is None:
        return
    try:
        place.hooks.put()
    except (OSError, FileError) as error:
        raise failed(f"the hooks' secret cannot be put in place: {error}") from error
