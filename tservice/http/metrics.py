"""C{GET /metrics}: counters of this module, and values of features that are collected on
request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from attrs import frozen
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from tservice.core.kernel.scopes import READS_SERVICE_STATE
from tservice.http.operation_decorator import operation
from tservice.http.operations import AccessRule, OperationCall, RawReply, ResponseStyle, Scope

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600)
"""Upper bounds of the histogram of response times, in seconds; long polls end at 600."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
"""HTTP methods with their own time series.

Other methods count as C{other}, because a caller must not be able to create new series.
"""

Values = Mapping[tuple[str, ...], float]
"""Values of a gauge or counter by label values; the key is C{()} for a metric without labels."""

Family = GaugeMetricFamily | CounterMetricFamily


@frozen
class MetricSource:
    """Metric whose values are collected when the metrics are read.

    @ivar name: the metric's name without the prefix C{tservice_}.
    @ivar values: returns the values by label values, in the order of C{labels}.  Their number must
        be bounded.
    @ivar grows: true for a counter, which only grows while the service runs.
    """

    name: str
    text: str
    values: Callable[[], Values]
    labels: tuple[str, ...] = ()
    grows: bool = False


def make_gauge(name: str, text: str, value: Callable[[], int]) -> MetricSource:
    """Return a gauge with one value and no labels.

    @param text: the metric's help text.
    """
    return MetricSource(name, text, lambda: {(): value()})


class _OnDemandCollector(Collector):
    """Collector that computes its values when the metrics are read."""

    def __init__(self, empty: Callable[[], Family], values: Callable[[], Values]) -> None:
        self._empty, self._values = empty, values

    def collect(self) -> Iterator[Family]:
        family = self._empty()
        for labels, value in self._values().items():
            family.add_metric(labels, value)
        yield family

    def describe(self) -> Iterator[Family]:
        """Yield the metric without values.

        Prometheus' client calls this at registration, when no values are available yet.
        """
        yield self._empty()


class MetricsRegistry:
    """Counters of this service, in a registry that is not shared with other code."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "tservice_http_requests",
            "Requests answered; status 499: the client disconnected early.",
            ["route", "method", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "tservice_http_request_seconds",
            "Time from the request's last byte to the response's last byte.",
            ["route"],
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._bytes = Counter(
            "tservice_http_answer_bytes", "Bytes of response bodies.", registry=self._registry
        )

    def count_response(
        self, route: str, method: str, status: int, seconds: float, size: int
    ) -> None:
        """Count one response, as a L{ResponseListener<tservice.http.site.ResponseListener>}."""
        known = method if method in METHODS else "other"
        self._requests.labels(route, known, str(status)).inc()
        self._seconds.labels(route).observe(seconds)
        self._bytes.inc(size)

    def add_source(self, measure: MetricSource) -> None:
        """Add a metric whose values are collected on request."""
        family = CounterMetricFamily if measure.grows else GaugeMetricFamily
        empty = partial(
            family, f"tservice_{measure.name}", measure.text, labels=list(measure.labels)
        )
        self._registry.register(_OnDemandCollector(empty, measure.values))

    def format_text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self._registry)

    @operation(
        "GET",
        "/metrics",
        tag="Diagnostics",
        access=AccessRule.ADMIN,
        scope=Scope.ADMIN,
        scope_reason=READS_SERVICE_STATE,
        style=ResponseStyle.RAW,
        media_type="text/plain",
    )
    async def serve_metrics(self, call: OperationCall) -> RawReply:
        """Get metrics for Prometheus."""
        return RawReply(content=self.format_text(), content_type=CONTENT_TYPE_LATEST)
