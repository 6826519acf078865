"""Assembly of Web Push."""

from __future__ import annotations

from collections.abc import Callable

from tservice.access.interfaces import IAccounts
from tservice.access.passwords.failures import FailureCounter, LockoutEvent
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.events import Event
from tservice.core.net.egress import PUBLIC_ONLY
from tservice.core.net.outbound import OutboundClient
from tservice.http.operation_decorator import collect_operations
from tservice.push.keys import load_push_key
from tservice.push.routes import PushRoutes
from tservice.push.service import PushService
from tservice.push.store import PushSubscriptionStore
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.service import SessionService


def build_push(
    ground: Runtime,
    *,
    sessions: SessionService,
    accounts: IAccounts | None,
    failures: FailureCounter,
    may_announce: Callable[[Event], bool],
) -> FeatureRegistration[PushService]:
    """Build Web Push, which sends messages to closed pages, and the operations to subscribe to
    them.

    @param may_announce: returns false for an event whose session is snoozed.
    @raise StartError: the key file is not valid, or other users can access it.
    """

    def find_session_name(session_id: str) -> str | None:
        try:
            return sessions.get(session_id).name
        except ServiceError:
            return None

    def is_active(username: str) -> bool:
        return accounts is not None and accounts.find_identity(username) is not None

    def is_admin(username: str) -> bool:
        known = None if accounts is None else accounts.find_identity(username)
        return known is not None and known.admin

    push = PushService(
        clock=ground.reactor,
        hub=ground.notices,
        settings=ground.settings,
        store=PushSubscriptionStore(ground.database),
        threads=ground.worker_pools.hashing,
        send=OutboundClient(ground.reactor, PUBLIC_ONLY).send,
        key=load_push_key(ground.config.data_dir, ground.random),
        name_of=find_session_name,
        active=is_active if ground.config.multiuser else None,
        is_admin=is_admin,
        may_announce=may_announce,
    )

    def handle_lockout(lockout: LockoutEvent) -> None:
        push.send_lockout(lockout.value if lockout.kind == "username" else None)

    failures.add_lockout_observer(handle_lockout)
    return FeatureRegistration(
        name="push",
        service=push,
        operations=collect_operations(PushRoutes(push)),
        # A disabled account gets no messages either, so the store is cleaned by C{is_active}.
        on_account_removed=lambda known: push.delete_inactive_owners(),
        start=push.startService,
        close=push.stopService,
    )
