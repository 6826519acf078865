"""Commits and pushes by the user"s own git, with its hooks."""

from __future__ import annotations

from tests.unit.review.committing_cases import CommitTests, MessageTests

__all__ = ["CommitTests", "MessageTests"]
