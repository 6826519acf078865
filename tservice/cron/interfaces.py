"""Interface of scheduled jobs for other features.

Changes are published as C{cron:jobsChanged} C{{jobs}} (without a C{promptText} of more than
L{tservice.cron.responses.MAX_EVENT_PROMPT} characters), C{cron:jobDeleted} C{{id, at}},
C{cron:runCreated} and
C{cron:runUpdated}, whose payload is the run.
"""

from __future__ import annotations

from zope.interface import Interface

from tservice.core.callers.identity import Identity
from tservice.cron.model import CronJob, CronRun, RunStatus, RunTrigger

__all__ = ["CronJob", "CronRun", "ICron", "RunStatus", "RunTrigger"]


class ICron(Interface):
    """Scheduled jobs and their runs."""

    def list_jobs(caller: Identity) -> list[CronJob]:
        """Return the jobs that the caller may see, newest first."""

    def list_runs(caller: Identity) -> list[CronRun]:
        """Return the runs of the jobs that the caller may see, newest first."""
