"""Putting scheduled jobs together from what the program hands in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from functools import partial
from pathlib import Path
from typing import Any

from attrs import field, frozen

from tservice.agents.interfaces import IAgents
from tservice.audit.interfaces import IAuditLog
from tservice.clis.interfaces import ICliRegistry
from tservice.core.alarm import make_alarm
from tservice.core.doors.reach import IReach, NoReach
from tservice.core.doors.threads import IThreads
from tservice.core.events import EventHub
from tservice.core.identity import Identity
from tservice.core.users.osuser import OsUsers
from tservice.cron.book import JobBook
from tservice.cron.rules import JobRules
from tservice.cron.runner import Hands, Runner
from tservice.cron.scheduler import Scheduler
from tservice.cron.service import CronService, Parts
from tservice.cron.store import CronStore
from tservice.sessions.interfaces import ISessions
from tservice.store.database import Database


@frozen(kw_only=True)
class Surroundings:
    """What scheduled jobs live on.

    @ivar reactor: for time, and for the kernel's word of a clock that is set where it watches
        descriptors.
    @ivar zone: what C{HH:MM} is told in.
    @ivar random_bytes: for ids.
    @ivar folder, data_dir, cases_dir: see L{JobRules}.
    @ivar os_users, reach: see L{Hands}.
    @ivar identity, known, multiuser: see L{Parts}.
    """

    reactor: Any
    database: Database
    hub: EventHub
    sessions: ISessions
    agents: IAgents
    clis: ICliRegistry
    threads: IThreads
    audit: IAuditLog
    zone: tzinfo
    random_bytes: Callable[[int], bytes]
    folder: Callable[[str, Identity], str]
    data_dir: Path
    cases_dir: Path
    identity: Callable[[str | None], Identity | None]
    known: Callable[[str], bool]
    multiuser: bool
    os_users: OsUsers = field(factory=OsUsers)
    reach: IReach = field(factory=NoReach)


def build_cron(around: Surroundings) -> CronService:
    """Scheduled jobs, not started yet: that is to wait until the sessions are open."""
    book = JobBook(around.reactor, CronStore(around.database), around.hub)
    rules = JobRules(
        clis=around.clis,
        folder=around.folder,
        data_dir=around.data_dir,
        cases_dir=around.cases_dir,
    )
    runner = Runner(
        Hands(
            clock=around.reactor,
            book=book,
            rules=rules,
            sessions=around.sessions,
            agents=around.agents,
            threads=around.threads,
            audit=around.audit,
            identity=around.identity,
            os_users=around.os_users,
            reach=around.reach,
        )
    )
    scheduler = Scheduler(
        around.reactor,
        book,
        runner,
        around.zone,
        partial(_new_id, around.random_bytes),
        partial(make_alarm, around.reactor),
    )
    return CronService(
        Parts(
            clock=around.reactor,
            hub=around.hub,
            book=book,
            runner=runner,
            scheduler=scheduler,
            rules=rules,
            zone=around.zone,
            new_id=partial(_new_id, around.random_bytes),
            identity=around.identity,
            known=around.known,
            multiuser=around.multiuser,
            reach=around.reach,
        )
    )


def _new_id(random_bytes: Callable[[int], bytes]) -> str:
    return random_bytes(8).hex()
