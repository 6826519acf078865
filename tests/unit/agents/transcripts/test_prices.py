"""What tokens cost, and how full a window is."""

from __future__ import annotations

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.stub.anthropic import MODELS
from tservice.agents.transcripts.model import TranscriptTally
from tservice.agents.transcripts.prices import PriceTable, load_packaged_prices, parse_context_size
from tservice.agents.transcripts.usage.record import ModelUsage, UsageTotals
from tservice.settings.interfaces import ModelPrice

ASKED = {"input": 1200, "cache_read": 5000, "output": 34}
"""One answer of the stub model, which Claude Code 2.1.197 priced itself."""


class PriceTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.prices = PriceTable(packaged=load_packaged_prices())

    def cost(self, model: str) -> float:
        return self.prices.compute_cost(
            UsageTotals(by_model={model: ModelUsage(model=model, **ASKED)})
        )

    def test_cost_equals_the_figure_of_claude_code(self) -> None:
        for model, dollars in (
            ("claude-opus-4-8", 0.00935),
            ("claude-opus-4-5", 0.00935),
            ("claude-sonnet-4-6", 0.00561),
            ("claude-haiku-4-5-20251001", 0.00187),
            ("claude-fable-5", 0.0187),
        ):
            self.assertAlmostEqual(dollars, self.cost(model), 9, model)

    def test_current_models_have_the_prices_of_the_newest_catalogue(self) -> None:
        for model, sent, answered, read, window in (
            ("claude-opus-5-5", 4, 20, 0.2, 1_000_000),
            ("claude-opus-5", 5, 25, 0.5, 1_000_000),
            ("claude-opus-4-8", 5, 25, 0.5, 1_000_000),
            ("claude-opus-4-6", 5, 25, 0.5, 200_000),
            ("claude-sonnet-5-5-20261001", 2, 10, 0.1, 1_000_000),
            ("claude-sonnet-5", 2, 10, 0.2, 1_000_000),
            ("claude-sonnet-4-6", 3, 15, 0.3, 200_000),
            ("claude-haiku-5-5", 0.1, 0.5, 0.01, 1_000_000),
            ("claude-fable-5-2", 8, 40, 0.2, 1_000_000),
        ):
            row = self.prices.find_row(model)
            assert row is not None, model
            found = (row.input, row.output, row.cache_read, row.window)
            self.assertEqual((sent, answered, read, window), found, model)

    def test_tokens_without_a_price_make_the_cost_unknown(self) -> None:
        def lacks(**totals: Any) -> bool:
            return self.prices.lacks_price(UsageTotals(**totals))

        known = ModelUsage(model="claude-opus-5-5", **ASKED)
        stranger = ModelUsage(model="stub-model", **ASKED)
        self.assertFalse(lacks())
        self.assertFalse(lacks(by_model={"a": known}))
        self.assertFalse(lacks(by_model={"a": known, "b": ModelUsage(model="stub-model")}))
        self.assertTrue(lacks(by_model={"b": stranger}))
        self.assertTrue(lacks(by_model={"a": known, "b": stranger}))
        self.assertFalse(lacks(by_model={"b": stranger}, cost=0.1))
        free = PriceTable(
            packaged=(), chosen=lambda: (ModelPrice(model="stub-*", input=0, output=0),)
        )
        self.assertFalse(free.lacks_price(UsageTotals(by_model={"b": stranger})))

    def test_model_of_the_stub_has_a_price_or_an_unknown_cost(self) -> None:
        """A model named like a current one gets a row before a test serves it."""
        for model in MODELS:
            row = self.prices.find_row(model)
            used = UsageTotals(by_model={model: ModelUsage(model=model, **ASKED)})
            self.assertEqual(row is None, self.prices.lacks_price(used), model)
            self.assertEqual(row is None, self.cost(model) == 0, model)
            current = model.startswith(("claude-", "gpt-", "gemini-"))
            self.assertTrue(row is not None or not current, model)

    def test_first_matching_price_row_is_used(self) -> None:
        for model, sent in (
            ("gpt-5.5", 5),
            ("gpt-5.1-codex-mini", 0.25),
            ("gpt-5-codex", 1.25),
            ("gemini-2.5-flash-lite", 0.1),
            ("gemini-3.1-pro-preview", 2),
            ("GEMINI-2.5-PRO", 1.25),
        ):
            found = self.prices.find_row(model)
            assert found is not None
            self.assertEqual(sent, found.input, model)

    def test_unknown_model_costs_nothing(self) -> None:
        self.assertEqual(0.0, self.cost("stub-model"))
        self.assertEqual(0.0, self.cost(""))
        self.assertIsNone(
            self.prices.compute_context_percentage(TranscriptTally(context=5, model="stub"), "")
        )

    def test_cost_in_the_transcript_takes_precedence(self) -> None:
        used = {"claude-opus-4-8": ModelUsage(model="claude-opus-4-8", **ASKED)}
        self.assertEqual(3.0, self.prices.compute_cost(UsageTotals(by_model=used, cost=3.0)))

    def test_configured_price_rows_come_first(self) -> None:
        row = ModelPrice(model="stub-*", input=1, output=0)
        prices = PriceTable(packaged=load_packaged_prices(), chosen=lambda: (row,))
        used = ModelUsage(
            model="stub-model", input=500_000, cache_read=250_000, cache_write=250_000
        )
        self.assertEqual(1.0, prices.compute_cost(UsageTotals(by_model={used.model: used})))

    def test_context_window_is_known_from_model_or_screen(self) -> None:
        tally = TranscriptTally(context=50_000, model="claude-opus-4-5")
        for shown, full in (("", 25.0), ("Opus 4.5 (1M context)", 5.0), ("x (100K context)", 50.0)):
            self.assertEqual(full, self.prices.compute_context_percentage(tally, shown))
        elsewhere = self.prices.compute_context_percentage(tally, "", 100_000)
        self.assertEqual(50.0, elsewhere)
        told = TranscriptTally(context=50_000, model="claude-opus-4-8", window=500_000)
        self.assertEqual(10.0, self.prices.compute_context_percentage(told, ""))
        over = TranscriptTally(context=250_000, model="claude-opus-4-5")
        self.assertIsNone(self.prices.compute_context_percentage(over, ""))

    def test_screen_text_without_a_context_window_is_ignored(self) -> None:
        for shown in ("", "Opus (context)", "Opus (0K context)", "x (99999M context)"):
            self.assertIsNone(parse_context_size(shown))
