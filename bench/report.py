"""Figures and the table that shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen


@frozen(kw_only=True)
class Row:
    """One measurement against its limit or its peer.

    @ivar ours: what the service needed, in C{unit}.
    @ivar peer: what the peer needed, or the limit.
    @ivar against: what C{peer} is.
    @ivar at_most: the ratio ours/peer that is promised; C{None} where nothing is promised.
    @ivar higher_is_better: the promise is a least ratio instead.
    @ivar goal: the ratio that is wanted where it cannot be promised (architecture-measured).
    """

    name: str
    ours: float
    peer: float
    unit: str
    against: str
    at_most: float | None = None
    higher_is_better: bool = False
    goal: float | None = None

    @property
    def ratio(self) -> float:
        """Ours over the peer's."""
        return self.ours / self.peer if self.peer else float("inf")

    @property
    def verdict(self) -> str:
        """C{ok}, C{MISS}, a goal that is not reached, or nothing where nothing is promised."""
        if self.goal is not None:
            return "ok" if self.ratio <= self.goal else f"goal {self.goal:g}: not reached"
        if self.at_most is None:
            return ""
        kept = self.ratio >= self.at_most if self.higher_is_better else self.ratio <= self.at_most
        return "ok" if kept else "MISS"


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which C{share} (0 to 1) of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def limited(name: str, ours: float, limit: float, unit: str) -> Row:
    """A row of the page, of what is promised to stay below a limit."""
    return Row(name=f"page, {name}", ours=ours, peer=limit, unit=unit, against="limit", at_most=1.0)


def table(rows: Iterable[Row]) -> str:
    """The rows as text, columns aligned."""
    head = ("measurement", "ours", "against", "", "ratio", "")
    body = [
        (
            row.name,
            f"{row.ours:.3g} {row.unit}",
            f"{row.peer:.3g} {row.unit}",
            row.against,
            f"{row.ratio:.3g}",
            row.verdict,
        )
        for row in rows
    ]
    lines = [head, *body]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
