"""Construction of the feature for checks."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred, gatherResults

from tservice.cases.interfaces import ICases
from tservice.checks.launch import CheckPlaces
from tservice.checks.publisher import CheckPublisher
from tservice.checks.repository_file.approval_store import FileApprovalStore
from tservice.checks.repository_file.file_routes import CheckFileRoutes, parse_check_file
from tservice.checks.repository_file.reading import CheckFileReader
from tservice.checks.repository_file.service import CheckFileService
from tservice.checks.routes import CheckRoutes
from tservice.checks.run_executor import CheckRunExecutor
from tservice.checks.runner import CheckRunner
from tservice.checks.service import CaseCheckService
from tservice.checks.store import CheckStore
from tservice.checks.supervisor import CheckSupervisor
from tservice.checks.workspace_state import WorkspaceStates
from tservice.core.callers.identity import AccountExists
from tservice.core.process.child import ChildRunner
from tservice.core.workers.thread_runners import make_location_runner, make_owner_runner
from tservice.git.interfaces import IWorkingCopies
from tservice.http.metrics import make_gauge
from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions


def build_checks(
    ground: Runtime, *, sessions: ISessions, cases: ICases, copies: IWorkingCopies
) -> FeatureRegistration[CheckSupervisor]:
    """Build the feature for checks.  Stopping it ends their processes."""
    clock, store = ground.reactor, CheckStore(ground.database)
    runner = CheckRunner(clock, ground.make_child_runner())
    readers = ground.make_child_runner()
    files = _build_files(ground, sessions, cases, readers)
    case_checks = CaseCheckService(
        clock=clock, store=store, cases=cases, find_approved=files.find_session_checks
    )
    publisher = CheckPublisher(ground.hub, sessions, store)
    places = CheckPlaces(
        sessions=sessions,
        locations=ground.locations,
        bounds=ground.workspace_bounds,
        in_location=make_location_runner(ground.worker_pools.files),
        check_file=files.check_unchanged,
    )
    executor = CheckRunExecutor(
        clock=clock,
        store=store,
        places=places,
        runner=runner,
        hide=ground.redactor.redact_text,
    )
    supervisor = CheckSupervisor(
        clock=clock,
        hub=ground.hub,
        gate=ground.notices,
        sessions=sessions,
        store=store,
        cases=case_checks,
        states=WorkspaceStates(copies),
        executor=executor,
        publisher=publisher,
        make_id=lambda: ground.random(8).hex(),
    )

    def delete_unknown_owners(exists: AccountExists) -> None:
        case_checks.delete_unknown_owners(exists)
        files.delete_unknown_owners(exists)

    def close() -> Deferred[Any]:
        return gatherResults([supervisor.stop(), readers.stop()])

    return FeatureRegistration(
        name="checks",
        service=supervisor,
        operations=[
            *collect_operations(CheckRoutes(case_checks, supervisor)),
            *collect_operations(CheckFileRoutes(files)),
        ],
        measures=[make_gauge("checks_running", "Running checks.", lambda: runner.running)],
        initial_state={"checks": publisher.describe_last_runs},
        on_account_removed=delete_unknown_owners,
        start=supervisor.start,
        close=close,
    )


def _build_files(
    ground: Runtime, sessions: ISessions, cases: ICases, readers: ChildRunner
) -> CheckFileService:
    reader = CheckFileReader(
        locations=ground.locations,
        bounds=ground.workspace_bounds,
        in_location=make_location_runner(ground.worker_pools.files),
        children=readers,
    )
    return CheckFileService(
        clock=ground.reactor,
        store=FileApprovalStore(ground.database),
        sessions=sessions,
        cases=cases,
        locations=ground.locations,
        reader=reader,
        in_thread=make_owner_runner(ground.worker_pools.files),
        parse=parse_check_file,
    )
