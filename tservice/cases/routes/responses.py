"""Responses of C{/api/cases} (protocol-cases)."""

from __future__ import annotations

from pydantic import Field

from tservice.cases.responses import AgentCaseResponse, CaseResponse
from tservice.core.payload import omit_if_none
from tservice.http.models import ResponseModel


class CaseEnvelope(ResponseModel):
    """A case that was made."""

    case: CaseResponse


class WorktreeCreatedResponse(ResponseModel):
    """A case on a new worktree, and what it lacks."""

    case: CaseResponse
    warnings: list[str] = Field(description="What was left out, in sentences")


class PrepareResponse(ResponseModel):
    """What fetches that which a case lacks."""

    session_id: str | None = omit_if_none(description="The shell that runs the commands")
    commands: list[str] = Field(description="Empty where nothing is lacking")


class CloneResponse(ResponseModel):
    """What came of a clone; no text holds credentials."""

    case: CaseResponse
    repository: str
    ref: str | None
    warnings: list[str]


class CaseOrderResponse(ResponseModel):
    """The order that holds now."""

    order: list[str]


class AgentCaseListResponse(ResponseModel):
    """The newest first."""

    cases: list[AgentCaseResponse]


class BrowsedFolderResponse(ResponseModel):
    """A folder inside of another."""

    name: str
    path: str
    is_repository: bool


class BrowseResponse(ResponseModel):
    """The folders in a folder."""

    path: str
    parent: str | None
    folders: list[BrowsedFolderResponse]
    truncated: bool
