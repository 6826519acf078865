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
from tservice.core.kernel.errors import make_conflict_error
from tservice.core.process.clock_alarm import make_alarm
from tservice.cron.job_registry import JobRegistry
from tservice.cron.keep_going.driver import KeepGoingDriver
from tservice.cron.keep_going.service import KeepGoingService
from tservice.cron.model import CronRun
from tservice.cron.routes import CronRoutes
from tservice.cron.rules import JobRules
from tservice.cron.runner import JobRunner, JobRunnerDependencies
from tservice.cron.scheduler import JobScheduler
from tservice.cron.service import CronDependencies, CronService
from tservice.cron.store import CronStore
from tservice.cron.timed_runs.routes import TimedRunRoutes
from tservice.cron.timed_runs.service import TimedRunService
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
    alarm = partial(make_alarm, ground.reactor)
    driver = KeepGoingDriver(
        ground.reactor, sessions, agents, partial(_check_run_owner, book, rules, identity)
    )
    keep_going = KeepGoingService(ground.reactor, book, driver, alarm)
    tools = JobRunnerDependencies(
        clock=ground.reactor,
        book=book,
        rules=rules,
        sessions=sessions,
        agents=agents,
        keep_going=keep_going,
        threads=ground.worker_pools.files,
        audit=audit,
        identity=identity,
        places=ground.locations,
    )
    runner = JobRunner(tools)
    new_id = partial(_new_id, ground.random)
    cron = CronService(
        CronDependencies(
            clock=ground.reactor,
            hub=ground.hub,
            book=book,
            runner=runner,
            keep_going=keep_going,
            scheduler=JobScheduler(ground.reactor, book, runner, ground.time_zone, new_id, alarm),
            rules=rules,
            zone=ground.time_zone,
            new_id=new_id,
            identity=identity,
            known=lambda owner: accounts is not None and accounts.account_exists(owner),
            multiuser=ground.config.multiuser,
        )
    )
    return _register_feature(cron, TimedRunService(cron, sessions, clis.check_prompt))


def _register_feature(
    cron: CronService, timed_runs: TimedRunService
) -> FeatureRegistration[CronService]:
    return FeatureRegistration(
        name="cron",
        service=cron,
        operations=(
            *collect_operations(CronRoutes(cron)),
            *collect_operations(TimedRunRoutes(timed_runs)),
        ),
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
        MetricSource(
            "timed_runs",
            "Stored runs that keep going, or did so.",
            cron.count_keep_going_runs,
            ("status",),
        ),
    ]


def _check_run_owner(
    book: JobRegistry,
    rules: JobRules,
    identity: Callable[[str | None], Identity | None],
    run: CronRun,
) -> None:
    """Fail if the owner of a run's job is gone or disabled, or may not type its prompt any more.

    @raise ServiceError: 403 or 409.
    """
    job = book.find_job(run.job_id)
    if job is None:
        raise make_conflict_error("its job was deleted")
    owner = identity(job.owner)
    if owner is None:
        raise make_conflict_error(f"the account {job.owner} is gone or disabled")
    rules.check_grant(job.definition, owner)


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
