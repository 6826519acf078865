"""What tokens cost, and how many a model takes: by the packaged table and the setting before it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from importlib.resources import files

from attrs import frozen

from tservice.agents.transcripts.model import Tally
from tservice.agents.transcripts.usage.record import Totals, Usage
from tservice.core.yamltext import parse_yaml
from tservice.settings.interfaces import ModelPrice

MILLION = 1_000_000
# What Claude Code's banner adds to the name of a model that it runs with a longer context.
_CONTEXT = re.compile(r"\((?P<count>[1-9][0-9]{0,3})(?P<unit>[KM]) context\)")
_UNITS = {"K": 1000, "M": MILLION}


@frozen(kw_only=True)
class Prices:
    """The table.

    @ivar packaged: its rows that come with the program.
    @ivar chosen: those of the setting C{modelPrices}, which come first.
    """

    packaged: Sequence[ModelPrice]
    chosen: Callable[[], Sequence[ModelPrice]] = tuple

    def of(self, model: str) -> ModelPrice | None:
        """The row of a model, by its own name; C{None}: nobody knows."""
        name = model.lower()
        rows = (*self.chosen(), *self.packaged)
        return next((row for row in rows if name and fnmatchcase(name, row.model.lower())), None)

    def cost(self, totals: Totals) -> float:
        """Dollars: what the transcript says, else what those tokens cost whose price is known."""
        if totals.cost > 0:
            return totals.cost
        return sum(self._cost(used) for used in totals.usage)

    def context_percentage(self, tally: Tally, shown: str) -> float | None:
        """How full the model's window is; C{None} where its size is not known.

        @param shown: the model as the screen names it, perhaps with its window.
        """
        window = tally.window or shown_window(shown) or self._window(tally.model or "")
        if not window or tally.context > window:
            return None
        return round(100 * tally.context / window, 1)

    def _cost(self, used: Usage) -> float:
        row = self.of(used.model)
        if row is None:
            return 0.0
        read = row.input if row.cache_read is None else row.cache_read
        write = row.input if row.cache_write is None else row.cache_write
        dollars = used.input * row.input + used.output * row.output
        return (dollars + used.cache_read * read + used.cache_write * write) / MILLION

    def _window(self, model: str) -> int | None:
        row = self.of(model)
        return None if row is None else row.window


def shown_window(shown: str) -> int | None:
    """The window that a model's name on the screen tells: C{Opus 4.8 (1M context)}."""
    found = _CONTEXT.search(shown)
    return None if found is None else int(found["count"]) * _UNITS[found["unit"]]


def packaged_prices() -> tuple[ModelPrice, ...]:
    """The rows that come with the program."""
    text = (files("tservice.agents.transcripts") / "prices.yaml").read_text("utf-8")
    return tuple(ModelPrice.model_validate_json(json.dumps(row)) for row in parse_yaml(text))
