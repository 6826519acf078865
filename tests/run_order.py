"""In which order the processes of a run take up tests.

Each begins with a share of what takes long, so that in the end none waits for it.  The rest stays
in its order: one process comes to agents, which wait, while another has rules, which take a
processor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TypeVar

_T = TypeVar("_T")


def order_tests(
    items: Sequence[_T],
    hands: int,
    scope: Callable[[_T], str],
    minutes_of: Callable[[_T], float | None],
) -> list[_T]:
    """C{items} in the order in which so many processes take them up, each an equal part.

    @param scope: what those that take long stay together by, such as their class.
    @param minutes_of: about how long all that stays together takes; C{None}: not long.
    """
    long = [item for item in items if minutes_of(item) is not None]
    groups = [[*group] for _, group in groupby(long, scope)]
    groups.sort(key=lambda group: -(minutes_of(group[0]) or 0))
    begins: list[list[_T]] = [[] for _ in range(hands)]
    minutes = [0.0] * hands
    for group in groups:
        least = min(range(hands), key=lambda hand: (minutes[hand], len(begins[hand])))
        begins[least].extend(group)
        minutes[least] += minutes_of(group[0]) or 0
    rest = [item for item in items if minutes_of(item) is None]
    order: list[_T] = []
    for number, begin in enumerate(begins, 1):
        order += begin
        missing = max(0, len(items) * number // hands - len(order))
        order += rest[:missing]
        del rest[:missing]
    return order
