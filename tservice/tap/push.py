"""Web Push, put together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from tservice.access.interfaces import IAccounts
from tservice.core.doors.threads import IThreads
from tservice.core.errors import ServiceError
from tservice.core.net.egress import PUBLIC_ONLY
from tservice.core.net.outbound import Outbound
from tservice.core.stack import ServiceStack
from tservice.http.operations import Operation
from tservice.push.keys import push_key
from tservice.push.routes import PushRoutes
from tservice.push.service import PushService
from tservice.push.store import PushStore
from tservice.sessions.service import SessionService
from tservice.settings.service import SettingsService
from tservice.store.database import Database
from tservice.tap.base import Base


def wire_push(
    base: Base,
    database: Database,
    settings: SettingsService,
    threads: IThreads,
    sessions: SessionService,
    accounts: IAccounts | None,
    stack: ServiceStack,
) -> list[Operation]:
    """Word to closed pages; the routes by which they ask for it.

    @raise StartError: the file of the key is not one of ours, or open to others.
    """

    def describe(session_id: str) -> Mapping[str, Any] | None:
        try:
            return sessions.describe(session_id)
        except ServiceError:
            return None

    def active(username: str) -> bool:
        return accounts is not None and accounts.identity(username) is not None

    push = PushService(
        clock=base.reactor,
        hub=base.hub,
        settings=settings,
        store=PushStore(database),
        threads=threads,
        send=Outbound(base.reactor, PUBLIC_ONLY).send,
        key=push_key(base.config.data_dir, os.urandom),
        describe=describe,
        active=active if base.config.multiuser else None,
    )
    push.setServiceParent(stack)
    return PushRoutes(push).operations()
