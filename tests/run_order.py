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
    items: Sequence[_T], hands: int, scope: Callable[[_T], str], is_long: Callable[[_T], bool]
) -> list[_T]:
    """C{items} in the order in which so many processes take them up, each an equal part.

    @param scope: what those that take long stay together by, such as their class.
    """
    begins: list[list[_T]] = [[] for _ in range(hands)]
    for _, group in groupby(filter(is_long, items), scope):
        min(begins, key=len).extend(group)
    rest = [item for item in items if not is_long(item)]
    order: list[_T] = []
    for number, begin in enumerate(begins, 1):
        order += begin
        missing = max(0, len(items) * number // hands - len(order))
        order += rest[:missing]
        del rest[:missing]
    return order
