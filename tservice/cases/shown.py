"""Cases on the wire (protocol-cases)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tservice.cases.model import Case, CaseLocation, Marker
from tservice.core.event_payloads import CasePayload
from tservice.core.payload import Payload, omit_if_false, omit_if_none


class WorktreeAnswer(Payload):
    """What a worktree comes from."""

    repository: str = Field(description="The folder of the case whose repository it is")
    branch: str


class CloningAnswer(Payload):
    """How far a clone is."""

    phase: str
    percent: int | None


class FarCase(Payload):
    """Where a case is on a remote host."""

    host_id: str
    path: str


class CaseContainerAnswer(Payload):
    """The container that a case's sessions live in."""

    host_id: str
    engine: str
    name: str
    workdir: str = Field(description="Where the case's folder is inside")
    warnings: list[str] | None = omit_if_none(description="What is not as it was asked for")


class CaseAnswer(CasePayload):
    """A case.

    C{unreachable} when its folder is gone, closed or does not answer; C{agent_created} when an
    agent had it made.
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
    worktree: WorktreeAnswer | None = omit_if_none()
    cloning: CloningAnswer | None = omit_if_none()
    remote: FarCase | None = omit_if_none()
    container: CaseContainerAnswer | None = omit_if_none()


class AgentCase(Payload):
    """A case that an agent had made."""

    name: str
    path: str
    created_at: int
    created_by: str
    parent_session_id: str | None = omit_if_none()
    in_use: bool


def case_answer(case: Case) -> CaseAnswer:
    """Return the wire form of a case."""
    worktree, cloning = case.worktree, case.cloning
    return CaseAnswer(
        name=case.name,
        path=case.path,
        location=case.location.value,
        linked=case.linked,
        unreachable=case.unreachable,
        agent_created=case.marker is not None,
        description=case.description or None,
        created_at=case.created_at,
        has_instructions=case.has_instructions,
        live_sessions=case.live_sessions,
        remote=FarCase(host_id=case.far.name, path=case.path)
        if case.far is not None and case.location is CaseLocation.REMOTE
        else None,
        worktree=None
        if worktree is None
        else WorktreeAnswer(repository=worktree.repository, branch=worktree.branch),
        cloning=None
        if cloning is None
        else CloningAnswer(phase=cloning.phase, percent=cloning.percent),
        container=_container(case),
    )


def _container(case: Case) -> CaseContainerAnswer | None:
    found = case.container
    if found is None:
        return None
    return CaseContainerAnswer(
        host_id=found.host_id,
        engine=found.engine,
        name=found.name,
        workdir=found.workdir,
        warnings=list(found.warnings) or None,
    )


def agent_case(case: Case, marker: Marker) -> AgentCase:
    """Return the wire form of a case with its marker."""
    return AgentCase(
        name=case.name,
        path=case.path,
        created_at=marker.created_at,
        created_by=marker.created_by,
        parent_session_id=marker.parent_session_id,
        in_use=case.live_sessions > 0,
    )
