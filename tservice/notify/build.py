"""Putting the feature together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen
from twisted.internet.defer import Deferred

from tservice.core.errors import ServiceError
from tservice.core.events import EventHub
from tservice.core.logs.redact import Redactor
from tservice.core.net.outbound import Outbound
from tservice.notify.configfile import ConfigFile
from tservice.notify.outbox import Outbox
from tservice.notify.routes import WebhookRoutes
from tservice.notify.sender import IPost, Sender
from tservice.notify.service import WebhookService, Words
from tservice.sessions.interfaces import ISessions
from tservice.settings.interfaces import ISettings
from tservice.store.database import Database

if TYPE_CHECKING:
    from tservice.http.operations import Operation


@frozen(kw_only=True)
class Webhooks:
    """The parts.  C{start} belongs behind the sessions, C{stop} to the end of the program."""

    service: WebhookService
    routes: WebhookRoutes

    def operations(self) -> list[Operation]:
        """The routes, for the table."""
        return self.routes.operations()

    def start(self) -> None:
        """Begin to listen and to send."""
        self.service.start()

    def stop(self) -> Deferred[list[None]]:
        """End what is under way."""
        return self.service.stop()


def build_webhooks(
    *,
    reactor: Any,
    database: Database,
    hub: EventHub,
    settings: ISettings,
    sessions: Callable[[], ISessions],
    data_dir: Path,
    host_name: str,
    redactor: Redactor,
    post: IPost | None = None,
) -> Webhooks:
    """Make the feature.

    @param reactor: connects, resolves names and keeps time.
    @param host_name: for messages, where the settings give no C{displayName}.
    @param post: sends requests; a guarded L{Outbound} by default.
    """

    def session_name(session_id: str) -> str | None:
        try:
            return str(sessions().get(session_id).name)
        except ServiceError:
            return None

    service = WebhookService(
        clock=reactor,
        hub=hub,
        file=ConfigFile(data_dir),
        outbox=Outbox(database),
        sender=Sender(reactor, post or Outbound(reactor)),
        words=Words(
            host=lambda: settings.get().display_name or host_name, session_name=session_name
        ),
        redactor=redactor,
    )
    return Webhooks(service=service, routes=WebhookRoutes(service))
