"""Sums of what a reading tells that messages used."""

from __future__ import annotations

from attrs import evolve

from tservice.agents.transcripts.model import ReadPosition
from tservice.agents.transcripts.usage.record import UsageTotals


def usage_totals_of(place: ReadPosition) -> UsageTotals:
    """The sums of what was read last."""
    found = UsageTotals()
    for each in place.used.values():
        model = found.get_sum_name(each.used.model)
        found.add_message(evolve(each, used=evolve(each.used, model=model)))
    return found
