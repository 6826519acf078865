"""Responses of C{/api/cases} (protocol-cases)."""

from __future__ import annotations

from pydantic import Field

from tservice.cases.responses import AgentCaseResponse, CaseResponse
from tservice.core.values.payload import omit_if_none
from tservice.http.validation.models import ResponseModel


class CaseEnvelope(ResponseModel):
    """Response with a case."""

    case: CaseResponse


class WorktreeCreatedResponse(ResponseModel):
    """Case on a new worktree, and the parts that the worktree lacks."""

    case: CaseResponse
    warnings: list[str] = Field(description="Parts that were left out, as sentences")


class PrepareResponse(ResponseModel):
    """Session whose shell fetches the parts that a case lacks."""

    session_id: str | None = omit_if_none(description="The shell that runs the commands")
    commands: list[str] = Field(description="Empty if nothing is missing")


class CloneResponse(ResponseModel):
    """Result of a clone. No text contains credentials."""

    case: CaseResponse
    repository: str
    ref: str | None
    warnings: list[str]


class CaseOrderResponse(ResponseModel):
    """Current order of the cases."""

    order: list[str]


class AgentCaseListResponse(ResponseModel):
    """Cases that agents created, newest first."""

    cases: list[AgentCaseResponse]


class BrowsedFolderResponse(ResponseModel):
    """Folder inside another folder."""

    name: str
    path: str
    is_repository: bool


class FoundRepositoryResponse(ResponseModel):
    """Repository near the top of the home folder; C{used_at} is in Unix milliseconds."""

    name: str
    path: str
    used_at: int


class RepositoryListResponse(ResponseModel):
    """Repositories that were found, the ones used last first."""

    repositories: list[FoundRepositoryResponse]


class BrowseResponse(ResponseModel):
    """Folders inside a folder."""

    path: str
    is_repository: bool
    parent: str | None
    folders: list[BrowsedFolderResponse]
    truncated: bool
