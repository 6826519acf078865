"""What stands around the sessions, put together."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable

from attrs import frozen

from tservice.access.interfaces import IAccounts
from tservice.clis.build import Clis
from tservice.core.stack import Closing, ServiceStack
from tservice.core.threads import IThreads
from tservice.doctor.build import Doctor, build_doctor
from tservice.git.build import Git, build_git
from tservice.http.operations import Operation
from tservice.notify.build import Webhooks, build_webhooks
from tservice.sessions.service import SessionService
from tservice.settings.service import SettingsService
from tservice.store.database import Database
from tservice.tap.access import Ground
from tservice.tap.base import Base
from tservice.tap.push import wire_push


@frozen(kw_only=True)
class Features:
    """What they answer, and what is to begin once the sessions are open."""

    operations: list[Operation]
    start: Callable[[], None]


def wire_features(
    ground: Ground,
    accounts: IAccounts | None,
    settings: SettingsService,
    clis: Clis,
    stack: ServiceStack,
) -> Features:
    """Everything that stands around the sessions."""
    base, database, sessions = ground.base, ground.database, ground.sessions
    webhooks = wire_webhooks(base, database, settings, sessions, stack)
    return Features(
        operations=[
            *wire_git(base, ground.threads, sessions, stack).operations(),
            *webhooks.operations(),
            *wire_doctor(base, clis, stack).operations(),
            *wire_push(base, database, settings, ground.threads, sessions, accounts, stack),
        ],
        start=webhooks.start,
    )


def wire_git(base: Base, threads: IThreads, sessions: SessionService, stack: ServiceStack) -> Git:
    """Git at a glance; a stop ends the git processes that run."""
    git = build_git(
        clock=base.reactor,
        processes=base.reactor,
        in_thread=threads.run,
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


def wire_doctor(base: Base, clis: Clis, stack: ServiceStack) -> Doctor:
    """What the host has of the tools that the service works with."""
    doctor = build_doctor(
        clock=base.reactor,
        processes=base.reactor,
        environ=base.environ,
        home=base.home,
        clis=clis.registry,
    )
    Closing("doctor", doctor.stop).setServiceParent(stack)
    return doctor
