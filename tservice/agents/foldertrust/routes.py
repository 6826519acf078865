"""Route that previews the question that a new session would raise about its folder
(protocol-trust).
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tservice.agents.foldertrust.preview import FolderTrustAnswer, FolderTrustPreview
from tservice.core.errors import ErrorCode
from tservice.http.models import QueryParameters
from tservice.http.operations import AccessRule, Operation, OperationCall, Scope


class FolderQuery(QueryParameters):
    """Description of a new session, with parameters named as in C{POST /api/sessions}."""

    mode: Annotated[str, Field(max_length=64)]
    case_name: Annotated[str, Field(max_length=128)] | None = None
    working_dir: Annotated[str, Field(max_length=4096)] | None = None


def build_folder_operations(folders: FolderTrustPreview) -> list[Operation]:
    """Return the operations at C{/api/folder-trust}."""

    async def handle_preview(call: OperationCall) -> FolderTrustAnswer:
        query: FolderQuery = call.query
        return await folders.preview_question(
            query.mode, query.case_name, query.working_dir, call.identity
        )

    return [
        Operation(
            method="GET",
            path="/api/folder-trust",
            access=AccessRule.USER,
            scope=Scope.SESSIONS_MANAGE,
            handler=handle_preview,
            summary=(
                "List the files in a new session's folder that can make its agent run something"
            ),
            tag="Sessions",
            query=FolderQuery,
            response_model=FolderTrustAnswer,
            errors=(ErrorCode.FORBIDDEN, ErrorCode.NOT_FOUND, ErrorCode.OPERATION_FAILED),
        )
    ]
