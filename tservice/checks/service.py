"""Checks of cases: reading, saving, and finding those of a session (protocol-checks)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from twisted.internet.interfaces import IReactorTime

from tservice.cases.interfaces import ICases, ResolvedCase
from tservice.checks.model import (
    CaseChecks,
    Check,
    FailurePolicy,
    check_attempts,
    check_definitions,
)
from tservice.checks.store import CheckStore
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import AccountExists, Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.event_payloads import CaseRemovedPayload
from tservice.core.kernel.events import Event, EventName
from tservice.sessions.interfaces import Session

NEEDS_GRANT = (
    "checks: they are commands that run later, which needs the grant to bypass permissions"
)


class CaseCheckService:
    """Checks of cases.  Every error is a C{ServiceError}."""

    def __init__(
        self,
        *,
        clock: IReactorTime,
        store: CheckStore,
        cases: ICases,
        find_approved: Callable[[Session], CaseChecks | None],
    ) -> None:
        """@param find_approved: returns the checks of the approved file in a session's folder."""
        self._clock, self._store, self._cases = clock, store, cases
        self._find_approved = find_approved

    async def get_checks(self, name: str, caller: Identity) -> CaseChecks:
        """Return the checks of a case; an empty list if none were saved.

        @raise ServiceError: 404: the caller has no such case.
        """
        case = await self._resolve_case(name, caller)
        owner = self._cases.get_owner_name(caller) or ""
        found = self._store.find_checks(owner, case.name)
        return found or CaseChecks(owner=owner, case_name=case.name, path=case.path, checks=())

    async def save_checks(
        self,
        name: str,
        checks: Sequence[Check],
        on_failure: FailurePolicy,
        max_attempts: int,
        caller: Caller,
    ) -> CaseChecks:
        """Replace the checks of a case.

        @raise ServiceError: 400: a field breaks a rule; 403: the caller may not run commands; 404:
            there is no such case.
        """
        kept, attempts = check_definitions(checks), check_attempts(max_attempts)
        check_may_save(caller)
        case = await self._resolve_case(name, caller)
        caller.reauthorize()
        saved = CaseChecks(
            owner=self._cases.get_owner_name(caller) or "", case_name=case.name, path=case.path,
            checks=kept, on_failure=on_failure, max_attempts=attempts,
            updated_at=get_unix_ms(self._clock), updated_by=caller.username,
        )  # fmt: skip
        self._store.save_checks(saved)
        return saved

    def find_session_checks(self, session: Session) -> CaseChecks | None:
        """Return the checks of the case that a session works in; C{None} if there are none.

        A case without checks of its own has those of the approved file in the session's folder.
        """
        saved = [each for each in self._store.list_checks(session.owner or "") if each.checks]
        name = (session.case_name or "").casefold()
        for each in saved:
            if each.case_name.casefold() == name:
                return each
        above = [each for each in saved if _is_inside(session.working_dir, each.path)]
        if above:
            return max(above, key=lambda each: len(each.path))
        return self._find_approved(session)

    def delete_unknown_owners(self, exists: AccountExists) -> None:
        """Delete the checks of accounts that no longer exist."""
        for owner in self._store.list_owners():
            if owner and not exists(owner):
                self._store.delete_owner(owner)

    def handle_event(self, event: Event) -> None:
        """Delete the checks of a case that was removed."""
        if event.name is EventName.CASE_DELETED and isinstance(event.payload, CaseRemovedPayload):
            self._store.delete_checks(event.owner or "", event.payload.name)

    async def _resolve_case(self, name: str, caller: Identity) -> ResolvedCase:
        if caller.sessions is not None:
            await self._cases.check_visible(name, caller)
        return await self._cases.resolve_case(name, caller)


def check_may_save(caller: Caller) -> None:
    """Check that a caller may decide which commands run later.

    @raise ServiceError: 403: an agent's token, or an account without the grant.
    """
    # An agent's token never has the grant.
    if caller.parent is not None or not caller.can_bypass_permissions:
        raise ServiceError(ErrorCode.FORBIDDEN, NEEDS_GRANT)


def _is_inside(folder: str, case_path: str) -> bool:
    return folder == case_path or folder.startswith(f"{case_path}/")
