"""Route for the git status of a case, which needs no session (protocol-git-status)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import READS_GIT
from tservice.git.readers import GitReaderRegistry
from tservice.git.routes import GitStatusQuery, GitStatusResponse
from tservice.git.service import GitWorkspace
from tservice.http.operation_decorator import operation
from tservice.http.operations import AccessRule, OperationCall, Scope


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

    @operation(
        "GET",
        "/api/cases/{name}/git-status",
        tag="Git",
        access=AccessRule.USER,
        scope=Scope.GIT,
        scope_reason=READS_GIT,
        errors=(ErrorCode.NOT_FOUND, ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED),
    )
    async def get_status(self, call: OperationCall, query: GitStatusQuery) -> GitStatusResponse:
        """Get the git status of a case's folder; read-only and offline."""
        workspace = await self._workspace_of(call.path["name"], call.caller)
        found = await self._git.get_status(workspace, query.to_options())
        return GitStatusResponse.model_validate(found)
