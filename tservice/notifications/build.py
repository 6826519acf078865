"""Assembly of the notices."""

from __future__ import annotations

from tservice.http.operation_decorator import collect_operations
from tservice.notifications.routes import NoticeRoutes
from tservice.notifications.snoozes import SnoozeService
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.service import SessionService


def build_notices(
    ground: Runtime, *, sessions: SessionService
) -> FeatureRegistration[SnoozeService]:
    """Build the pauses of notices.  Register it before the features that send notices."""
    snoozes = SnoozeService(ground.reactor, ground.hub, sessions, ground.time_zone)
    return FeatureRegistration(
        name="notices",
        service=snoozes,
        operations=collect_operations(NoticeRoutes(snoozes)),
        start=snoozes.start,
        close=snoozes.stop,
    )
