"""Registration of features."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Any, Generic, TypeVar

from attrs import field, frozen

from tservice.core.identity import AccountExists, Identity
from tservice.core.service_stack import ClosingService, ServiceStack
from tservice.http.kernel import FallbackRoute
from tservice.http.metrics import MetricSource
from tservice.http.operations import Operation

T = TypeVar("T")

Teller = Callable[[Identity], Any]
"""Callable that returns a feature's part of the initial state for one caller, synchronously."""


def _nothing() -> None:
    """Do nothing: the default start and close function."""


@frozen(kw_only=True)
class Feature(Generic[T]):
    """Result of a feature's C{build.py}.

    @ivar name: the feature's name in the log at its stop.
    @ivar service: the object that other features call.
    @ivar operations: its routes.
    @ivar measures: its metrics.
    @ivar tells: its parts of a client's initial state, by the field's name.
    @ivar strays: fallback for requests that match no route; at most one feature has it.
    @ivar forget: deletes the data of unknown owners, synchronously: a new account of the same name
        may exist a moment later.
    @ivar start: called once existing panes are reattached; the next feature's call waits for it.
    @ivar close: called at the stop, after those of all features registered later; may return a
        Deferred.
    """

    name: str
    service: T
    operations: Sequence[Operation] = ()
    measures: Sequence[MetricSource] = ()
    tells: Mapping[str, Teller] = field(factory=dict)
    strays: FallbackRoute | None = None
    forget: Callable[[AccountExists], object] | None = None
    start: Callable[[], object] = _nothing
    close: Callable[[], object] = _nothing


class Contents:
    """Features in the order of their registration.

    @ivar operations: the routes of all of them.
    @ivar measures: their metrics.
    @ivar tells: a client's initial state.
    @ivar strays: fallback for requests that match no route.
    @ivar forgets: functions that delete the data of removed accounts.
    """

    def __init__(self, stack: ServiceStack) -> None:
        self._stack = stack
        self._starts: list[Callable[[], object]] = []
        self.operations: list[Operation] = []
        self.measures: list[MetricSource] = []
        self.tells: dict[str, Teller] = {}
        self.strays: FallbackRoute = lambda request: None
        self.forgets: list[Callable[[AccountExists], object]] = []

    def add(self, feature: Feature[T]) -> T:
        """Register C{feature}, which is started by L{start}.

        @return: its service.
        """
        ClosingService(feature.name, feature.close).setServiceParent(self._stack)
        self._starts.append(feature.start)
        self.operations += feature.operations
        self.measures += feature.measures
        self.tells.update(feature.tells)
        self.strays = feature.strays or self.strays
        if feature.forget is not None:
            self.forgets.append(feature.forget)
        return feature.service

    async def start(self) -> None:
        """Start the features one after the other, in the order of their registration."""
        for start in self._starts:
            begun = start()
            if isawaitable(begun):
                await begun
