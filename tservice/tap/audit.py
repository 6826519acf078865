"""The audit log, put together."""

from __future__ import annotations

import os

from attrs import frozen

from tservice.audit.routes import AuditRoutes
from tservice.audit.service import AuditLog, open_audit_log
from tservice.core.stack import Closing, ServiceStack
from tservice.store.database import Database
from tservice.tap.base import Base


@frozen(kw_only=True)
class Audit:
    """The log, and its way out."""

    log: AuditLog
    routes: AuditRoutes


def wire_audit(base: Base, database: Database, stack: ServiceStack) -> Audit:
    """The audit log; a stop writes what is being added up.

    @raise StartError: its key is not one of ours, or open to others.
    """
    log = open_audit_log(base.config.data_dir, database, base.reactor, os.urandom)
    Closing("audit log", log.close).setServiceParent(stack)
    return Audit(log=log, routes=AuditRoutes(log))
