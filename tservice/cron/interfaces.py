"""Interface of scheduled jobs for other features.

Changes are published as C{cron:jobsChanged} C{{jobs}} (without a C{promptText} of more than
L{tservice.cron.shown.LONGEST} characters), C{cron:jobDeleted} C{{id, at}}, C{cron:runCreated} and
C{cron:runUpdated}, whose payload is the run.
"""

from __future__ import annotations

from zope.interface import Interface

from tservice.core.identity import Identity
from tservice.cron.model import Job, Run, RunStatus, Trigger

__all__ = ["ICron", "Job", "Run", "RunStatus", "Trigger"]


class ICron(Interface):
    """Scheduled jobs and their runs."""

    def jobs(caller: Identity) -> list[Job]:
        """Return the jobs that the caller may see, newest first."""

    def runs(caller: Identity) -> list[Run]:
        """Return their runs, newest first."""
