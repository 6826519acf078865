"""Cases: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from tservice.client.calling import Calling, quoted


class AgentCase(TypedDict):
    """A case that an agent had made."""

    name: str
    path: str
    createdAt: int
    createdBy: str
    parentSessionId: NotRequired[str]
    inUse: bool


class AgentCasesAnswer(TypedDict):
    """The newest first."""

    cases: list[AgentCase]


class BrowseAnswer(TypedDict):
    """The folders in a folder."""

    path: str
    parent: str | None
    folders: list[FolderAnswer]
    truncated: bool


class CaseAnswer(TypedDict):
    """A case. C{unreachable} when its folder is gone, closed or does not answer;
    C{agent_created} when an agent had it made.
    """

    name: str
    path: str
    location: Literal["local", "linked", "remote", "container"]
    linked: bool
    unreachable: NotRequired[bool]
    agentCreated: NotRequired[bool]
    description: NotRequired[str]
    createdAt: NotRequired[int]
    hasInstructions: bool
    liveSessions: int
    worktree: NotRequired[WorktreeAnswer]
    cloning: NotRequired[CloningAnswer]
    remote: NotRequired[FarCase]
    container: NotRequired[CaseContainerAnswer]


class CaseContainerAnswer(TypedDict):
    """The container that a case's sessions live in."""

    hostId: str
    engine: str
    name: str
    workdir: str
    warnings: NotRequired[list[str]]


class CaseOrderAnswer(TypedDict):
    """The order that holds now."""

    order: list[str]


class CaseOrderBody(TypedDict):
    """Names of cases in their new order."""

    order: list[str]


class CloneAnswer(TypedDict):
    """What came of a clone; no text holds credentials."""

    case: CaseAnswer
    repository: str
    ref: str | None
    warnings: list[str]


class CloneCaseBody(TypedDict):
    """A repository elsewhere."""

    name: str
    repository: str
    ref: NotRequired[str | None]
    shallow: NotRequired[bool | None]
    description: NotRequired[str | None]


class CloningAnswer(TypedDict):
    """How far a clone is."""

    phase: str
    percent: int | None


class CreateCaseBody(TypedDict):
    """A new case; with C{path} in a folder of one's own choice."""

    name: str
    description: NotRequired[str | None]
    path: NotRequired[str | None]


class CreateContainerBody(TypedDict):
    """A new case, with a container by the host C{default} or by settings of its own."""

    name: str
    description: NotRequired[str | None]
    image: NotRequired[str | None]
    network: NotRequired[str | None]
    memory: NotRequired[str | None]
    cpus: NotRequired[float | None]
    mountCredentials: NotRequired[Literal["copy"] | bool | None]


class FarCase(TypedDict):
    """Where a case is on a remote host."""

    hostId: str
    path: str


class FolderAnswer(TypedDict):
    """A folder inside of another."""

    name: str
    path: str
    isRepository: bool


class LinkCaseBody(TypedDict):
    """A folder that is there, and what to call it."""

    name: str
    path: str


class LinkContainerBody(TypedDict):
    """A folder that is there, and whose engine makes the container for it."""

    name: str
    hostId: str
    workspacePath: str


class OneCase(TypedDict):
    """A case that was made."""

    case: CaseAnswer


class PrepareAnswer(TypedDict):
    """What fetches that which a case lacks."""

    sessionId: NotRequired[str]
    commands: list[str]


class RemoteLinkBody(TypedDict):
    """A folder of a remote host, and what to call it."""

    name: str
    hostId: str
    remotePath: str


class WorktreeAnswer(TypedDict):
    """What a worktree comes from."""

    repository: str
    branch: str


WorktreeBody = TypedDict("WorktreeBody", {"branch": "str", "from": "NotRequired[str | None]"})
"""A branch, and where it begins, should it be a new one."""


class WorktreeMade(TypedDict):
    """A case on a new worktree, and what it lacks."""

    case: CaseAnswer
    warnings: list[str]


class Cases(Calling):
    """Cases."""

    async def get_cases(self) -> list[CaseAnswer]:
        """The caller's cases, in their order."""
        found: list[CaseAnswer] = await self.call("GET", "/cases")
        return found

    async def post_cases(self, body: CreateCaseBody) -> OneCase:
        """Make a case and fill it for agents."""
        found: OneCase = await self.call("POST", "/cases", body=body)
        return found

    async def get_cases_agent_created(self) -> AgentCasesAnswer:
        """The cases that agents had made, newest first."""
        found: AgentCasesAnswer = await self.call("GET", "/cases/agent-created")
        return found

    async def get_cases_browse(
        self, *, path: str | None = None, showHidden: bool | None = None
    ) -> BrowseAnswer:
        """The folders in a folder, for a folder picker."""
        found: BrowseAnswer = await self.call(
            "GET", "/cases/browse", query={"path": path, "showHidden": showHidden}
        )
        return found

    async def get_cases_name(self, name: str) -> CaseAnswer:
        """One case."""
        found: CaseAnswer = await self.call("GET", f"/cases/{quoted(name)}")
        return found

    async def delete_cases_name(self, name: str, *, force: bool | None = None) -> dict[str, Any]:
        """Move a local case to the trash, remove a worktree, unlink any other."""
        found: dict[str, Any] = await self.call(
            "DELETE", f"/cases/{quoted(name)}", query={"force": force}
        )
        return found

    async def post_cases_link(self, body: LinkCaseBody) -> OneCase:
        """Make a case of a folder that is there."""
        found: OneCase = await self.call("POST", "/cases/link", body=body)
        return found

    async def post_cases_remote_link(self, body: RemoteLinkBody) -> OneCase:
        """Make a case of a folder on a remote host."""
        found: OneCase = await self.call("POST", "/cases/remote-link", body=body)
        return found

    async def post_cases_container_link(self, body: LinkContainerBody) -> OneCase:
        """Make a case of a folder that is there, whose sessions live in a container."""
        found: OneCase = await self.call("POST", "/cases/container-link", body=body)
        return found

    async def post_cases_container_create(self, body: CreateContainerBody) -> OneCase:
        """Make a case whose sessions live in a container."""
        found: OneCase = await self.call("POST", "/cases/container-create", body=body)
        return found

    async def post_cases_clone(self, body: CloneCaseBody) -> CloneAnswer:
        """Clone a repository into a new case."""
        found: CloneAnswer = await self.call("POST", "/cases/clone", body=body)
        return found

    async def post_cases_clone_name_cancel(self, name: str) -> dict[str, Any]:
        """End a clone that is under way."""
        found: dict[str, Any] = await self.call("POST", f"/cases/clone/{quoted(name)}/cancel")
        return found

    async def post_cases_name_worktree(self, name: str, body: WorktreeBody) -> WorktreeMade:
        """Make a case on a new worktree of this one's repository."""
        found: WorktreeMade = await self.call("POST", f"/cases/{quoted(name)}/worktree", body=body)
        return found

    async def post_cases_name_prepare(self, name: str) -> PrepareAnswer:
        """Fetch the submodules and files of Git LFS that a case lacks, in a shell."""
        found: PrepareAnswer = await self.call("POST", f"/cases/{quoted(name)}/prepare")
        return found

    async def put_cases_order(self, body: CaseOrderBody) -> CaseOrderAnswer:
        """Put the caller's cases into an order."""
        found: CaseOrderAnswer = await self.call("PUT", "/cases/order", body=body)
        return found
