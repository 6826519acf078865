"""Scheduled jobs, put together."""

from __future__ import annotations

import os

from tservice.access.interfaces import IAccounts
from tservice.agents.inbox_build import local_zone
from tservice.agents.interfaces import IAgents
from tservice.clis.build import Clis
from tservice.core.identity import Identity
from tservice.core.stack import Closing, ServiceStack
from tservice.cron.build import Surroundings, build_cron
from tservice.cron.service import CronService
from tservice.sessions.life.workspaces import Workspaces
from tservice.tap.access import Ground


def wire_cron(
    ground: Ground,
    accounts: IAccounts | None,
    agents: IAgents,
    clis: Clis,
    stack: ServiceStack,
) -> CronService:
    """Scheduled jobs; not started yet."""
    base, config = ground.base, ground.base.config
    workspaces = Workspaces(
        cases_dir=config.cases_dir,
        home=base.home,
        multiuser=config.multiuser,
        os_users=base.os_users.for_sessions(),
    )

    def identity(owner: str | None) -> Identity | None:
        """Without accounts there is one user, whose jobs all of them are."""
        if not config.multiuser:
            return Identity(username=config.username, admin=True)
        return None if accounts is None or owner is None else accounts.identity(owner)

    cron = build_cron(
        Surroundings(
            reactor=base.reactor,
            database=ground.database,
            hub=base.hub,
            sessions=ground.sessions,
            agents=agents,
            clis=clis.registry,
            threads=ground.doors.files,
            audit=ground.audit,
            zone=local_zone(base.environ),
            random_bytes=os.urandom,
            folder=workspaces.folder,
            data_dir=config.data_dir,
            cases_dir=config.cases_dir,
            identity=identity,
            known=lambda owner: accounts is not None and accounts.known(owner),
            multiuser=config.multiuser,
            os_users=base.os_users.users,
            reach=ground.reach,
        )
    )
    Closing("cron", cron.stop).setServiceParent(stack)
    return cron
