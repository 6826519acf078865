"""What C{/api/cases} answers (protocol-cases)."""

from __future__ import annotations

from tservice.cases.shown import AgentCase, CaseAnswer
from tservice.http.models import Answer


class OneCase(Answer):
    """A case that was made."""

    case: CaseAnswer


class CloneAnswer(Answer):
    """What came of a clone; no text holds credentials."""

    case: CaseAnswer
    repository: str
    ref: str | None
    warnings: list[str]


class CaseOrderAnswer(Answer):
    """The order that holds now."""

    order: list[str]


class AgentCasesAnswer(Answer):
    """The newest first."""

    cases: list[AgentCase]


class FolderAnswer(Answer):
    """A folder inside of another."""

    name: str
    path: str
    is_repository: bool


class BrowseAnswer(Answer):
    """The folders in a folder."""

    path: str
    parent: str | None
    folders: list[FolderAnswer]
    truncated: bool
