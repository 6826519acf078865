"""Changes of a repository against its base, read by hand."""

from __future__ import annotations

from tests.unit.review.changes_cases import ChangesTests, HostileRepositoryTests

__all__ = ["ChangesTests", "HostileRepositoryTests"]
