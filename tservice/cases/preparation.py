"""Fetch the missing parts of a case, with the user's own git, in a visible session
(protocol-prepare).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from tservice.cases.case_operations import CaseOperations
from tservice.cases.catalogue import CaseCatalogue
from tservice.cases.model import NAME_LENGTH
from tservice.core.clock import sleep
from tservice.core.errors import operation_failed
from tservice.core.identity import Identity
from tservice.core.text import cut_between
from tservice.git.interfaces import IGitWork
from tservice.sessions.interfaces import CreateRequest, InputRequest, ISessions

SHELL_SECONDS = 1.0
"""Seconds between the start of a shell and its command: some shells lose earlier input."""


@frozen(kw_only=True)
class PreparationResult:
    """Result of preparing a case.

    @ivar session_id: the shell that runs the commands; C{None}: nothing is missing.
    @ivar commands: in their order.
    """

    session_id: str | None = None
    commands: Sequence[str] = ()


@frozen
class CasePreparer:
    """Opens a shell in the case and types the commands there."""

    _desk: CaseOperations
    _catalogue: CaseCatalogue
    _git: IGitWork
    _sessions: Callable[[], ISessions]

    async def prepare_case(
        self, name: str, caller: Identity, again: Callable[[], object]
    ) -> PreparationResult:
        """Fetch the files and submodules that the checkout of a case lacks.

        @param again: authorizes the caller again, before a shell is opened and before input is
            sent.
        @raise ServiceError: 404: no such case; 409: an operation on it runs; 422: it is not on this
            machine, or is no readable repository; as L{ISessions.create} and
            L{ISessions.send_input}.
        """
        case = await self._catalogue.get_case(name, caller)
        if case.container is not None or case.far is not None:
            where = "in a container" if case.far is None else "on another machine"
            raise operation_failed(f"the case {case.name} is {where}: run git in a session of it")
        self._desk.check_not_reserved(self._desk.get_owner(caller), case.name)
        workspaces = self._desk.workspaces
        place, owner = workspaces.get_location(caller), workspaces.get_owner(caller)
        lacking = await self._git.find_missing_parts(case.path, place, owner)
        if lacking.unknown is not None:
            raise operation_failed(f"the case {case.name} cannot be checked: {lacking.unknown}")
        if not lacking.fetch_commands:
            return PreparationResult()
        again()
        request = CreateRequest(
            mode="shell",
            case_name=case.name,
            name=cut_between(f"prepare {case.name}", NAME_LENGTH),
            start=True,
        )
        session = await self._sessions().create(request, caller, again)
        await sleep(self._desk.clock, SHELL_SECONDS)
        again()
        # Each command runs even if an earlier one failed: they fetch different things.
        text = "; ".join(lacking.fetch_commands)
        await self._sessions().send_input(
            session.id, InputRequest(text=text, use_mux=True, sender=caller)
        )
        return PreparationResult(session_id=session.id, commands=lacking.fetch_commands)
