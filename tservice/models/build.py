"""Construction of the custom models feature."""

from __future__ import annotations

from tservice.clis.interfaces import ICliRegistry
from tservice.core.net.outbound import OutboundClient
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.models.asking import TIME_LIMIT, Asker, Send
from tservice.models.book import EndpointBook
from tservice.models.configfile import endpoint_file
from tservice.models.discovery import Discovery
from tservice.models.residences import Residences
from tservice.models.routes import ModelRoutes
from tservice.models.service import ModelService
from tservice.sessions.interfaces import ISessions


def build_models(
    ground: Ground, *, clis: ICliRegistry, sessions: ISessions, post: Send | None = None
) -> Feature[ModelService]:
    """Build the feature. The endpoints are read at the start, and a stop ends pending requests.

    @param post: sends requests; a guarded L{OutboundClient} by default.
    """
    book = EndpointBook(
        file=endpoint_file(ground.config.data_dir),
        threads=ground.doors.files,
        hub=ground.hub,
        redactor=ground.redactor,
        new_id=lambda: ground.random(6).hex(),
    )
    asker = Asker(post or OutboundClient(ground.reactor, time_limit=TIME_LIMIT))

    def discovery(service: ModelService) -> Discovery:
        return Discovery(ground.reactor, book, asker, service.is_enabled, service.pushed_out)

    service = ModelService(
        book=book,
        discovery=discovery,
        residences=Residences(
            ground.config.data_dir, ground.doors.files, ground.places, ground.reactor
        ),
        clis=clis,
        sessions=sessions,
        settings=ground.settings,
        hub=ground.hub,
    )
    return Feature(
        name="custom models",
        service=service,
        operations=ModelRoutes(service).operations(),
        start=service.start,
        close=service.stop,
    )
