"""Assembly of the webhook feature."""

from __future__ import annotations

import socket
from collections.abc import Callable

from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.events import Event
from tservice.core.net.outbound import OutboundClient
from tservice.http.metrics import make_gauge
from tservice.http.operation_decorator import collect_operations
from tservice.notify.account_webhooks import AccountWebhooks, FindPolicy, MakeSender
from tservice.notify.config_file import WebhookConfigFile
from tservice.notify.outbox import WebhookOutbox
from tservice.notify.routes import WebhookRoutes
from tservice.notify.sender import RequestSender, WebhookSender
from tservice.notify.service import MessageNames, WebhookService
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions


def build_account_webhooks(
    ground: Runtime,
    *,
    policy: FindPolicy,
    make_sender: MakeSender | None = None,
) -> FeatureRegistration[AccountWebhooks]:
    """Build the webhooks of accounts.  Their rules open them, and start removes what is left over.

    @param policy: returns the rules for an account's requests to a port.
    @param make_sender: makes the sender of requests; C{None} means L{OutboundClient}.
    """
    webhooks = AccountWebhooks(
        clock=ground.reactor,
        database=ground.database,
        redactor=ground.redactor,
        policy=policy,
        make_sender=make_sender or (lambda rules: OutboundClient(ground.reactor, rules)),
    )
    return FeatureRegistration(
        name="account webhooks", service=webhooks, start=webhooks.start, close=webhooks.stop
    )


def build_webhooks(
    ground: Runtime,
    *,
    sessions: ISessions,
    may_announce: Callable[[Event], bool] = lambda event: True,
    host_name: str | None = None,
    post: RequestSender | None = None,
) -> FeatureRegistration[WebhookService]:
    """Build the webhook, which listens to events and sends messages after its start.

    @param may_announce: returns false for an event whose session is snoozed.
    @param host_name: host name in messages if the settings have no C{displayName}; C{None} means
        the machine's own name.
    @param post: sender of HTTP requests; C{None} means an L{OutboundClient} with address checks.
    """
    host = host_name or socket.gethostname()

    def find_session_name(session_id: str) -> str | None:
        try:
            return str(sessions.get(session_id).name)
        except ServiceError:
            return None

    service = WebhookService(
        clock=ground.reactor,
        hub=ground.hub,
        notices=ground.notices,
        file=WebhookConfigFile(ground.config.data_dir),
        outbox=WebhookOutbox(ground.database),
        sender=WebhookSender(ground.reactor, post or OutboundClient(ground.reactor)),
        words=MessageNames(
            host=lambda: ground.settings.get().display_name or host, session_name=find_session_name
        ),
        redactor=ground.redactor,
        may_announce=may_announce,
    )
    waiting = make_gauge("webhook_waiting", "Messages waiting for delivery.", service.count_waiting)
    return FeatureRegistration(
        name="webhooks",
        service=service,
        operations=collect_operations(WebhookRoutes(service)),
        measures=[waiting],
        start=service.start,
        close=service.stop,
    )
