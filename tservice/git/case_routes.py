"""Route for the git status of a case, which needs no session (protocol-git-status)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tservice.core.errors import ErrorCode
from tservice.core.identity import Identity
from tservice.git.readers import GitReaderRegistry
from tservice.git.routes import GitStatusQuery, GitStatusResponse
from tservice.git.service import GitWorkspace
from tservice.http.operations import AccessRule, Operation, OperationCall, Scope


class CaseGitRoutes:
    """Route for the git status of a case.

    @param workspace_of: returns the workspace of a case that the caller may use; raises a
        C{ServiceError} 404 if there is no such case.
    """

    def __init__(
        self,
        git: GitReaderRegistry,
        workspace_of: Callable[[str, Identity], Awaitable[GitWorkspace]],
    ) -> None:
        self._git = git
        self._workspace_of = workspace_of

    def operations(self) -> list[Operation]:
        """Return the HTTP operations that this class handles."""
        return [
            Operation(
                method="GET",
                path="/api/cases/{name}/git-status",
                access=AccessRule.USER,
                scope=Scope.GIT,
                handler=self.get_status,
                summary="Get the git status of a case's folder; read-only and offline",
                tag="Git",
                query=GitStatusQuery,
                response_model=GitStatusResponse,
                errors=(ErrorCode.NOT_FOUND, ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED),
            )
        ]

    async def get_status(self, call: OperationCall) -> GitStatusResponse:
        """Return the repositories of the case and their states, read with the caller's rights."""
        workspace = await self._workspace_of(call.path["name"], call.identity)
        found = await self._git.get_status(workspace, call.query.to_options())
        return GitStatusResponse.model_validate(found)
