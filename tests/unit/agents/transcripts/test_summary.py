"""The end of an answer as one line."""

from __future__ import annotations

import pytest

from tservice.agents.transcripts.model import SUMMARY_LENGTH, summarize_answer

LONG = "I changed the reader so that it keeps its place. " * 6


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ("", None),
        ("\n---\n", None),
        ("All 12 tests pass.", "All 12 tests pass."),
        (
            "Here is what I did:\n\n- one\n- **Done**: `make test` passes\n\n",
            "Done: make test passes",
        ),
        ("## Summary\n\n1. Fixed\x1b[31m it", "Fixed [31m it"),
        ("text\n```\n", "text"),
        (LONG + "Shall I go on?", "Shall I go on?"),
    ],
)
def test_summary(answer: str, line: str | None) -> None:
    assert summarize_answer(answer) == line


def test_length_is_bounded() -> None:
    assert summarize_answer("a" * 1000) == "a" * SUMMARY_LENGTH
