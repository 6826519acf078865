"""Construction of the feature for checks."""

from __future__ import annotations

from tservice.cases.interfaces import ICases
from tservice.checks.launch import CheckPlaces
from tservice.checks.publisher import CheckPublisher
from tservice.checks.routes import CheckRoutes
from tservice.checks.run_executor import CheckRunExecutor
from tservice.checks.runner import CheckRunner
from tservice.checks.service import CaseCheckService
from tservice.checks.store import CheckStore
from tservice.checks.supervisor import CheckSupervisor
from tservice.checks.workspace_state import WorkspaceStates
from tservice.core.workers.thread_runners import make_location_runner
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
    case_checks = CaseCheckService(clock=clock, store=store, cases=cases)
    publisher = CheckPublisher(ground.hub, sessions, store)
    places = CheckPlaces(
        sessions=sessions,
        locations=ground.locations,
        bounds=ground.workspace_bounds,
        in_location=make_location_runner(ground.worker_pools.files),
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
    return FeatureRegistration(
        name="checks",
        service=supervisor,
        operations=collect_operations(CheckRoutes(case_checks, supervisor)),
        measures=[make_gauge("checks_running", "Running checks.", lambda: runner.running)],
        initial_state={"checks": publisher.describe_last_runs},
        on_account_removed=case_checks.delete_unknown_owners,
        start=supervisor.start,
        close=supervisor.stop,
    )
