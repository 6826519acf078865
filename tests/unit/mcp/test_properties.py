"""Whatever is in a file: what is added is there, and nothing else has changed."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.unit.mcp.random_configs import OFFERS, random_documents, render_document
from tservice.clis.interfaces import McpFormat
from tservice.mcp.dialects.catalogue import DIALECTS, ConfigDialect
from tservice.mcp.model import McpServer, find_missing_servers

pytestmark = pytest.mark.long

EXAMPLES = 135
"""Of each dialect; six dialects and the 25 times of C{make stress} make more than 20,000."""


def shared(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def only_added(before: str, after: str) -> bool:
    """Whether C{after} is C{before} with a comma and one piece more, or with the piece alone."""
    start = shared(before, after)
    rest = after[start:]
    if rest.endswith(before[start:]):
        return True
    begin = shared(before[start:], rest[1:])
    return rest[:1] == "," and rest[1 + begin :].endswith(before[start + begin :])


class DialectPropertyTests(SynchronousTestCase):
    """The same for each dialect."""

    def check(
        self,
        dialect: ConfigDialect,
        data: dict[str, Any],
        offer: Mapping[str, McpServer],
        text: str,
    ) -> None:
        had = dialect.parse_table(text)
        table = data.get(dialect.key, {})
        self.assertEqual(sorted(table), sorted(had.names))
        lack = find_missing_servers(offer, had.names, dialect.can_express)
        self.assertEqual(set(), set(table) & set(lack.servers))
        self.assertEqual(
            set(offer), set(table) & set(offer) | set(lack.servers) | set(lack.skipped)
        )
        if not lack.servers:
            return
        after = dialect.add_servers(text, lack.servers)
        self.assertTrue(only_added(text, after), (text, after))
        found = dialect.parse_table(after)
        self.assertEqual((*had.names, *lack.servers), found.names)
        self.assertEqual({**had.servers, **lack.servers}, found.servers)
        self.assertEqual(had.disabled, found.disabled)
        self.assertEqual(
            (), tuple(find_missing_servers(offer, found.names, dialect.can_express).servers)
        )

    def run_on(self, name: McpFormat) -> None:
        dialect = DIALECTS[name]

        @seed(11)
        @settings(
            max_examples=example_count(EXAMPLES),
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(random_documents(dialect), OFFERS, st.integers(0, 2**32))
        def holds(data: dict[str, Any], offer: dict[str, McpServer], number: int) -> None:
            self.check(dialect, data, offer, render_document(dialect, data, Random(number)))

        holds()

    def test_claude_dialect_round_trips(self) -> None:
        self.run_on(McpFormat.CLAUDE)

    def test_gemini_dialect_round_trips(self) -> None:
        self.run_on(McpFormat.GEMINI)

    def test_antigravity_dialect_round_trips(self) -> None:
        self.run_on(McpFormat.ANTIGRAVITY)

    def test_opencode_dialect_round_trips(self) -> None:
        self.run_on(McpFormat.OPENCODE)

    def test_codex_dialect_round_trips(self) -> None:
        self.run_on(McpFormat.CODEX)

    def test_copilot_dialect_round_trips(self) -> None:
        self.run_on(McpFormat.COPILOT)
