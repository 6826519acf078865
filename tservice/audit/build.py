"""Assembly of the audit log."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from tservice.audit.export import open_export
from tservice.audit.routes import AuditRoutes
from tservice.audit.service import AuditLog
from tservice.core.disk.files import remove_temporary_files
from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime

_CHAIN = ("audit-key", "audit-head")
"""Names of files of earlier releases, which kept a keyed hash of each entry."""


def build_audit(ground: Runtime) -> FeatureRegistration[AuditRoutes]:
    """Build the audit log; when it stops, it writes the sums that are still open.

    @raise StartError: the export file cannot be written.
    """
    _remove_chain_files(ground.config.data_dir)
    export = open_export(ground.config.audit_export)
    log = AuditLog(ground.database, ground.reactor, export)
    routes = AuditRoutes(log)
    return FeatureRegistration(
        name="audit log",
        service=routes,
        operations=collect_operations(routes),
        close=log.close,
    )


def _remove_chain_files(data_dir: Path) -> None:
    """Remove the files of earlier releases, which are no longer used."""
    remove_temporary_files(data_dir / _CHAIN[1])
    for name in _CHAIN:
        with suppress(OSError):  # on a read-only disk they stay, which is harmless
            (data_dir / name).unlink(missing_ok=True)
