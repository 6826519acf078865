"""Assembly of the restoration after a reboot."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tservice.clis.interfaces import ICliRegistry
from tservice.core.callers.identity import Identity
from tservice.http.operation_decorator import collect_operations
from tservice.restore.rebuilder import ProcessCaps, SessionRestorer
from tservice.restore.recollection import RestoreOfferRegistry
from tservice.restore.routes import RestoreRoutes
from tservice.restore.scrollback import ScrollbackFolder
from tservice.restore.scrollback_saver import ScrollbackSaver
from tservice.restore.service import RestoreService
from tservice.restore.store import RestoreStore
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import IConversations, ISessions


def build_offer_registry(ground: Runtime, *, clis: ICliRegistry) -> RestoreOfferRegistry:
    """Build the registry of the sessions that a reboot ended.

    Sessions are looked up in it before running processes are adopted.
    """
    return RestoreOfferRegistry(
        clock=ground.reactor,
        store=RestoreStore(ground.database),
        boot_id_file=ground.config.boot_id_file,
        folder=make_scrollback_folder(ground),
        threads=ground.worker_pools.files,
        clis=clis,
        zone=ground.time_zone,
    )


def build_restore(
    ground: Runtime,
    *,
    recollection: RestoreOfferRegistry,
    sessions: ISessions,
    clis: ICliRegistry,
    conversations: IConversations,
    identity: Callable[[str | None], Identity | None],
    folder: Callable[[str, Identity], Awaitable[object]],
) -> FeatureRegistration[RestoreService]:
    """Build the feature that restores sessions after a reboot, and saves scrollbacks.

    @param conversations: finds the conversation that an agent continues.
    @param identity: see L{RestoreService}.
    @param folder: see L{SessionRestorer}.
    """
    config = ground.config
    rebuilder = SessionRestorer(
        clock=ground.reactor,
        sessions=sessions,
        clis=clis,
        hub=ground.hub,
        reach=ground.reachability,
        folder=folder,
        caps=ProcessCaps(total=config.max_sessions, per_user=config.max_sessions_per_user),
    )
    saver = ScrollbackSaver(
        ground.reactor,
        sessions,
        ground.hub,
        ground.settings,
        ground.worker_pools.files,
        make_scrollback_folder(ground),
        recollection.is_offered,
    )
    service = RestoreService(
        clock=ground.reactor,
        hub=ground.hub,
        settings=ground.settings,
        sessions=sessions,
        recollection=recollection,
        rebuilder=rebuilder,
        saver=saver,
        conversations=conversations,
        identity=identity,
        multiuser=config.multiuser,
    )
    return FeatureRegistration(
        name="restore",
        service=service,
        operations=collect_operations(RestoreRoutes(service)),
        start=service.start,
        close=service.stop,
    )


def make_scrollback_folder(ground: Runtime) -> ScrollbackFolder:
    """Return the folder of saved scrollbacks."""
    return ScrollbackFolder(ground.config.data_dir / "scrollback")
