"""Preparation of a case: fetch missing parts of its checkout (protocol-prepare).

The user's own git does this in a visible session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from tservice.cases.case_operations import CaseOperations
from tservice.cases.catalogue import CaseCatalogue
from tservice.cases.model import NAME_LENGTH
from tservice.core.callers.caller import Caller
from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.errors import make_failure_error
from tservice.core.values.text import cut_between_letters
from tservice.git.interfaces import IGitWork
from tservice.sessions.interfaces import CreateRequest, InputRequest, ISessions

SHELL_SECONDS = 1.0
"""Seconds between the start of a shell and its first input, because some shells lose earlier input.
"""


@frozen(kw_only=True)
class PreparationResult:
    """Result of preparing a case.

    @ivar session_id: session whose shell runs the commands; C{None} if nothing is missing.
    @ivar commands: the commands, in the order in which they are typed.
    """

    session_id: str | None = None
    commands: Sequence[str] = ()


@frozen
class CasePreparer:
    """Opens a shell session in a case and types commands that fetch missing parts."""

    _desk: CaseOperations
    _catalogue: CaseCatalogue
    _git: IGitWork
    _sessions: Callable[[], ISessions]

    async def prepare_case(self, name: str, caller: Caller) -> PreparationResult:
        """Fetch the files and submodules that the checkout of a case lacks.

        @param caller: authorized again before the shell is opened and before
            input is sent.
        @raise ServiceError: 404: there is no such case; 409: another operation on it is running;
            422: the case is not on this machine, or is no readable repository; otherwise as for
            L{ISessions.create} and L{ISessions.send_input}.
        """
        case = await self._catalogue.get_case(name, caller)
        if case.container is not None or case.far is not None:
            where = "in a container" if case.far is None else "on another machine"
            raise make_failure_error(f"the case {case.name} is {where}: run git in a session of it")
        self._desk.check_not_reserved(self._desk.get_owner(caller), case.name)
        workspaces = self._desk.workspaces
        place, owner = workspaces.get_location(caller), workspaces.get_owner(caller)
        lacking = await self._git.find_missing_parts(case.path, place, owner)
        if lacking.unknown is not None:
            raise make_failure_error(f"the case {case.name} cannot be checked: {lacking.unknown}")
        if not lacking.fetch_commands:
            return PreparationResult()
        caller.reauthorize()
        request = CreateRequest(
            mode="shell",
            case_name=case.name,
            name=cut_between_letters(f"prepare {case.name}", NAME_LENGTH),
            start=True,
        )
        session = await self._sessions().create(request, caller)
        await wait_seconds(self._desk.clock, SHELL_SECONDS)
        caller.reauthorize()
        # Each command runs even if an earlier one failed: they fetch different things.
        text = "; ".join(lacking.fetch_commands)
        await self._sessions().send_input(
            session.id, InputRequest(text=text, use_mux=True, sender=caller)
        )
        return PreparationResult(session_id=session.id, commands=lacking.fetch_commands)
