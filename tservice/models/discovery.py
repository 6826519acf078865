"""Queries for the models that endpoints offer and have loaded, on request and every few minutes."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.defer import Deferred, DeferredSemaphore, FirstError, gatherResults, succeed
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from tservice.core.callers.caller import Caller
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.shared_work import SharedWork
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import cancel_call
from tservice.models.endpoint_client import EndpointClient
from tservice.models.model import ModelEndpoint, find_swapped_models
from tservice.models.registry import EndpointRegistry
from tservice.models.server_responses import RunningModels

ROUND_INTERVAL = 300.0
"""Seconds between two rounds (protocol-models)."""
MAX_CONCURRENT_QUERIES = 5
"""Maximum number of endpoints that are queried at the same time."""

Swapped = Callable[[ModelEndpoint, str], None]


class ModelDiscovery:
    """Discovery of the models of endpoints, on request and in periodic rounds while the feature is
    enabled.

    It remembers the loaded models of each endpoint, and reports when another model has displaced
    one of them.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        registry: EndpointRegistry,
        endpoint_client: EndpointClient,
        enabled: Callable[[], bool],
        on_swapped: Swapped,
    ) -> None:
        """Create the discovery.

        @param enabled: returns true while the feature is enabled.
        @param on_swapped: called with an endpoint and the id of a model that was displaced there.
        """
        self._clock = clock
        self._registry = registry
        self._endpoint_client = endpoint_client
        self._enabled = enabled
        self._on_swapped = on_swapped
        self._loaded: dict[str, frozenset[str]] = {}
        self._questions: dict[str, tuple[ModelEndpoint, SharedWork[RunningModels]]] = {}
        self._unresponsive: frozenset[str] = frozenset()
        self._timer: IDelayedCall | None = None
        self._round: Deferred[None] = succeed(None)
        self._open = False

    def start(self) -> None:
        """Start the periodic rounds. The first round begins after one interval."""
        self._open = True
        self._timer = self._clock.callLater(ROUND_INTERVAL, self._start_round)

    def stop(self) -> Deferred[None]:
        """Stop the periodic rounds. The Deferred fires when the current round has ended."""
        self._open = False
        cancel_call(self._timer)
        self._round.cancel()
        return self._round

    async def discover_models(self, endpoint_id: str, caller: Caller | None) -> ModelEndpoint:
        """Fetch the models of an endpoint, and store them in the registry.

        @param caller: authorized again before the models are stored; C{None} for the service.
        @raise ServiceError: 404 if the endpoint does not exist; 422 if its response is missing or
            invalid.
        """
        models = await self._endpoint_client.fetch_models(self._registry.get(endpoint_id))
        return await self._registry.record_models(
            endpoint_id, models, get_unix_ms(self._clock), caller
        )

    def fetch_running(self, endpoint: ModelEndpoint) -> Deferred[RunningModels]:
        """Fetch the loaded models of an endpoint, if the endpoint reports them.

        Concurrent callers share one request, because any user may call this as often as they like.
        """
        asked, flight = self._questions.get(endpoint.id, (None, None))
        if flight is None or flight.is_finished or asked != endpoint:
            flight = SharedWork(self._fetch_running_and_report_swaps(endpoint))
            self._questions[endpoint.id] = endpoint, flight
        return flight.wait_for_result()

    async def _fetch_running_and_report_swaps(self, endpoint: ModelEndpoint) -> RunningModels:
        found = await self._endpoint_client.fetch_running(endpoint)
        if found.supported:
            now = frozenset(found.loaded_names)
            before = self._loaded.get(endpoint.id, frozenset())
            self._loaded[endpoint.id] = now
            for model_id in sorted(find_swapped_models(before, now)):
                self._on_swapped(endpoint, model_id)
        return found

    def _start_round(self) -> None:
        if self._enabled():
            self._round = spawn_logged(
                self._query_all_endpoints(), self._log, "querying model endpoints"
            )
            self._round.addCallback(self._schedule_round)
        else:
            self._schedule_round(None)

    def _schedule_round(self, ignored: None) -> None:
        if self._open:
            self._timer = self._clock.callLater(ROUND_INTERVAL, self._start_round)

    async def _query_all_endpoints(self) -> None:
        slots = DeferredSemaphore(MAX_CONCURRENT_QUERIES)
        endpoints = self._registry.list_endpoints()
        ids = {endpoint.id for endpoint in endpoints}
        self._loaded = {each: found for each, found in self._loaded.items() if each in ids}
        self._questions = {each: asked for each, asked in self._questions.items() if each in ids}
        asked = [slots.run(self._start_endpoint_query, each) for each in endpoints]
        try:
            answered = await gatherResults(asked, consumeErrors=True)
        except FirstError as error:
            error.subFailure.raiseException()
            raise
        self._unresponsive = frozenset(each for each in answered if each is not None)

    def _start_endpoint_query(self, endpoint: ModelEndpoint) -> Deferred[str | None]:
        return Deferred.fromCoroutine(self._query_endpoint(endpoint))

    async def _query_endpoint(self, endpoint: ModelEndpoint) -> str | None:
        """Query an endpoint for its models and loaded models.

        @return: the endpoint's id if it did not respond, which is logged once; otherwise C{None}.
        """
        try:
            await self.discover_models(endpoint.id, None)
            await self.fetch_running(self._registry.get(endpoint.id))
        except ServiceError as error:
            if endpoint.id not in self._unresponsive:
                self._log.warn("{error}", error=error.message)
            return endpoint.id
        return None
