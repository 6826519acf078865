"""A feature as it joins the program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Any, Generic, TypeVar

from attrs import field, frozen

from tservice.core.identity import Identity, Known
from tservice.core.stack import Closing, ServiceStack
from tservice.http.kernel import Strays
from tservice.http.metrics import Measure
from tservice.http.operations import Operation

T = TypeVar("T")

Teller = Callable[[Identity], Any]
"""What a feature tells of itself to one caller, at once."""


def _nothing() -> None:
    """There is nothing to do."""


@frozen(kw_only=True)
class Feature(Generic[T]):
    """What a feature's C{build.py} makes.

    @ivar name: what its end is called in the log.
    @ivar service: what other features call.
    @ivar operations: its routes.
    @ivar measures: what it counts.
    @ivar tells: its part of the state that a client begins with, by the field's name.
    @ivar strays: answers what no route does; of one feature at most.
    @ivar forget: forgets what is kept for owners who are not known, at once: the next account of
        that name may be there a moment later.
    @ivar start: called once the panes of before are taken up; the next feature's waits for it.
    @ivar close: called at the stop, after those of all that joined later; may return a Deferred.
    """

    name: str
    service: T
    operations: Sequence[Operation] = ()
    measures: Sequence[Measure] = ()
    tells: Mapping[str, Teller] = field(factory=dict)
    strays: Strays | None = None
    forget: Callable[[Known], object] | None = None
    start: Callable[[], object] = _nothing
    close: Callable[[], object] = _nothing


class Contents:
    """The features in the order in which they join.

    @ivar operations: the routes of all of them.
    @ivar measures: what they count.
    @ivar tells: the state that a client begins with.
    @ivar strays: answers what no route does.
    @ivar forgets: what each forgets of accounts that are gone.
    """

    def __init__(self, stack: ServiceStack) -> None:
        self._stack = stack
        self._starts: list[Callable[[], object]] = []
        self.operations: list[Operation] = []
        self.measures: list[Measure] = []
        self.tells: dict[str, Teller] = {}
        self.strays: Strays = lambda request: None
        self.forgets: list[Callable[[Known], object]] = []

    def add(self, feature: Feature[T]) -> T:
        """C{feature} is part of the program from now on, and begins with L{start}.

        @return: its service.
        """
        Closing(feature.name, feature.close).setServiceParent(self._stack)
        self._starts.append(feature.start)
        self.operations += feature.operations
        self.measures += feature.measures
        self.tells.update(feature.tells)
        self.strays = feature.strays or self.strays
        if feature.forget is not None:
            self.forgets.append(feature.forget)
        return feature.service

    async def start(self) -> None:
        """Begin, one after the other, in the order in which they joined."""
        for start in self._starts:
            begun = start()
            if isawaitable(begun):
                await begun
