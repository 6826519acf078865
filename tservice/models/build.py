"""Construction of the custom models feature."""

from __future__ import annotations

from tservice.clis.interfaces import ICliRegistry
from tservice.core.net.outbound import OutboundClient
from tservice.http.operation_decorator import collect_operations
from tservice.models.discovery import ModelDiscovery
from tservice.models.endpoint_client import TIME_LIMIT, EndpointClient, OutboundSender
from tservice.models.endpoint_file import open_endpoint_file
from tservice.models.injection_store import InjectionStore
from tservice.models.registry import EndpointRegistry
from tservice.models.routes import ModelRoutes
from tservice.models.service import ModelService
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions


def build_models(
    ground: Runtime, *, clis: ICliRegistry, sessions: ISessions, post: OutboundSender | None = None
) -> FeatureRegistration[ModelService]:
    """Build the feature and read the stored endpoints. Stopping it cancels pending requests.

    @param post: sends requests to endpoints. C{None} uses a guarded L{OutboundClient}.
    """
    book = EndpointRegistry(
        file=open_endpoint_file(ground.config.data_dir),
        threads=ground.worker_pools.files,
        hub=ground.hub,
        redactor=ground.redactor,
        new_id=lambda: ground.random(6).hex(),
    )
    asker = EndpointClient(post or OutboundClient(ground.reactor, time_limit=TIME_LIMIT))

    def make_discovery(service: ModelService) -> ModelDiscovery:
        return ModelDiscovery(
            ground.reactor, book, asker, service.is_enabled, service.notify_displaced
        )

    service = ModelService(
        registry=book,
        discovery=make_discovery,
        injections=InjectionStore(
            ground.config.data_dir, ground.worker_pools.files, ground.locations, ground.reactor
        ),
        clis=clis,
        sessions=sessions,
        settings=ground.settings,
        hub=ground.hub,
    )
    return FeatureRegistration(
        name="custom models",
        service=service,
        operations=collect_operations(ModelRoutes(service)),
        start=service.start,
        close=service.stop,
    )
