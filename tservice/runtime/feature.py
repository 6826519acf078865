"""Records by which features are registered with the application."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Any, Generic, TypeVar

from attrs import field, frozen

from tservice.core.callers.identity import AccountExists, Identity
from tservice.core.kernel.service_stack import ClosingService, ServiceStack
from tservice.http.kernel import FallbackRoute
from tservice.http.metrics import MetricSource
from tservice.http.operations import Operation

T = TypeVar("T")

GetFeatureState = Callable[[Identity], Any]
"""Callable that returns a feature's part of the initial state for one caller, without waiting."""


def _do_nothing() -> None:
    """Do nothing; the default for C{start} and C{close} of a feature."""


@frozen(kw_only=True)
class FeatureRegistration(Generic[T]):
    """Registration of a feature, returned by the build function in its C{build.py}.

    @ivar name: the feature's name, for the log when the feature is stopped.
    @ivar service: the object that other features call.
    @ivar operations: the feature's routes.
    @ivar measures: the feature's metrics.
    @ivar initial_state: functions that return the feature's parts of a client's initial state, by
        the name of the field.
    @ivar fallback_route: answers requests that match no route.  C{None} for all features but one.
    @ivar on_account_removed: deletes the data of accounts that do not exist, without waiting,
        because a new account of the same name may be created a moment later.
    @ivar start: called once the service has reattached to existing panes.  The next feature is
        started when it is done.
    @ivar close: called when the service stops, after features that were registered later.  May
        return a Deferred.
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
    """Registered features, and their routes, metrics and functions in the order of registration.

    @ivar operations: the routes of all features.
    @ivar measures: the metrics of all features.
    @ivar initial_state: functions that return the parts of a client's initial state, by the name of
        the field.
    @ivar fallback_route: answers requests that match no route.
    @ivar on_account_removed: functions that delete the data of accounts that do not exist.
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
        """Register C{feature}; L{start_features} starts it.

        @return: the feature's service.
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
