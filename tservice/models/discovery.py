"""Queries for offered and loaded models: on request, and every few minutes."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.defer import Deferred, DeferredSemaphore, FirstError, gatherResults, succeed
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from tservice.core.clock import now_ms
from tservice.core.errors import ServiceError
from tservice.core.shared_work import SharedWork
from tservice.core.tasks import spawn_logged
from tservice.core.timers import cancel_call
from tservice.models.asking import Asker
from tservice.models.book import EndpointBook
from tservice.models.model import Endpoint, swapped_out
from tservice.models.shapes import Running

PAUSE = 300.0
"""Seconds between two rounds (protocol-models)."""
AT_ONCE = 5
"""Endpoints that a round queries concurrently."""

Swapped = Callable[[Endpoint, str], None]


class Discovery:
    """Discovery of models on request, and in rounds while the feature is on.

    It remembers the loaded models of an endpoint, and reports a model that was displaced by another
    one.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        book: EndpointBook,
        asker: Asker,
        enabled: Callable[[], bool],
        swapped: Swapped,
    ) -> None:
        """Create a discovery.

        @param swapped: called with an endpoint and a model that was displaced there.
        """
        self._clock = clock
        self._book = book
        self._asker = asker
        self._enabled = enabled
        self._swapped = swapped
        self._loaded: dict[str, frozenset[str]] = {}
        self._questions: dict[str, tuple[Endpoint, SharedWork[Running]]] = {}
        self._silent: frozenset[str] = frozenset()
        self._timer: IDelayedCall | None = None
        self._round: Deferred[None] = succeed(None)
        self._open = False

    def start(self) -> None:
        """Start the rounds; the first is due after a pause."""
        self._open = True
        self._timer = self._clock.callLater(PAUSE, self._due)

    def stop(self) -> Deferred[None]:
        """End the rounds; the Deferred fires once none is under way."""
        self._open = False
        cancel_call(self._timer)
        self._round.cancel()
        return self._round

    async def discover(
        self, endpoint_id: str, again: Callable[[], object] = lambda: None
    ) -> Endpoint:
        """Fetch the models of an endpoint and store them.

        @param again: authorizes the caller again, before they are stored.
        @raise ServiceError: 404: the endpoint does not exist; 422: it gives no valid answer.
        """
        models = await self._asker.models(self._book.get(endpoint_id))
        return await self._book.learned(endpoint_id, models, now_ms(self._clock), again)

    def running(self, endpoint: Endpoint) -> Deferred[Running]:
        """Fetch the loaded models, if the endpoint reports them.

        Concurrent callers share one request, as any user may ask as often as they like.
        """
        asked, flight = self._questions.get(endpoint.id, (None, None))
        if flight is None or flight.is_finished or asked != endpoint:
            flight = SharedWork(self._ask_running(endpoint))
            self._questions[endpoint.id] = endpoint, flight
        return flight.wait_for_result()

    async def _ask_running(self, endpoint: Endpoint) -> Running:
        found = await self._asker.running(endpoint)
        if found.supported:
            now = frozenset(found.loaded)
            before = self._loaded.get(endpoint.id, frozenset())
            self._loaded[endpoint.id] = now
            for model_id in sorted(swapped_out(before, now)):
                self._swapped(endpoint, model_id)
        return found

    def _due(self) -> None:
        if self._enabled():
            self._round = spawn_logged(self._ask_all(), self._log, "querying model endpoints")
            self._round.addCallback(self._again)
        else:
            self._again(None)

    def _again(self, ignored: None) -> None:
        if self._open:
            self._timer = self._clock.callLater(PAUSE, self._due)

    async def _ask_all(self) -> None:
        slots = DeferredSemaphore(AT_ONCE)
        endpoints = self._book.all()
        ids = {endpoint.id for endpoint in endpoints}
        self._loaded = {each: found for each, found in self._loaded.items() if each in ids}
        self._questions = {each: asked for each, asked in self._questions.items() if each in ids}
        asked = [slots.run(self._asked, each) for each in endpoints]
        try:
            answered = await gatherResults(asked, consumeErrors=True)
        except FirstError as error:
            error.subFailure.raiseException()
            raise
        self._silent = frozenset(each for each in answered if each is not None)

    def _asked(self, endpoint: Endpoint) -> Deferred[str | None]:
        return Deferred.fromCoroutine(self._ask(endpoint))

    async def _ask(self, endpoint: Endpoint) -> str | None:
        """Query an endpoint.

        @return: its id if it did not answer; the log reports it once.
        """
        try:
            await self.discover(endpoint.id)
            await self.running(self._book.get(endpoint.id))
        except ServiceError as error:
            if endpoint.id not in self._silent:
                self._log.warn("{error}", error=error.message)
            return endpoint.id
        return None
