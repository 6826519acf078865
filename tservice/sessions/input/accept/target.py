"""Connection between an input queue and its session."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_failure_error,
)
from tservice.mux.interface import IPane
from tservice.mux.keys import KEYS
from tservice.sessions.input.accept.classify import ClassifiedInput
from tservice.sessions.input.entry import InputKind, JournalEntry
from tservice.sessions.input.type.composer import ComposerModel
from tservice.sessions.record.model import Session


@frozen(kw_only=True)
class InputTarget:
    """Callbacks through which an input queue uses its session. Each returns the current value.

    @ivar session: returns the session's record.
    @ivar pane: returns the session's pane; C{None} without one.
    @ivar composer: returns the composer rules of the session's mode; C{None} for shells.
    @ivar typed: called after an input was typed.
    @ivar submitting: called just before an Enter, with the prompt that it submits. C{None} means a
        single key press.
    @ivar may_still_type: returns true if an identity that was once allowed to type here still may.
    @ivar check_drivable: checks that the sender could start the session's program. C{None} is the
        service itself, on behalf of the owner. Raises L{ServiceError}.
    @ivar allowed: checks that the text does not make an agent act without confirmation, unless the
        sender has the grant. Raises L{ServiceError}.
    @ivar lost: called with the number of buffered inputs that were not typed, and the reason.
    """

    session: Callable[[], Session]
    pane: Callable[[], IPane | None]
    composer: Callable[[], ComposerModel | None]
    typed: Callable[[], None]
    submitting: Callable[[str | None], None]
    may_still_type: Callable[[Identity], bool]
    check_drivable: Callable[[Identity | None], None]
    allowed: Callable[[Identity | None, InputKind, str], None]
    lost: Callable[[int, str], None]

    def require_live_pane(self) -> IPane:
        """Return the pane, whose process is running.

        @raise ServiceError: 409: the session has no process; 422: it is unknown if a process runs.
        """
        pane = self.pane()
        if pane is None and self.session().pid is not None:
            raise make_failure_error("the terminal does not answer; nothing was typed")
        if pane is None or pane.ending is not None:
            raise no_process_error()
        return pane

    def check_sender(self, sender: Identity | None) -> None:
        """Check again that the sender may type, because the input may have waited.

        @raise ServiceError: 403: the permission to type was revoked; 403, 422: as
            C{check_drivable}.
        """
        if sender is not None and not self.may_still_type(sender):
            raise ServiceError(
                ErrorCode.FORBIDDEN, "Your permission to type here was revoked; nothing was typed"
            )
        self.check_drivable(sender)

    def check_text(self, entry: ClassifiedInput) -> None:
        """Check that the sender may type this text.

        @raise ServiceError: 403: the sender lacks the permission that this text needs.
        """
        self.allowed(entry.request.sender, entry.kind, entry.data.decode("utf-8"))

    def check_input_permission(self, entry: ClassifiedInput) -> None:
        """Check again that the sender may type, and may type this text.

        @raise ServiceError: as L{check_sender} and L{check_text}.
        """
        self.check_sender(entry.request.sender)
        self.check_text(entry)

    def check_key_permission(self, key: str, sender: Identity | None) -> None:
        """Check again that the sender may type, and may press this key.

        @raise ServiceError: as L{check_sender} and L{check_text}.
        """
        self.check_sender(sender)
        self.allowed(sender, InputKind.RAW, KEYS[key].plain.decode())

    def check_entry_permission(self, entry: JournalEntry) -> None:
        """Check that the service may finish an entry of an earlier run, on behalf of the owner.

        @raise ServiceError: as L{check_sender} and L{check_text}.
        """
        self.check_sender(None)
        self.allowed(None, entry.kind, entry.data.decode("utf-8"))


def no_process_error() -> ServiceError:
    """Return the 409 error for input to a session without a process (protocol-prompts)."""
    return make_conflict_error("the session has no process; nothing was typed")
