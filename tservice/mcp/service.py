"""Service that adds the MCP servers of each CLI to the configurations of the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from attrs import evolve
from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from tservice.clis.interfaces import CliEntry, ICliRegistry
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_conflict_error
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.shared_work import SharedWork
from tservice.core.locations.location import OWN_LOCATION
from tservice.core.workers.worker_pool import IThreads
from tservice.mcp.config_files import McpConfigLocation, find_config_files, list_unsupported_agents
from tservice.mcp.locked_files import FileLocked, find_lock_folder
from tservice.mcp.model import SharedServers, TargetStatus
from tservice.mcp.responses import SyncAnswer, to_target_response
from tservice.mcp.survey import SyncSurvey, SyncTarget, remove_old_locks, survey_files, write_target
from tservice.settings.interfaces import ISettings

LOCK_TRIES = 50
LOCK_PAUSE = 0.1
"""Seconds between two attempts to lock a file that another service writes. C{LOCK_TRIES} is the
number of attempts.
"""


class McpSyncService:
    """Service that previews and runs syncs.

    Concurrent previews share their result, and only one sync runs at a time. Both continue if the
    client disconnects.
    """

    def __init__(
        self,
        *,
        clock: IReactorTime,
        threads: IThreads,
        clis: ICliRegistry,
        settings: ISettings,
        hub: EventHub,
        home: Path,
        environ: Mapping[str, str],
    ) -> None:
        """Create the service.

        @param home: home folder of the service's user.
        @param environ: environment with the CLIs' own variables for folders, and the user's runtime
            folder.
        """
        self._clock = clock
        self._threads = threads
        self._clis = clis
        self._settings = settings
        self._hub = hub
        self._home = home
        self._environ = environ
        self._survey: SharedWork[SyncAnswer] | None = None
        self._syncing: SharedWork[SyncAnswer] | None = None
        self._stopping = False

    def require_enabled(self) -> None:
        """Check that the settings enable the sync. Call this before any other check of a request.

        @raise ServiceError: 403 while the sync is turned off.
        """
        if not self._settings.get().mcp_sync_enabled:
            raise ServiceError(
                ErrorCode.FORBIDDEN, "the setting mcpSyncEnabled is off; turn it on first"
            )

    async def preview_sync(self, caller: Identity) -> SyncAnswer:
        """Return the changes that a sync would make (protocol-mcp-sync). Nothing is written.

        @raise ServiceError: 403 for an account with an OS user.
        """
        _refuse_os_user(caller)
        if self._survey is None or self._survey.is_finished:
            self._survey = SharedWork(self._run_preview())
        return await self._survey.wait_for_result()

    async def run_sync(self, caller: Caller) -> SyncAnswer:
        """Add each server to the CLIs that lack it, and publish the result.

        @param caller: authorized again before anything is written.
        @raise ServiceError: 403 for an account with an OS user; 409 while another sync runs.
        """
        _refuse_os_user(caller)
        if self._syncing is not None and not self._syncing.is_finished:
            raise make_conflict_error("an MCP sync is running already")
        self._syncing = SharedWork(self._write_all(caller))
        return await self._syncing.wait_for_result()

    def stop(self) -> Deferred[None]:
        """Stop a running sync after the current file. The Deferred fires once no file is being
        written.
        """
        self._stopping = True
        return succeed(None) if self._syncing is None else self._syncing.finished

    async def _run_preview(self) -> SyncAnswer:
        found: SyncSurvey = await self._threads.run(
            partial(survey_files, self._find_config_files())
        )
        return self._build_response(found.targets, found.offer, applied=False)

    async def _write_all(self, caller: Caller) -> SyncAnswer:
        found: SyncSurvey = await self._threads.run(
            partial(_survey_and_remove_old_locks, self._find_config_files())
        )
        caller.reauthorize()
        done = [await self._write_target(target, found.offer) for target in found.targets]
        result = self._build_response(done, found.offer, applied=True)
        self._hub.publish(Event(name=EventName.MCP_SYNCED, payload=result))
        return result

    async def _write_target(self, target: SyncTarget, offer: SharedServers) -> SyncTarget:
        if not target.added:
            return target
        for _ in range(LOCK_TRIES):
            if self._stopping:
                break
            try:
                work = partial(_write_target_with_lock, target, offer, self._environ)
                done: SyncTarget = await self._threads.run(work)
            except FileLocked:
                await deferLater(self._clock, LOCK_PAUSE)
            else:
                return done
        reason = "the service stops" if self._stopping else "another service is writing it"
        return evolve(target, status=TargetStatus.FAILED, error=reason, added=(), skipped=())

    def _find_config_files(self) -> tuple[McpConfigLocation, ...]:
        return find_config_files(
            self._clis.list_entries(), self._home, self._environ, self._is_installed
        )

    def _is_installed(self, entry: CliEntry) -> bool:
        return self._clis.find_binary(entry) is not None

    def _build_response(
        self,
        targets: list[SyncTarget] | tuple[SyncTarget, ...],
        offer: SharedServers,
        *,
        applied: bool,
    ) -> SyncAnswer:
        return SyncAnswer(
            applied=applied,
            targets=[to_target_response(target) for target in targets],
            conflicts=[*offer.conflicts],
            disabled=[*offer.disabled],
            unsupported=[*list_unsupported_agents(self._clis.list_entries(), self._is_installed)],
        )


def _survey_and_remove_old_locks(places: Iterable[McpConfigLocation]) -> SyncSurvey:
    found = survey_files(places)
    remove_old_locks(found.targets)
    return found


def _write_target_with_lock(
    target: SyncTarget, offer: SharedServers, environ: Mapping[str, str]
) -> SyncTarget:
    return write_target(target, offer.servers, find_lock_folder(environ))


def _refuse_os_user(caller: Identity) -> None:
    """Refuse an account that has an OS user.

    The files belong to the service's user, but the account's agents run as the OS user.

    @raise ServiceError: 403 for such an account.
    """
    if caller.location_id != OWN_LOCATION:
        raise ServiceError(
            ErrorCode.FORBIDDEN, "MCP sync is available only for accounts without an OS user"
        )
