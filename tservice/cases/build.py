"""Assembly of the cases feature."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tservice.cases.catalogue import Catalogue
from tservice.cases.clones import Clones
from tservice.cases.desk import Desk, DeskDependencies
from tservice.cases.interfaces import IContainers, NoContainers, WorkspaceHooks
from tservice.cases.orders import Orders
from tservice.cases.preparing import Preparer
from tservice.cases.publichosts import hold_to_public
from tservice.cases.removal import Removal
from tservice.cases.routes.table import CaseRoutes
from tservice.cases.service import CaseService
from tservice.cases.store import CaseStore
from tservice.cases.trash import Trash
from tservice.cases.workspaces import Workspaces
from tservice.cases.worktrees import CaseWorktrees
from tservice.core.places.location import LocationId
from tservice.git.interfaces import CloneSource, IGitWork
from tservice.ground.feature import Feature
from tservice.ground.ground import Ground
from tservice.sessions.interfaces import ISessions


def build_cases(
    ground: Ground,
    *,
    git: IGitWork,
    hooks: WorkspaceHooks,
    sessions: Callable[[], ISessions],
    containers: IContainers | None = None,
) -> Feature[CaseService]:
    """Build the cases feature; its stop cancels clones and waits for all changes.

    @param sessions: not called before the first request, since sessions are built after the cases.
    """
    config, store = ground.config, CaseStore(ground.database)

    def tenant(place: LocationId) -> str | None:
        name = store.at(place)
        return None if name is None else f"the case {name}"

    ground.places.register_usage_check(tenant)
    desk, orders = _desk(ground, store, hooks), Orders(store, ground.settings, config.multiuser)

    def hold(source: CloneSource, account: str) -> Awaitable[CloneSource]:
        return hold_to_public(source, ground.reactor.nameResolver, account)

    clones = Clones(desk, git, hold)
    boxes = containers or NoContainers()
    catalogue = Catalogue(desk, clones, orders, sessions, boxes)
    service = CaseService(
        desk=desk,
        catalogue=catalogue,
        clones=clones,
        worktrees=CaseWorktrees(desk, catalogue, git),
        removal=Removal(desk, catalogue, git, boxes),
        containers=boxes,
        preparer=Preparer(desk, catalogue, git, sessions),
        orders=orders,
        trash=Trash(
            clock=ground.reactor,
            store=store,
            files=ground.doors.files,
            places=ground.places,
            in_use=clones.in_use,
        ),
    )
    return Feature(
        name="cases",
        service=service,
        operations=CaseRoutes(service).operations(),
        forget=store.forget_orders,
        start=service.start,
        close=service.stop,
    )


def _desk(ground: Ground, store: CaseStore, hooks: WorkspaceHooks) -> Desk:
    workspaces = Workspaces(
        cases_dir=ground.config.cases_dir,
        data_dir=ground.config.data_dir,
        home=ground.home,
        folder_of=ground.bounds.folder_of,
        multiuser=ground.config.multiuser,
        places=ground.places,
    )
    return Desk(
        DeskDependencies(
            clock=ground.reactor,
            hub=ground.hub,
            store=store,
            workspaces=workspaces,
            reach=ground.reach,
            files=ground.doors.files,
            hooks=hooks,
        )
    )
