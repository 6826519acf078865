"""Route for the git status of a case, which needs no session (protocol-git-status)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tservice.core.errors import ErrorCode
from tservice.core.identity import Identity
from tservice.git.readers import GitReaders
from tservice.git.routes import GitStatusAnswer, StatusQuery
from tservice.git.service import GitWorkspace
from tservice.http.operations import AccessRule, Operation, OperationCall, Scope


class CaseGitRoutes:
    """Route for the git status of a case.

    @param workspace_of: returns the folder of a caller's case; raises a C{ServiceError} 404 without
        one.
    """

    def __init__(
        self, git: GitReaders, workspace_of: Callable[[str, Identity], Awaitable[GitWorkspace]]
    ) -> None:
        self._git = git
        self._workspace_of = workspace_of

    def operations(self) -> list[Operation]:
        """Return the operations."""
        return [
            Operation(
                method="GET",
                path="/api/cases/{name}/git-status",
                access=AccessRule.USER,
                scope=Scope.GIT,
                handler=self.status,
                summary="Git status of a case's folder; reads only, and offline",
                tag="Git",
                query=StatusQuery,
                response_model=GitStatusAnswer,
                errors=(ErrorCode.NOT_FOUND, ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED),
            )
        ]

    async def status(self, call: OperationCall) -> GitStatusAnswer:
        """Return the repositories of the case and their states, read with the caller's rights."""
        workspace = await self._workspace_of(call.path["name"], call.identity)
        found = await self._git.status(workspace, call.query.options())
        return GitStatusAnswer.model_validate(found)
