"""What stands around the sessions, put together."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from functools import partial

from attrs import frozen

from tservice.access.interfaces import IAccounts
from tservice.agents.interfaces import IAgents
from tservice.clis.build import Clis
from tservice.core.doors.threads import Door
from tservice.core.identity import Identity
from tservice.core.stack import Closing, ServiceStack
from tservice.cron.routes import CronRoutes
from tservice.doctor.build import Doctor, build_doctor
from tservice.doctor.model import Row
from tservice.git.build import Git, build_git
from tservice.http.metrics import Metrics
from tservice.http.operations import Operation
from tservice.notify.build import Webhooks, build_webhooks
from tservice.sessions.service import SessionService
from tservice.settings.service import SettingsService
from tservice.store.database import Database
from tservice.tap.access import Ground
from tservice.tap.base import Base
from tservice.tap.cron import wire_cron
from tservice.tap.health import ailments, measure_health
from tservice.tap.push import wire_push


@frozen(kw_only=True)
class Features:
    """What they answer, and what is to begin once the sessions are open.

    @ivar cron_jobs: how many scheduled jobs a caller may see.
    @ivar measure: adds what they count to the metrics.
    """

    operations: list[Operation]
    start: Callable[[], None]
    cron_jobs: Callable[[Identity], int]
    measure: Callable[[Metrics], None]


def wire_features(
    ground: Ground,
    accounts: IAccounts | None,
    settings: SettingsService,
    clis: Clis,
    agents: IAgents,
    stack: ServiceStack,
) -> Features:
    """Everything that stands around the sessions."""
    base, database, sessions = ground.base, ground.database, ground.sessions
    git = wire_git(base, ground.doors.files, sessions, stack)
    webhooks = wire_webhooks(base, database, settings, sessions, stack)
    doctor = wire_doctor(base, clis, partial(ailments, database, ground.doors), stack)
    cron = wire_cron(ground, accounts, agents, clis, stack)

    def start() -> None:
        # First, for it hears of runs that fail at once.
        webhooks.start()
        cron.start()
        ground.tunnel.keep(settings.get().tunnel_enabled)

    def measure(metrics: Metrics) -> None:
        measure_health(metrics, database, ground.doors)
        metrics.gauge("cron_jobs", "Scheduled jobs there are.", cron.job_counts, ["enabled"])
        metrics.gauge("cron_runs", "Runs of jobs that are kept.", cron.run_counts, ["status"])
        metrics.count("git_processes", "Git processes running.", lambda: git.runner.running)
        waiting = webhooks.service.waiting
        metrics.count("webhook_waiting", "Messages waiting for delivery.", waiting)
        children = doctor.service
        metrics.count("doctor_processes", "Doctor's children running.", lambda: children.running)

    return Features(
        operations=[
            *git.operations(),
            *webhooks.operations(),
            *doctor.operations(),
            *wire_push(base, database, settings, ground.doors.hashing, sessions, accounts, stack),
            *CronRoutes(cron).operations(),
        ],
        start=start,
        cron_jobs=lambda caller: len(cron.jobs(caller)),
        measure=measure,
    )


def wire_git(base: Base, threads: Door, sessions: SessionService, stack: ServiceStack) -> Git:
    """Git at a glance; a stop ends the git processes that run."""
    git = build_git(
        clock=base.reactor,
        processes=base.reactor,
        in_thread=lambda work: threads.run(work, "git"),
        environ=base.environ,
        home=base.home,
        euid=os.geteuid(),
        sessions=sessions,
        redactor=base.redactor,
        os_users=base.os_users.users,
    )
    Closing("git", git.stop).setServiceParent(stack)
    return git


def wire_webhooks(
    base: Base,
    database: Database,
    settings: SettingsService,
    sessions: SessionService,
    stack: ServiceStack,
) -> Webhooks:
    """Messages to elsewhere; not started yet."""
    webhooks = build_webhooks(
        reactor=base.reactor,
        database=database,
        hub=base.hub,
        settings=settings,
        sessions=lambda: sessions,
        data_dir=base.config.data_dir,
        host_name=socket.gethostname(),
        redactor=base.redactor,
    )
    Closing("webhooks", webhooks.stop).setServiceParent(stack)
    return webhooks


def wire_doctor(
    base: Base, clis: Clis, own: Callable[[], Sequence[Row]], stack: ServiceStack
) -> Doctor:
    """What the host has of the tools that the service works with.

    @param own: what ails the service itself.
    """
    doctor = build_doctor(
        clock=base.reactor,
        processes=base.reactor,
        environ=base.environ,
        home=base.home,
        clis=clis.registry,
        own=own,
    )
    Closing("doctor", doctor.stop).setServiceParent(stack)
    return doctor
