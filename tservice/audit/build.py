"""The audit log, put together."""

from __future__ import annotations

from attrs import frozen

from tservice.audit.routes import AuditRoutes
from tservice.audit.service import AuditLog, open_audit_log
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground


@frozen(kw_only=True)
class AuditTrail:
    """The log, and the ears through which it hears of requests."""

    log: AuditLog
    routes: AuditRoutes


def build_audit(ground: Ground) -> Feature[AuditTrail]:
    """The audit log; a stop writes what is being added up.

    @raise StartError: its key is not one of ours, or open to others.
    """
    log = open_audit_log(ground.config.data_dir, ground.database, ground.reactor, ground.random)
    routes = AuditRoutes(log)
    return Feature(
        name="audit log",
        service=AuditTrail(log=log, routes=routes),
        operations=routes.operations(),
        close=log.close,
    )
