"""Assembly of the scheduled jobs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tservice.access.interfaces import IAccounts
from tservice.agents.interfaces import IAgents
from tservice.audit.interfaces import IAuditLog
from tservice.cases.interfaces import ICases
from tservice.clis.interfaces import ICliRegistry
from tservice.core.callers.identity import Identity
from tservice.core.process.clock_alarm import make_alarm
from tservice.cron.job_registry import JobRegistry
from tservice.cron.routes import CronRoutes
from tservice.cron.rules import JobRules
from tservice.cron.runner import JobRunner, JobRunnerDependencies
from tservice.cron.scheduler import JobScheduler
from tservice.cron.service import CronDependencies, CronService
from tservice.cron.store import CronStore
from tservice.http.metrics import MetricSource
from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions


def build_cron(
    ground: Runtime,
    *,
    sessions: ISessions,
    agents: IAgents,
    clis: ICliRegistry,
    audit: IAuditLog,
    accounts: IAccounts | None,
    cases: ICases,
) -> FeatureRegistration[CronService]:
    """Build the scheduled jobs, which are run after the start.

    @param accounts: accounts that own jobs; C{None} in single-user mode.
    @param cases: folders in which jobs may work.
    """
    identity = make_account_finder(ground, accounts)
    book = JobRegistry(ground.reactor, CronStore(ground.database), ground.hub)
    rules = _make_rules(ground, clis, cases)
    tools = JobRunnerDependencies(
        clock=ground.reactor,
        book=book,
        rules=rules,
        sessions=sessions,
        agents=agents,
        threads=ground.worker_pools.files,
        audit=audit,
        identity=identity,
        places=ground.locations,
    )
    runner = JobRunner(tools)
    new_id = partial(_new_id, ground.random)
    alarm = partial(make_alarm, ground.reactor)
    cron = CronService(
        CronDependencies(
            clock=ground.reactor,
            hub=ground.hub,
            book=book,
            runner=runner,
            scheduler=JobScheduler(ground.reactor, book, runner, ground.time_zone, new_id, alarm),
            rules=rules,
            zone=ground.time_zone,
            new_id=new_id,
            identity=identity,
            known=lambda owner: accounts is not None and accounts.account_exists(owner),
            multiuser=ground.config.multiuser,
        )
    )
    return FeatureRegistration(
        name="cron",
        service=cron,
        operations=collect_operations(CronRoutes(cron)),
        measures=_make_job_metrics(cron),
        initial_state={"cronJobs": lambda caller: len(cron.list_jobs(caller))},
        start=cron.start,
        close=cron.stop,
    )


def _make_rules(ground: Runtime, clis: ICliRegistry, cases: ICases) -> JobRules:
    return JobRules(
        clis=clis,
        folder=cases.resolve_folder,
        case=cases.resolve_case,
        files=ground.worker_pools.files,
        data_dir=ground.config.data_dir,
        cases_dir=ground.config.cases_dir,
    )


def _make_job_metrics(cron: CronService) -> list[MetricSource]:
    return [
        MetricSource("cron_jobs", "Scheduled jobs.", cron.count_jobs, ("enabled",)),
        MetricSource("cron_runs", "Stored runs of jobs.", cron.count_runs, ("status",)),
    ]


def make_account_finder(
    ground: Runtime, accounts: IAccounts | None
) -> Callable[[str | None], Identity | None]:
    """Return a function that returns the current account of a job's owner.

    The function returns C{None} if the account no longer exists or is disabled.
    """
    config = ground.config

    def find_account(owner: str | None) -> Identity | None:
        if not config.multiuser:
            return Identity(username=config.username, admin=True)
        return None if accounts is None or owner is None else accounts.find_identity(owner)

    return find_account


def _new_id(random: Callable[[int], bytes]) -> str:
    return random(8).hex()
