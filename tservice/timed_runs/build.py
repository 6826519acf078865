"""Assembly of timed runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tservice.access.interfaces import IAccounts
from tservice.agents.interfaces import IAgents
from tservice.clis.interfaces import ICliRegistry
from tservice.core.callers.identity import Identity
from tservice.core.process.clock_alarm import make_alarm
from tservice.http.metrics import MetricSource
from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions
from tservice.timed_runs.driver import TimedRunDriver
from tservice.timed_runs.routes import TimedRunRoutes
from tservice.timed_runs.service import TimedRunDependencies, TimedRunService
from tservice.timed_runs.store import TimedRunStore


def build_timed_runs(
    ground: Runtime,
    *,
    sessions: ISessions,
    agents: IAgents,
    clis: ICliRegistry,
    accounts: IAccounts | None,
    identity: Callable[[str | None], Identity | None],
) -> FeatureRegistration[TimedRunService]:
    """Build the timed runs.  Unfinished runs continue when the feature starts.

    @param accounts: accounts that own runs; C{None} in single-user mode.
    @param identity: returns the current account of an owner; C{None} if the account is gone or
        disabled.
    """
    runs = TimedRunService(
        TimedRunDependencies(
            clock=ground.reactor,
            hub=ground.hub,
            store=TimedRunStore(ground.database),
            sessions=sessions,
            driver=TimedRunDriver(ground.reactor, sessions, agents, identity),
            make_alarm=partial(make_alarm, ground.reactor),
            new_id=lambda: ground.random(8).hex(),
            known=lambda owner: accounts is not None and accounts.account_exists(owner),
            multiuser=ground.config.multiuser,
            check_prompt=clis.check_prompt,
        )
    )
    return FeatureRegistration(
        name="timed runs",
        service=runs,
        operations=collect_operations(TimedRunRoutes(runs)),
        measures=[
            MetricSource("timed_runs", "Stored timed runs.", runs.count_by_status, ("status",))
        ],
        start=runs.start,
        close=runs.stop,
    )
