"""Interface between an input queue and its session."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from tservice.core.errors import ErrorCode, ServiceError, operation_failed, state_conflict
from tservice.core.identity import Identity
from tservice.mux.interface import IPane
from tservice.mux.keys import KEYS
from tservice.sessions.input.classify import classify_input
from tservice.sessions.input.composer import ComposerModel
from tservice.sessions.input.journal import InputKind, JournalEntry
from tservice.sessions.record.model import Session
from tservice.sessions.record.requests import InputRequest


@frozen(kw_only=True)
class InputTarget:
    """A session as its input queue sees it. Every value is read at the time of use.

    @ivar composer: returns the composer of its mode; C{None} for shells.
    @ivar submitting: called just before an Enter with the prompt that it submits; C{None}: a key.
    @ivar typed: called after an input was typed.
    @ivar entitled: returns whether an identity that was once allowed to type here still may.
    @ivar drivable: checks that the sender (C{None}: the service itself, on behalf of the owner)
        could start its program; raises L{ServiceError}.
    @ivar allowed: checks that the sender may have the agent do without asking what the text does;
        raises L{ServiceError}.
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
        """Return the pane with its process.

        @raise ServiceError: 409: there is none; 422: it is not known.
        """
        pane = self.pane()
        if pane is None and self.session().pid is not None:
            raise operation_failed("the terminal does not answer; nothing was typed")
        if pane is None or pane.ending is not None:
            raise no_process_error()
        return pane

    def check_sender(self, sender: Identity | None) -> None:
        """Check again that the sender of an input that may have waited is permitted to type.

        @raise ServiceError: 403: the permission to type was revoked; 403, 422: as
            C{check_drivable}.
        """
        if sender is not None and not self.may_still_type(sender):
            raise ServiceError(
                ErrorCode.FORBIDDEN, "Your permission to type here was revoked; nothing was typed"
            )
        self.check_drivable(sender)

    def classify(self, request: InputRequest) -> tuple[InputKind, bytes]:
        """Return how to type C{request}, and what.

        @raise ServiceError: 403: it takes a right that the sender lacks.
        """
        kind, data = classify_input(request.text, request.use_mux, typed=request.typed)
        self.allowed(request.sender, kind, data.decode("utf-8"))
        return kind, data

    def judge_input(self, request: InputRequest) -> None:
        """Look at the sender of C{request} again, and at what it does.

        @raise ServiceError: as L{check_sender} and L{classify_input}.
        """
        self.check_sender(request.sender)
        self.classify(request)

    def judge_key(self, key: str, sender: Identity | None) -> None:
        """As L{judge_input}, for a named key."""
        self.check_sender(sender)
        self.allowed(sender, InputKind.RAW, KEYS[key].plain.decode())

    def judge_entry(self, entry: JournalEntry) -> None:
        """Look at what was begun before, in the owner's name.

        @raise ServiceError: as L{check_sender} and L{classify_input}.
        """
        self.check_sender(None)
        self.allowed(None, entry.kind, entry.data.decode("utf-8"))


def no_process_error() -> ServiceError:
    """Return the 409 of an input without a process (protocol-prompts)."""
    return state_conflict("the session has no process; nothing was typed")
