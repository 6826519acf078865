"""State machine of one accepted input. The docstring of the package shows its transitions.

The machine alone decides which effect an outcome has on the journal and on the list of unconfirmed
prompts. So an entry leaves the journal exactly once, whatever happens while it is typed.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from operator import methodcaller
from typing import Protocol

from attrs import define
from automat import TypeMachineBuilder


class EntryState(StrEnum):
    """State of an accepted input."""

    ACCEPTED = "accepted"
    """Its sequence number is reserved. After a restart, nobody knows yet how much was typed."""
    TYPING = "typing"
    SUBMITTED = "submitted"
    """Enter was or will be pressed. Raw bytes have no Enter and skip this state."""
    CONFIRMED = "confirmed"
    """Typed completely, and submitted if it is a prompt or a line."""
    UNCONFIRMED = "unconfirmed"
    """Prompt whose text was typed, and whose submission could not be confirmed."""
    REVOKED = "revoked"
    """Not typed. The client may use the sequence number again."""
    FAILED = "failed"
    """Typed in part, or not known. The sequence number stays used."""


class EntryInputs(Protocol):
    """Inputs of the state machine of one accepted input."""

    def begin_typing(self) -> None:
        """Record that the entry is typed next, or the missing part of it."""

    def press_enter(self) -> None:
        """Record that the Enter of the entry is pressed next."""

    def find_enter(self) -> None:
        """Record that an earlier run of the service pressed the Enter of the entry."""

    def confirm(self) -> None:
        """Record that the entry is complete."""

    def doubt(self) -> None:
        """Record that the text was typed, and that its submission could not be confirmed."""

    def revoke(self) -> None:
        """Record that nothing was typed, or that the typed text is lost with its process."""

    def fail(self) -> None:
        """Record that the entry will not be completed."""


class EntryEffects(Protocol):
    """Effects of the transitions of one accepted input."""

    def announce_enter(self) -> None:
        """Tell the session that an Enter is pressed next."""

    def finish_entry(self) -> None:
        """Delete the entry from the journal. Its sequence number stays used."""

    def revoke_entry(self) -> None:
        """Delete the entry and its sequence number from the journal."""

    def keep_unconfirmed(self) -> None:
        """Move the entry from the journal to the unconfirmed prompts."""

    def drop_unconfirmed(self) -> None:
        """Delete the entry from the unconfirmed prompts."""


@define(eq=False)
class _EntryData:
    effects: EntryEffects


_Output = Callable[[EntryInputs, _EntryData], None]
_S, _I, _E = EntryState, EntryInputs, EntryEffects

_MOVES: list[
    tuple[
        tuple[EntryState, ...],
        Callable[[EntryInputs], None],
        EntryState,
        Callable[[EntryEffects], None] | None,
    ]
] = [
    ((_S.ACCEPTED,), _I.begin_typing, _S.TYPING, None),
    ((_S.TYPING,), _I.press_enter, _S.SUBMITTED, _E.announce_enter),
    ((_S.TYPING,), _I.find_enter, _S.SUBMITTED, None),
    ((_S.ACCEPTED, _S.TYPING, _S.SUBMITTED), _I.confirm, _S.CONFIRMED, _E.finish_entry),
    ((_S.ACCEPTED, _S.TYPING, _S.SUBMITTED), _I.fail, _S.FAILED, _E.finish_entry),
    ((_S.TYPING, _S.SUBMITTED), _I.doubt, _S.UNCONFIRMED, _E.keep_unconfirmed),
    ((_S.TYPING, _S.SUBMITTED), _I.revoke, _S.REVOKED, _E.revoke_entry),
    ((_S.UNCONFIRMED,), _I.press_enter, _S.UNCONFIRMED, _E.announce_enter),
    ((_S.UNCONFIRMED,), _I.doubt, _S.UNCONFIRMED, None),
    ((_S.UNCONFIRMED,), _I.confirm, _S.CONFIRMED, _E.drop_unconfirmed),
]
"""Transitions: old states, input, new state, effect. Every other input raises
C{automat.NoTransition}.
"""

_builder = TypeMachineBuilder(EntryInputs, _EntryData)
_state = {state: _builder.state(state.value) for state in EntryState}


def _make_output(effect: Callable[[EntryEffects], None]) -> _Output:
    perform = methodcaller(effect.__name__)

    def perform_effect(entry: EntryInputs, data: _EntryData) -> None:
        perform(data.effects)

    return perform_effect


def _register_transitions() -> None:
    for states, move, target, effect in _MOVES:
        for state in states:
            transition = _state[state].upon(move).to(_state[target])
            if effect is None:
                transition.returns(None)
            else:
                transition(_make_output(effect))


_register_transitions()
_machine = _builder.build()


def start_machine(effects: EntryEffects, state: EntryState) -> EntryInputs:
    """Return the inputs of a machine that begins in C{state}.

    @param effects: performs the effects of the transitions.
    """
    return _machine(_EntryData(effects), _state[state])
