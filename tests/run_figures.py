"""Figures that tests measure: C{report_figure} notes them, and pytest's summary prints them."""

from __future__ import annotations

KEY = "figure"

_told: list[str] = []


def report_figure(text: str) -> None:
    """Have C{text} printed at the end of the run, whether the test passes or not."""
    _told.append(text)


def take_figures() -> list[tuple[str, object]]:
    """What the test that is running told so far, as properties of its report."""
    taken = [(KEY, text) for text in _told]
    _told.clear()
    return list(taken)
