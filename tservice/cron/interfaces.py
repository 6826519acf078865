"""What other features know of scheduled jobs.

Changes are told by C{cron:jobsChanged} C{{jobs}} (a C{promptText} of more than
L{tservice.cron.book.SHOWN} characters is left out there), C{cron:jobDeleted} C{{id, at}},
C{cron:runCreated} and C{cron:runUpdated}, whose payload is the run.
"""

from __future__ import annotations

from zope.interface import Interface

from tservice.core.identity import Identity
from tservice.cron.model import Job, Run, RunStatus, Trigger

__all__ = ["ICron", "Job", "Run", "RunStatus", "Trigger"]


class ICron(Interface):
    """The jobs and their runs."""

    def jobs(caller: Identity) -> list[Job]:
        """The jobs that the caller may see, newest first."""

    def runs(caller: Identity) -> list[Run]:
        """Their runs, newest first."""
