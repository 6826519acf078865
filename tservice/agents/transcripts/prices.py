"""Token prices and context sizes of models, from the setting and the packaged table."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from importlib.resources import files

from attrs import frozen

from tservice.agents.transcripts.model import TranscriptTally
from tservice.agents.transcripts.usage.record import MessageUsage, ModelUsage, UsageTotals
from tservice.core.values.yamltext import parse_yaml
from tservice.settings.interfaces import ModelPrice

MILLION = 1_000_000
# Suffix that Claude Code's banner adds to a model's name for a longer context.
_CONTEXT = re.compile(r"\((?P<count>[1-9][0-9]{0,3})(?P<unit>[KM]) context\)")
_UNITS = {"K": 1000, "M": MILLION}


@frozen(kw_only=True)
class PriceTable:
    """Table with the prices and the context size of each model.

    @ivar packaged: rows that come with the program.
    @ivar chosen: rows of the setting C{modelPrices}, which take precedence.
    """

    packaged: Sequence[ModelPrice]
    chosen: Callable[[], Sequence[ModelPrice]] = tuple

    def find_row(self, model: str) -> ModelPrice | None:
        """Return the first row whose pattern matches a model's name; C{None} if no row matches."""
        name = model.lower()
        rows = (*self.chosen(), *self.packaged)
        return next((row for row in rows if name and fnmatchcase(name, row.model.lower())), None)

    def compute_cost(self, totals: UsageTotals) -> float:
        """Return the cost in dollars.

        This is the cost in the transcript, otherwise the price of all tokens whose price is known.
        """
        if totals.cost > 0:
            return totals.cost
        return sum(self._compute_model_cost(used) for used in totals.usage)

    def lacks_price(self, totals: UsageTotals) -> bool:
        """Return true if the cost of some tokens is unknown: neither the transcript nor a row has
        it.
        """
        return totals.cost <= 0 and any(
            used.total_input + used.output > 0 and self.find_row(used.model) is None
            for used in totals.usage
        )

    def compute_context_percentage(
        self, tally: TranscriptTally, shown: str, window: int | None = None
    ) -> float | None:
        """Return the used percentage of the model's context window; C{None} if its size is unknown.

        @param shown: the model's name on the screen, which may contain the size of the window.
        @param window: the size of the window that the agent shows elsewhere.
        """
        window = tally.window or window or parse_context_size(shown)
        window = window or self._get_window(tally.model or "")
        if not window or tally.context > window:
            return None
        return round(100 * tally.context / window, 1)

    def compute_message_cost(self, message: MessageUsage) -> float | None:
        """Return the dollars of one message; C{None} if they are unknown."""
        known = message.cost > 0 or self.find_row(message.used.model) is not None
        return (message.cost or self._compute_model_cost(message.used)) if known else None

    def _compute_model_cost(self, used: ModelUsage) -> float:
        row = self.find_row(used.model)
        if row is None:
            return 0.0
        read = row.input if row.cache_read is None else row.cache_read
        write = row.input if row.cache_write is None else row.cache_write
        dollars = used.input * row.input + used.output * row.output
        return (dollars + used.cache_read * read + used.cache_write * write) / MILLION

    def _get_window(self, model: str) -> int | None:
        row = self.find_row(model)
        return None if row is None else row.window


def parse_context_size(shown: str) -> int | None:
    """Return the context size in a model's name on the screen, such as C{Opus 4.8 (1M context)}."""
    found = _CONTEXT.search(shown)
    return None if found is None else int(found["count"]) * _UNITS[found["unit"]]


def load_packaged_prices() -> tuple[ModelPrice, ...]:
    """Return the price rows that come with the program."""
    text = (files("tservice.agents.transcripts") / "prices.yaml").read_text("utf-8")
    return tuple(ModelPrice.model_validate_json(json.dumps(row)) for row in parse_yaml(text))
