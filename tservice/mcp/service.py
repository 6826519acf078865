"""Service that adds to each CLI's configuration the MCP servers of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from attrs import evolve
from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from tservice.clis.interfaces import CliEntry, ICliRegistry
from tservice.core.doors.worker_pool import IThreads
from tservice.core.errors import ErrorCode, ServiceError, state_conflict
from tservice.core.events import Event, EventHub, EventName
from tservice.core.identity import Identity
from tservice.core.places.location import OWN_LOCATION
from tservice.core.shared_work import SharedWork
from tservice.mcp.discovery import McpFile, places, unsupported
from tservice.mcp.files import Busy, lock_folder
from tservice.mcp.model import SharedServers, TargetStatus
from tservice.mcp.shown import SyncAnswer, shown_target
from tservice.mcp.sync import Survey, Target, look, remove_old_locks, write
from tservice.settings.interfaces import ISettings

LOCK_TRIES = 50
LOCK_PAUSE = 0.1
"""Tries, and seconds between them, to lock a file that another service writes."""


class McpSyncService:
    """Service for surveys of the files, and for syncs.

    Concurrent previews share one survey; only one sync runs at a time.  Both continue if the client
    disconnects.
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

        @param home: home of the service's user.
        @param environ: contains the CLIs' own relocation variables and the runtime folder.
        """
        self._clock = clock
        self._threads = threads
        self._clis = clis
        self._settings = settings
        self._hub = hub
        self._home = home
        self._environ = environ
        self._looking: SharedWork[SyncAnswer] | None = None
        self._syncing: SharedWork[SyncAnswer] | None = None
        self._stopping = False

    def require_enabled(self) -> None:
        """Check that the feature is enabled, before any other check of a request.

        @raise ServiceError: 403 while the setting is off.
        """
        if not self._settings.get().mcp_sync_enabled:
            raise ServiceError(
                ErrorCode.FORBIDDEN, "the setting mcpSyncEnabled is off; turn it on first"
            )

    async def preview(self, caller: Identity) -> SyncAnswer:
        """Return what a sync would do (protocol-mcp-sync); nothing is written.

        @raise ServiceError: 403 for an account with an OS user.
        """
        _refuse_os_user(caller)
        if self._looking is None or self._looking.is_finished:
            self._looking = SharedWork(self._preview())
        return await self._looking.wait_for_result()

    async def sync(self, caller: Identity, again: Callable[[], object]) -> SyncAnswer:
        """Add each server to the CLIs that lack it, and publish the result.

        @param again: authorizes the caller again, before anything is written.
        @raise ServiceError: 403 for an account with an OS user; 409 while a sync runs.
        """
        _refuse_os_user(caller)
        if self._syncing is not None and not self._syncing.is_finished:
            raise state_conflict("an MCP sync is running already")
        self._syncing = SharedWork(self._sync(again))
        return await self._syncing.wait_for_result()

    def stop(self) -> Deferred[None]:
        """Stop; the Deferred fires once no file is being written."""
        self._stopping = True
        return succeed(None) if self._syncing is None else self._syncing.finished

    async def _preview(self) -> SyncAnswer:
        found: Survey = await self._threads.run(partial(look, self._places()))
        return self._shown(found.targets, found.offer, applied=False)

    async def _sync(self, again: Callable[[], object]) -> SyncAnswer:
        found: Survey = await self._threads.run(partial(_look_and_tidy, self._places()))
        again()
        done = [await self._write(target, found.offer) for target in found.targets]
        result = self._shown(done, found.offer, applied=True)
        self._hub.publish(Event(name=EventName.MCP_SYNCED, payload=result))
        return result

    async def _write(self, target: Target, offer: SharedServers) -> Target:
        if not target.added:
            return target
        for _ in range(LOCK_TRIES):
            if self._stopping:
                break
            try:
                work = partial(_write_locked, target, offer, self._environ)
                done: Target = await self._threads.run(work)
            except Busy:
                await deferLater(self._clock, LOCK_PAUSE)
            else:
                return done
        reason = "the service stops" if self._stopping else "another service is writing it"
        return evolve(target, status=TargetStatus.FAILED, error=reason, added=(), skipped=())

    def _places(self) -> tuple[McpFile, ...]:
        return places(self._clis.list_entries(), self._home, self._environ, self._installed)

    def _installed(self, entry: CliEntry) -> bool:
        return self._clis.find_binary(entry) is not None

    def _shown(
        self, targets: list[Target] | tuple[Target, ...], offer: SharedServers, *, applied: bool
    ) -> SyncAnswer:
        return SyncAnswer(
            applied=applied,
            targets=[shown_target(target) for target in targets],
            conflicts=[*offer.conflicts],
            disabled=[*offer.disabled],
            unsupported=[*unsupported(self._clis.list_entries(), self._installed)],
        )


def _look_and_tidy(places: Iterable[McpFile]) -> Survey:
    found = look(places)
    remove_old_locks(found.targets)
    return found


def _write_locked(target: Target, offer: SharedServers, environ: Mapping[str, str]) -> Target:
    return write(target, offer.servers, lock_folder(environ))


def _refuse_os_user(caller: Identity) -> None:
    """Refuse accounts with an OS user: the files belong to the service's user, whose agents they do
    not run.
    """
    if caller.location_id != OWN_LOCATION:
        raise ServiceError(
            ErrorCode.FORBIDDEN, "MCP sync is available only for accounts without an OS user"
        )
