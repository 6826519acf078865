"""What the way in asks of a session."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from tservice.core.errors import ErrorCode, ServiceError, conflict, failed
from tservice.core.identity import Identity
from tservice.mux.interface import IPane
from tservice.sessions.input.composing import Composer
from tservice.sessions.record.model import Session


@frozen(kw_only=True)
class InputTarget:
    """A session as its input queue sees it; everything is asked afresh each time.

    @ivar composer: how its mode draws its composer; C{None} for shells.
    @ivar submitting: told just before an Enter, with the prompt that it submits; C{None}: a key.
    @ivar typed: told after an input was typed.
    @ivar entitled: whether somebody who was let through to type here still may.
    @ivar drivable: makes sure that whoever types (C{None}: the service itself, in the owner's name)
        could have its process run; raises L{ServiceError}.
    @ivar lost: told of how much that was kept was not typed, and why not.
    """

    session: Callable[[], Session]
    pane: Callable[[], IPane | None]
    composer: Callable[[], Composer | None]
    typed: Callable[[], None]
    submitting: Callable[[str | None], None]
    entitled: Callable[[Identity], bool]
    drivable: Callable[[Identity | None], None]
    lost: Callable[[int, str], None]

    def living_pane(self) -> IPane:
        """The pane with its process.

        @raise ServiceError: 409: there is none; 422: nobody knows.
        """
        pane = self.pane()
        if pane is None and self.session().pid is not None:
            raise failed("the terminal does not answer; nothing was typed")
        if pane is None or pane.ending is not None:
            raise no_process()
        return pane

    def judge(self, sender: Identity | None) -> None:
        """Look at a sender again whose input may have waited.

        @raise ServiceError: 403: the right to type here ended meanwhile; 403, 422: as C{drivable}.
        """
        if sender is not None and not self.entitled(sender):
            raise ServiceError(
                ErrorCode.FORBIDDEN, "The right to type here ended meanwhile; nothing was typed"
            )
        self.drivable(sender)


def no_process() -> ServiceError:
    """The 409 of an input without a process (protocol-prompts)."""
    return conflict("the session has no process; nothing was typed")
