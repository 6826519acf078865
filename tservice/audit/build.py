"""The audit log, put together."""

from __future__ import annotations

from tservice.audit.routes import AuditRoutes
from tservice.audit.service import open_audit_log
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground


def build_audit(ground: Ground) -> Feature[AuditRoutes]:
    """The audit log; a stop writes what is being added up.

    @raise StartError: its key is not one of ours, or open to others.
    """
    log = open_audit_log(ground.config.data_dir, ground.database, ground.reactor, ground.random)
    routes = AuditRoutes(log)
    return Feature(
        name="audit log",
        service=routes,
        operations=routes.operations(),
        close=log.close,
    )
