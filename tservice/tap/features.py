"""What stands around the sessions, put together."""

from __future__ import annotations

import os
import socket

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
from tservice.tap.base import Base


def wire_looks(
    base: Base, threads: IThreads, clis: Clis, sessions: SessionService, stack: ServiceStack
) -> list[Operation]:
    """The routes of what only looks: at repositories, and at this host."""
    git = wire_git(base, threads, sessions, stack)
    return [*git.operations(), *wire_doctor(base, clis, stack).operations()]


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
    """Which programs this host has; a stop ends what is looking."""
    doctor = build_doctor(
        clock=base.reactor,
        processes=base.reactor,
        environ=base.environ,
        home=base.home,
        clis=clis.registry,
    )
    Closing("doctor", doctor.stop).setServiceParent(stack)
    return doctor
