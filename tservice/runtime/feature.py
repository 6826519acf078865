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

GetFeatureState = Callable[[Identity], Any]
"""Callable that returns a feature's part of the initial state for one caller, synchronously."""


def _do_nothing() -> None:
    """Do nothing: the default start and close function."""


@frozen(kw_only=True)
class FeatureRegistration(Generic[T]):
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
    initial_state: Mapping[str, GetFeatureState] = field(factory=dict)
    fallback_route: FallbackRoute | None = None
    on_account_removed: Callable[[AccountExists], object] | None = None
    start: Callable[[], object] = _do_nothing
    close: Callable[[], object] = _do_nothing


class FeatureRegistry:
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
        self.initial_state: dict[str, GetFeatureState] = {}
        self.fallback_route: FallbackRoute = lambda request: None
        self.on_account_removed: list[Callable[[AccountExists], object]] = []

    def add_feature(self, feature: FeatureRegistration[T]) -> T:
        """Register C{feature}, which is started by L{start_features}.

        @return: its service.
        """
        ClosingService(feature.name, feature.close).setServiceParent(self._stack)
        self._starts.append(feature.start)
        self.operations += feature.operations
        self.measures += feature.measures
        self.initial_state.update(feature.initial_state)
        self.fallback_route = feature.fallback_route or self.fallback_route
        if feature.on_account_removed is not None:
            self.on_account_removed.append(feature.on_account_removed)
        return feature.service

    async def start_features(self) -> None:
        """Start the features one after the other, in the order of their registration."""
        for start in self._starts:
            begun = start()
            if isawaitable(begun):
                await begun
