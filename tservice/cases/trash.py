"""Sweeper that removes folders from the trash when they are due (protocol-cases)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from tservice.cases.case_folders import remove_tree
from tservice.cases.store import CaseStore, ScheduledRemoval
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.workers.worker_pool import WorkerPool

RETENTION_MS = 7 * 24 * 3600 * 1000
"""Milliseconds for which a removed case is kept in the trash (protocol-cases)."""
SWEEP_SECONDS = 3600.0
"""Seconds between two sweeps."""
MAX_PER_SWEEP = 100
"""Maximum number of folders removed in one sweep.

The others wait for the next one.
"""
SECONDS = 600.0
"""Time limit in seconds of the removal of one folder, which is retried in a later sweep."""


class TrashSweeper:
    """Removes expired folders from the trash once an hour.

    Folders are removed one after another, each as the OS user of its location.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        store: CaseStore,
        files: WorkerPool,
        places: LocationRegistry,
        in_use: Callable[[str], bool],
    ) -> None:
        """@param in_use: returns true if a running clone still uses the folder at a path."""
        self._clock = clock
        self._store = store
        self._files = files
        self._places = places
        self._in_use = in_use
        self._timer: IDelayedCall | None = None
        self._sweeping: Deferred[None] | None = None
        self._stopped = False

    def start(self) -> None:
        """Sweep the trash now, and every hour from now on."""
        self._timer = None
        self._sweeping = spawn_logged(
            self._remove_due_folders(), self._log, "the sweep of the trash"
        )
        self._sweeping.addCallback(self._schedule_sweep)

    def stop(self) -> Deferred[None]:
        """Start no further removal.  The result fires after the current removal is done."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        return succeed(None) if self._sweeping is None else self._sweeping

    def _schedule_sweep(self, swept: None) -> None:
        self._sweeping = None
        if not self._stopped:
            self._timer = self._clock.callLater(SWEEP_SECONDS, self.start)

    async def _remove_due_folders(self) -> None:
        for doomed in self._store.list_due_removals(get_unix_ms(self._clock), MAX_PER_SWEEP):
            if self._stopped:
                return
            if not self._in_use(doomed.path):
                await self._remove_folder(doomed)

    async def _remove_folder(self, doomed: ScheduledRemoval) -> None:
        try:
            await self._places.refresh_location(doomed.place)
            place = self._places.find_earlier_location(doomed.place)
            work = partial(place.run_file_work, partial(remove_tree, doomed.path))
            await self._files.run(work, "trash", SECONDS)
        except (OSError, ServiceError) as error:
            self._log.warn("{path} is not removed yet: {error}", path=doomed.path, error=error)
            self._store.postpone_removal(
                doomed.path, get_unix_ms(self._clock) + int(SWEEP_SECONDS * 1000)
            )
        else:
            self._store.cancel_removal(doomed.path)
