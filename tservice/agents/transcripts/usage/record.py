"""Tokens and dollars of messages, and their sums.

This module does no I/O.
"""

from __future__ import annotations

from attrs import define, field, frozen

MODELS = 20
"""Maximum number of models with separate sums; the tokens of other models have no price."""
MODEL_CHARS = 200
"""Maximum characters of a model's name; a longer one has no price."""


def is_storable_text(text: str) -> bool:
    """Return true if a text can be stored; JSON may contain lone surrogates, which cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@frozen(kw_only=True)
class ModelUsage:
    """Tokens of one model, by price category.

    @ivar input: tokens sent, except those that were read from the cache or written to it.
    """

    model: str
    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    @property
    def total_input(self) -> int:
        """Tokens sent, including cached ones."""
        return self.input + self.cache_read + self.cache_write

    def subtract_usage(self, other: ModelUsage) -> ModelUsage:
        """Return the difference of this usage and C{other}."""
        return self._combine_usage(other, -1)

    def add_usage(self, other: ModelUsage) -> ModelUsage:
        """Return the sum of both usages."""
        return self._combine_usage(other, 1)

    def _combine_usage(self, other: ModelUsage, sign: int) -> ModelUsage:
        return ModelUsage(
            model=self.model,
            input=self.input + sign * other.input,
            cache_read=self.cache_read + sign * other.cache_read,
            cache_write=self.cache_write + sign * other.cache_write,
            output=self.output + sign * other.output,
        )


@frozen(kw_only=True)
class MessageUsage:
    """Usage of one message in its agent's last report.

    @ivar name: identifies the message in all files of a session.
    @ivar cost: cost in dollars; C{None} if the agent does not report it.
    @ivar at: Unix milliseconds of the report; C{None} if it has no time.
    """

    name: str
    used: ModelUsage
    cost: float = 0.0
    at: int | None = None

    def is_newer_than(self, before: MessageUsage) -> bool:
        """Return true if this report is later than C{before}, has the same time, or a time is
        unknown.
        """
        return self.at is None or before.at is None or self.at >= before.at


@define(kw_only=True)
class UsageTotals:
    """Sums of the usage of a session's messages.

    @ivar by_model: sums of at most L{MODELS} models, and under C{""} the sum of the others.
    @ivar cost: total in dollars, as far as the agent reports it.
    @ivar messages: the number of stored rows in the sums.
    """

    by_model: dict[str, ModelUsage] = field(factory=dict)
    cost: float = 0.0
    messages: int = 0

    @property
    def usage(self) -> tuple[ModelUsage, ...]:
        """Token sums of each model, to compute their price."""
        return tuple(self.by_model.values())

    @property
    def input(self) -> int:
        """Tokens sent, including cached ones."""
        return sum(each.total_input for each in self.by_model.values())

    @property
    def output(self) -> int:
        """Tokens that the models generated."""
        return sum(each.output for each in self.by_model.values())

    def get_sum_name(self, model: str) -> str:
        """Return the key in C{by_model} under which tokens of C{model} are summed."""
        if len(model) > MODEL_CHARS or not is_storable_text(model):
            return ""
        told_apart = model in self.by_model or len(self.by_model) < MODELS
        return model if told_apart else ""

    def add_message(self, more: MessageUsage) -> None:
        """Add a message, whose model must be the result of L{get_sum_name}."""
        used = more.used
        before = self.by_model.get(used.model, ModelUsage(model=used.model))
        self.by_model[used.model] = before.add_usage(used)
        self.cost += more.cost
        self.messages += 1

    def remove_message(self, before: MessageUsage) -> None:
        """Subtract a message that was added."""
        model = before.used.model
        self.by_model[model] = self.by_model[model].subtract_usage(before.used)
        self.cost -= before.cost
        self.messages -= 1
