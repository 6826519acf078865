"""Sums of what a reading tells that messages used."""

from __future__ import annotations

from attrs import evolve

from tservice.agents.transcripts.model import ReadPosition
from tservice.agents.transcripts.usage.record import Totals


def totals(place: ReadPosition) -> Totals:
    """The sums of what was read last."""
    found = Totals()
    for each in place.used.values():
        model = found.known_model(each.used.model)
        found.add(evolve(each, used=evolve(each.used, model=model)))
    return found
