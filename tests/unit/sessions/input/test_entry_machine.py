"""State machine of one accepted input, and its diagram in the docstring of the package."""

from __future__ import annotations

from itertools import product

from automat import NoTransition
from twisted.trial.unittest import SynchronousTestCase

from tservice.sessions import input as package
from tservice.sessions.input import entry_machine
from tservice.sessions.input.entry_machine import (
    EntryEffects,
    EntryInputs,
    EntryState,
    start_machine,
)

STATES = tuple(EntryState)
INPUTS = tuple(name for name in vars(EntryInputs) if not name.startswith("_"))
EFFECTS = tuple(name for name in vars(EntryEffects) if not name.startswith("_"))
LEAVES_JOURNAL = ("finish_entry", "revoke_entry", "keep_unconfirmed")

Row = tuple[str, str, str, str]


class RecordedEffects:
    """Effects that are recorded by name."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def announce_enter(self) -> None:
        self.calls.append("announce_enter")

    def finish_entry(self) -> None:
        self.calls.append("finish_entry")

    def revoke_entry(self) -> None:
        self.calls.append("revoke_entry")

    def keep_unconfirmed(self) -> None:
        self.calls.append("keep_unconfirmed")

    def drop_unconfirmed(self) -> None:
        self.calls.append("drop_unconfirmed")


def read_diagram() -> list[Row]:
    """Return the rows of the diagram: state, input, new state, effect or an empty text."""
    lines = (package.__doc__ or "").partition("::\n")[2].splitlines()
    rows = [line.split() for line in lines if line.startswith("    ")]
    return [(row[0], row[1], row[2], row[3] if len(row) > 3 else "") for row in rows]


def read_machine() -> list[Row]:
    """Return the transitions of the machine, with the effects that it really performs."""
    rows = []
    for old, name, new, _ in entry_machine._machine.__automat_automaton__.allTransitions():
        effects = RecordedEffects()
        getattr(start_machine(effects, EntryState(old.name)), name)()
        rows.append((old.name, name, new.name, " ".join(effects.calls)))
    return rows


class EntryDiagramTests(SynchronousTestCase):
    """The diagram equals the machine."""

    def test_diagram_shows_every_transition_and_no_other(self) -> None:
        self.assertEqual(sorted(read_machine()), sorted(read_diagram()))

    def test_diagram_shows_every_state_input_and_effect(self) -> None:
        old, inputs, new, effects = zip(*read_diagram(), strict=True)
        self.assertEqual({state.value for state in STATES}, {*old, *new})
        self.assertEqual(set(INPUTS), set(inputs))
        self.assertEqual({*EFFECTS, ""}, set(effects))

    def test_every_other_input_is_refused(self) -> None:
        known = {row[:2] for row in read_diagram()}
        for state, name in product(STATES, INPUTS):
            if (state.value, name) not in known:
                effects = RecordedEffects()
                with self.assertRaises(NoTransition):
                    getattr(start_machine(effects, state), name)()
                self.assertEqual([], effects.calls)


class EntryLifeTests(SynchronousTestCase):
    """Every way through the machine."""

    def test_entry_leaves_the_journal_exactly_once(self) -> None:
        steps = {row[:2]: row[2:] for row in read_diagram()}
        ways: list[tuple[str, tuple[str, ...]]] = [("accepted", ())]
        ends = set()
        while ways:
            state, effects = ways.pop()
            left = [each for each in effects if each in LEAVES_JOURNAL]
            kept = state in ("accepted", "typing", "submitted")
            self.assertEqual(0 if kept else 1, len(left), (state, effects))
            following = [found for (old, _), found in steps.items() if old == state]
            if not following:
                ends.add((state, *left))
            ways += [
                (new, (*effects, effect))
                for new, effect in following
                # A loop adds nothing that a second turn would.
                if new != state
            ]
        self.assertEqual(
            {
                ("confirmed", "finish_entry"),
                ("confirmed", "keep_unconfirmed"),
                ("revoked", "revoke_entry"),
                ("failed", "finish_entry"),
            },
            ends,
        )
