"""Wire form of cases (protocol-cases)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tservice.cases.model import AgentMarker, Case, CaseLocation
from tservice.core.kernel.event_payloads import CasePayload
from tservice.core.values.payload import Payload, omit_if_false, omit_if_none


class WorktreeResponse(Payload):
    """Origin of a worktree."""

    repository: str = Field(description="The folder of the case whose repository it is")
    branch: str


class CloneStatusResponse(Payload):
    """Progress of a clone."""

    phase: str
    percent: int | None


class RemoteCaseResponse(Payload):
    """Location of a case on a remote host."""

    host_id: str
    path: str


class CaseContainerResponse(Payload):
    """Container in which a case's sessions run."""

    host_id: str
    engine: str
    name: str
    workdir: str = Field(description="Path of the case's folder inside the container")
    warnings: list[str] | None = omit_if_none(description="Differences from the requested settings")


class CaseResponse(CasePayload):
    """Case. C{unreachable} is true if its folder is missing, unreadable or does not respond.
    C{agent_created} is true if an agent created it.
    """

    path: str
    location: Literal["local", "linked", "remote", "container"]
    linked: bool
    unreachable: bool = omit_if_false()
    agent_created: bool = omit_if_false()
    description: str | None = omit_if_none()
    created_at: int | None = omit_if_none()
    has_instructions: bool
    live_sessions: int
    worktree: WorktreeResponse | None = omit_if_none()
    cloning: CloneStatusResponse | None = omit_if_none()
    remote: RemoteCaseResponse | None = omit_if_none()
    container: CaseContainerResponse | None = omit_if_none()


class AgentCaseResponse(Payload):
    """Case that an agent created."""

    name: str
    path: str
    created_at: int
    created_by: str
    parent_session_id: str | None = omit_if_none()
    in_use: bool


def make_case_response(case: Case) -> CaseResponse:
    """Return the wire form of a case."""
    worktree, cloning = case.worktree, case.cloning
    return CaseResponse(
        name=case.name,
        path=case.path,
        location=case.location.value,
        linked=case.is_linked,
        unreachable=case.unreachable,
        agent_created=case.marker is not None,
        description=case.description or None,
        created_at=case.created_at,
        has_instructions=case.has_instructions,
        live_sessions=case.live_sessions,
        remote=RemoteCaseResponse(host_id=case.far.name, path=case.path)
        if case.far is not None and case.location is CaseLocation.REMOTE
        else None,
        worktree=None
        if worktree is None
        else WorktreeResponse(repository=worktree.repository, branch=worktree.branch),
        cloning=None
        if cloning is None
        else CloneStatusResponse(phase=cloning.phase, percent=cloning.percent),
        container=_make_container_response(case),
    )


def _make_container_response(case: Case) -> CaseContainerResponse | None:
    found = case.container
    if found is None:
        return None
    return CaseContainerResponse(
        host_id=found.host_id,
        engine=found.engine,
        name=found.name,
        workdir=found.workdir,
        warnings=list(found.warnings) or None,
    )


def make_agent_response(case: Case, marker: AgentMarker) -> AgentCaseResponse:
    """Return the wire form of a case with the marker of its agent."""
    return AgentCaseResponse(
        name=case.name,
        path=case.path,
        created_at=marker.created_at,
        created_by=marker.created_by,
        parent_session_id=marker.parent_session_id,
        in_use=case.live_sessions > 0,
    )
