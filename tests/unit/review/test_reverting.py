"""Reverts lose nothing, whoever else writes at the same time."""

from __future__ import annotations

from tests.unit.review.reverting_cases import ReplacementTests, RevertTests

__all__ = ["ReplacementTests", "RevertTests"]
