"""Assembly of the cases feature."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tservice.cases.case_operations import CaseOperations, CaseOperationsDependencies
from tservice.cases.case_order import CaseOrderStore
from tservice.cases.catalogue import CaseCatalogue
from tservice.cases.clones import CaseCloner
from tservice.cases.interfaces import CaseContainers, NoContainers, WorkspaceHookWriter
from tservice.cases.preparation import CasePreparer
from tservice.cases.publichosts import restrict_to_public_hosts
from tservice.cases.removal import CaseRemover
from tservice.cases.repository_search import RepositoryFinder
from tservice.cases.routes.case_routes import CaseRoutes
from tservice.cases.service import CaseService
from tservice.cases.store import CaseStore
from tservice.cases.trash import TrashSweeper
from tservice.cases.workspaces import WorkspaceFolders
from tservice.cases.worktrees import CaseWorktreeMaker
from tservice.core.locations.location import LocationId
from tservice.git.interfaces import CloneSource, IGitWork
from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions


def build_cases(
    ground: Runtime,
    *,
    git: IGitWork,
    hooks: WorkspaceHookWriter,
    sessions: Callable[[], ISessions],
    containers: CaseContainers | None = None,
) -> FeatureRegistration[CaseService]:
    """Build the cases feature.

    Stopping it cancels clones and waits for all running changes.

    @param sessions: returns the sessions.  It is not called before the first request, because
        sessions are built after the cases.
    """
    config, store = ground.config, CaseStore(ground.database)

    def describe_case(place: LocationId) -> str | None:
        name = store.find_case_at(place)
        return None if name is None else f"the case {name}"

    ground.locations.register_usage_check(describe_case)
    desk, orders = (
        _make_operations(ground, store, hooks),
        CaseOrderStore(store, ground.settings, config.multiuser),
    )

    def restrict_source(source: CloneSource, account: str) -> Awaitable[CloneSource]:
        return restrict_to_public_hosts(source, ground.reactor.nameResolver, account)

    clones = CaseCloner(desk, git, restrict_source)
    boxes = containers or NoContainers()
    catalogue = CaseCatalogue(desk, clones, orders, sessions, boxes)
    service = CaseService(
        desk=desk,
        catalogue=catalogue,
        clones=clones,
        worktrees=CaseWorktreeMaker(desk, catalogue, git),
        removal=CaseRemover(desk, catalogue, git, boxes),
        containers=boxes,
        preparer=CasePreparer(desk, catalogue, git, sessions),
        orders=orders,
        trash=TrashSweeper(
            clock=ground.reactor,
            store=store,
            files=ground.worker_pools.files,
            places=ground.locations,
            in_use=clones.is_in_use,
        ),
    )
    return FeatureRegistration(
        name="cases",
        service=service,
        operations=collect_operations(CaseRoutes(service, RepositoryFinder(desk))),
        on_account_removed=store.delete_stale_orders,
        start=service.start,
        close=service.stop,
    )


def _make_operations(
    ground: Runtime, store: CaseStore, hooks: WorkspaceHookWriter
) -> CaseOperations:
    workspaces = WorkspaceFolders(
        cases_dir=ground.config.cases_dir,
        data_dir=ground.config.data_dir,
        home=ground.home,
        folder_of=ground.workspace_bounds.get_case_folder,
        multiuser=ground.config.multiuser,
        places=ground.locations,
    )
    return CaseOperations(
        CaseOperationsDependencies(
            clock=ground.reactor,
            hub=ground.hub,
            store=store,
            workspaces=workspaces,
            reach=ground.reachability,
            files=ground.worker_pools.files,
            hooks=hooks,
        )
    )
