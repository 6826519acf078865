"""Registry of model endpoints, kept in memory and stored in a file. Changes are published as
events.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from twisted.internet.defer import DeferredLock
from twisted.logger import Logger

from tservice.core.callers.caller import Caller
from tservice.core.disk.files import FileError
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_failure_error,
    make_not_found_error,
)
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.logs.redact import SecretRedactor
from tservice.core.workers.worker_pool import IThreads
from tservice.models.model import (
    ENDPOINT_LIMIT,
    ModelEndpoint,
    OfferedModel,
    apply_patch,
    replace_models,
)
from tservice.models.responses import EndpointsAnswer, make_endpoint_response
from tservice.store.list_file import JsonListFile

Changed = Callable[[tuple[ModelEndpoint, ...]], tuple[ModelEndpoint, ...]]


class EndpointRegistry:
    """Registry of model endpoints.

    Changes are made one at a time, and are written to disk before they are published. Keys are
    hidden from the log.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        file: JsonListFile[ModelEndpoint],
        threads: IThreads,
        hub: EventHub,
        redactor: SecretRedactor,
        new_id: Callable[[], str],
    ) -> None:
        self._file = file
        self._threads = threads
        self._hub = hub
        self._redactor = redactor
        self._new_id = new_id
        self._endpoints: tuple[ModelEndpoint, ...] = ()
        self._redacted_keys: dict[str, Callable[[], None]] = {}
        self._lock = DeferredLock()

    async def load(self) -> None:
        """Read the stored endpoints when the service starts.

        A file that cannot be used is left unchanged, and the log states the reason. There are no
        endpoints then, and changes fail with a 409 until an operator has repaired the file.
        """
        try:
            await self._threads.run(self._file.remove_partial_files)
            self._replace_endpoints(await self._threads.run(self._file.read_records))
        except (FileError, OSError, ServiceError) as error:
            self._log.error("{error}; model endpoints are not available", error=str(error))

    def list_endpoints(self) -> tuple[ModelEndpoint, ...]:
        """Return the endpoints in the order in which they were created."""
        return self._endpoints

    def get(self, endpoint_id: str) -> ModelEndpoint:
        """Return the endpoint with this id.

        @raise ServiceError: 404 if there is no such endpoint.
        """
        for endpoint in self._endpoints:
            if endpoint.id == endpoint_id:
                return endpoint
        raise make_not_found_error(f"Model endpoint {endpoint_id}")

    async def add(self, fields: Mapping[str, Any], caller: Caller) -> ModelEndpoint:
        """Add an endpoint with a new id.

        @param fields: fields of the endpoint, not validated yet.
        @param caller: authorized again after waiting for concurrent
            changes.
        @raise ServiceError: 400 naming the field; 409 if the label is in use; 422 if there are too
            many endpoints, or the disk is full.
        """
        made = apply_patch(ModelEndpoint(id=self._new_id(), label="", base_url=""), fields)

        def append_to_list(endpoints: tuple[ModelEndpoint, ...]) -> tuple[ModelEndpoint, ...]:
            if len(endpoints) >= ENDPOINT_LIMIT:
                raise make_failure_error(
                    f"there are {ENDPOINT_LIMIT} model endpoints already; remove one first"
                )
            caller.reauthorize()
            return (*endpoints, _require_unique_label(endpoints, made))

        await self._apply_change(append_to_list)
        return made

    async def update_endpoint(
        self,
        endpoint_id: str,
        patch: Mapping[str, Any],
        caller: Caller,
        *,
        by_token: bool = False,
    ) -> ModelEndpoint:
        """Change the fields of an endpoint that are in C{patch}.

        @param caller: authorized again after waiting for concurrent
            changes.
        @param by_token: see L{apply_patch}.
        @raise ServiceError: 403 as in L{apply_patch}; 404 if there is no such endpoint. Other
            errors are those of L{add}.
        """

        def apply_patch_to(endpoint: ModelEndpoint) -> ModelEndpoint:
            caller.reauthorize()
            return apply_patch(endpoint, patch, by_token=by_token)

        await self._edit_endpoint(endpoint_id, apply_patch_to)
        return self.get(endpoint_id)

    async def record_models(
        self,
        endpoint_id: str,
        models: tuple[OfferedModel, ...],
        at: int,
        caller: Caller | None,
    ) -> ModelEndpoint:
        """Store the models that an endpoint reported.

        @param at: time of the report in Unix milliseconds.
        @param caller: authorized again before the change; C{None} for the service itself.
        @raise ServiceError: 404 if the endpoint was removed during the query; 409 or 422 if the
            file cannot be used or written.
        """

        def replace_models_of(endpoint: ModelEndpoint) -> ModelEndpoint:
            if caller is not None:
                caller.reauthorize()
            return replace_models(endpoint, models, at)

        await self._edit_endpoint(endpoint_id, replace_models_of)
        return self.get(endpoint_id)

    async def remove(self, endpoint_id: str, check: Callable[[], None]) -> None:
        """Remove an endpoint with its key.

        @param check: called right before the removal; raises an error if the endpoint must stay.
        @raise ServiceError: 404 if there is no such endpoint; 409 or 422 if the file cannot be used
            or written.
        """

        def remove_from_list(endpoints: tuple[ModelEndpoint, ...]) -> tuple[ModelEndpoint, ...]:
            gone = self.get(endpoint_id)
            check()
            return tuple(each for each in endpoints if each is not gone)

        await self._apply_change(remove_from_list)

    async def _edit_endpoint(
        self, endpoint_id: str, edit: Callable[[ModelEndpoint], ModelEndpoint]
    ) -> None:
        def replace_edited(endpoints: tuple[ModelEndpoint, ...]) -> tuple[ModelEndpoint, ...]:
            before = self.get(endpoint_id)
            after = _require_unique_label(
                [each for each in endpoints if each is not before], edit(before)
            )
            return tuple(after if each is before else each for each in endpoints)

        await self._apply_change(replace_edited)

    async def _apply_change(self, change: Changed) -> None:
        await self._lock.acquire()
        try:
            after = change(self._endpoints)
            await self._threads.run(partial(self._file.write_records, after))
            self._replace_endpoints(after)
        finally:
            self._lock.release()
        payload = EndpointsAnswer(endpoints=[make_endpoint_response(each) for each in after])
        self._hub.publish(Event(name=EventName.MODEL_ENDPOINTS_CHANGED, payload=payload))

    def _replace_endpoints(self, endpoints: tuple[ModelEndpoint, ...]) -> None:
        self._endpoints = endpoints
        keys = {endpoint.key for endpoint in endpoints if endpoint.key}
        for key in keys - self._redacted_keys.keys():
            self._redacted_keys[key] = self._redactor.register_secret(key)
        for key in self._redacted_keys.keys() - keys:
            self._redacted_keys.pop(key)()


def _require_unique_label(others: Any, endpoint: ModelEndpoint) -> ModelEndpoint:
    """Return C{endpoint} if no other endpoint has its label; otherwise fail with 409."""
    label = endpoint.label.strip().casefold()
    if any(other.label.strip().casefold() == label for other in others):
        message = f"label: a model endpoint named {endpoint.label} exists already"
        raise ServiceError(ErrorCode.ALREADY_EXISTS, message)
    return endpoint
