"""Route that previews the question that a new session would raise about its folder
(protocol-trust).
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tservice.agents.foldertrust.preview import FolderTrustAnswer, FolderTrustPreview
from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import MANAGES_FOLDERS
from tservice.http.operation_decorator import operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.http.validation.models import QueryParameters


class FolderQuery(QueryParameters):
    """Description of a new session, with parameters named as in C{POST /api/sessions}."""

    mode: Annotated[str, Field(max_length=64)]
    case_name: Annotated[str, Field(max_length=128)] | None = None
    working_dir: Annotated[str, Field(max_length=4096)] | None = None


class FolderTrustRoutes:
    """Route C{/api/folder-trust}."""

    def __init__(self, folders: FolderTrustPreview) -> None:
        self._folders = folders

    @operation(
        "GET",
        "/api/folder-trust",
        tag="Sessions",
        access=AccessRule.USER,
        scope=Scope.SESSIONS_MANAGE,
        scope_reason=MANAGES_FOLDERS,
        errors=(ErrorCode.FORBIDDEN, ErrorCode.NOT_FOUND, ErrorCode.OPERATION_FAILED),
    )
    async def preview_folder(self, call: OperationCall, query: FolderQuery) -> FolderTrustAnswer:
        """List the files in a new session's folder that can make its agent run something."""
        return await self._folders.preview_question(
            query.mode, query.case_name, query.working_dir, call.caller
        )
