"""Responses of C{/api/cases} (protocol-cases)."""

from __future__ import annotations

from pydantic import Field

from tservice.cases.shown import AgentCase, CaseAnswer
from tservice.core.payload import omit_if_none
from tservice.http.models import ResponseModel


class OneCase(ResponseModel):
    """A case that was made."""

    case: CaseAnswer


class WorktreeMade(ResponseModel):
    """A case on a new worktree, and what it lacks."""

    case: CaseAnswer
    warnings: list[str] = Field(description="What was left out, in sentences")


class PrepareAnswer(ResponseModel):
    """What fetches that which a case lacks."""

    session_id: str | None = omit_if_none(description="The shell that runs the commands")
    commands: list[str] = Field(description="Empty where nothing is lacking")


class CloneAnswer(ResponseModel):
    """What came of a clone; no text holds credentials."""

    case: CaseAnswer
    repository: str
    ref: str | None
    warnings: list[str]


class CaseOrderAnswer(ResponseModel):
    """The order that holds now."""

    order: list[str]


class AgentCasesAnswer(ResponseModel):
    """The newest first."""

    cases: list[AgentCase]


class FolderAnswer(ResponseModel):
    """A folder inside of another."""

    name: str
    path: str
    is_repository: bool


class BrowseAnswer(ResponseModel):
    """The folders in a folder."""

    path: str
    parent: str | None
    folders: list[FolderAnswer]
    truncated: bool
