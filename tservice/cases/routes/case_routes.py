"""Routes below C{/api/cases} (protocol-cases)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from attrs import asdict
from pydantic import Field, StringConstraints

from tservice.cases.clones import CaseCloneRequest
from tservice.cases.interfaces import CaseWorktreeRequest, ContainerSettings
from tservice.cases.model import (
    DESCRIPTION_LENGTH,
    MAX_CASES,
    NAME_LENGTH,
)
from tservice.cases.path_rules import PATH_LENGTH
from tservice.cases.repository_search import RepositoryFinder
from tservice.cases.responses import CaseResponse, make_agent_response, make_case_response
from tservice.cases.routes.responses import (
    AgentCaseListResponse,
    BrowsedFolderResponse,
    BrowseResponse,
    CaseEnvelope,
    CaseOrderResponse,
    CloneResponse,
    FoundRepositoryResponse,
    PrepareResponse,
    RepositoryListResponse,
    WorktreeCreatedResponse,
)
from tservice.cases.service import CaseService
from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.event_payloads import EmptyPayload
from tservice.core.kernel.scopes import MANAGES_FOLDERS
from tservice.core.locations.location import LocationId, LocationKind
from tservice.core.values.failfast import FAIL_FAST
from tservice.core.values.text import CASE_NAME
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.http.validation.models import QueryBool, QueryParameters, RequestBody

CaseName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+$", max_length=NAME_LENGTH)]
KnownName = Annotated[str, StringConstraints(pattern=f"^{CASE_NAME}$", max_length=NAME_LENGTH)]
"""Name of an existing case.

The name of a worktree contains its branch, which may have letters of any script.
"""
PathText = Annotated[str, StringConstraints(min_length=1, max_length=PATH_LENGTH)]
Description = Annotated[str, StringConstraints(max_length=DESCRIPTION_LENGTH)]
RefText = Annotated[str, StringConstraints(min_length=1, max_length=255)]

ShortText = Annotated[str, StringConstraints(min_length=1, max_length=255)]

_CREDENTIALS: dict[bool | str, str] = {True: "mounted", "copy": "copied", False: "none"}


class CreateCaseBody(RequestBody):
    """New case; C{path} chooses its folder."""

    name: CaseName
    description: Description | None = None
    path: PathText | None = None


class LinkCaseBody(RequestBody):
    """Existing folder, and the name of its case."""

    name: CaseName
    path: PathText


class RemoteLinkBody(RequestBody):
    """Folder on a remote host, and the name of its case."""

    name: CaseName
    host_id: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    remote_path: PathText


class LinkContainerBody(RequestBody):
    """Existing folder, and the container host whose engine makes the container for it."""

    name: CaseName
    host_id: ShortText
    workspace_path: PathText


class CreateContainerBody(RequestBody):
    """New case in a container, made by the host C{default} or with separate settings."""

    name: CaseName
    description: Description | None = None
    image: ShortText | None = None
    network: ShortText | None = None
    memory: ShortText | None = None
    cpus: float | None = None
    mount_credentials: Literal["copy"] | bool | None = None

    def to_settings(self) -> ContainerSettings:
        """Return the settings for the container of the new case."""
        how = self.mount_credentials
        return ContainerSettings(
            image=self.image,
            network=self.network,
            memory=self.memory,
            cpus=self.cpus,
            credentials=None if how is None else _CREDENTIALS[how],
        )


class CloneCaseBody(RequestBody):
    """Repository to clone."""

    name: CaseName
    repository: Annotated[str, StringConstraints(min_length=1, max_length=2048)]
    ref: RefText | None = None
    shallow: bool | None = None
    description: Description | None = None


class WorktreeBody(RequestBody):
    """Branch, and its starting point if the branch is new."""

    branch: RefText
    from_: Annotated[RefText | None, Field(alias="from")] = None

    def to_request(self, warn: Callable[[str], object]) -> CaseWorktreeRequest:
        """Return the body as a request for a worktree.

        @param warn: called with one sentence for each part that the new worktree lacks.
        """
        return CaseWorktreeRequest(branch=self.branch, start=self.from_, warn=warn)


class CaseOrderBody(RequestBody):
    """Names of cases in their new order."""

    order: Annotated[list[KnownName], Field(max_length=MAX_CASES), FAIL_FAST]


class DeleteCaseQuery(QueryParameters):
    """Query parameters of a removal; C{force=1} also removes work that was not saved elsewhere."""

    force: QueryBool = False


class BrowseQuery(QueryParameters):
    """Folder to list."""

    path: PathText | None = None
    show_hidden: QueryBool = False


_READS = OperationFields(
    tag="Cases",
    access=AccessRule.USER,
    scope=Scope.SESSIONS_READ,
    scope_reason=(
        "Reads the names of folders that sessions work in. A token limited to some "
        "sessions sees only their folders."
    ),
    errors=(ErrorCode.OPERATION_FAILED, ErrorCode.RATE_LIMITED),
)
_CHANGES = OperationFields(
    tag="Cases",
    access=AccessRule.USER,
    scope=Scope.SESSIONS_MANAGE,
    scope_reason=MANAGES_FOLDERS,
    errors=(
        ErrorCode.FORBIDDEN,
        ErrorCode.NOT_FOUND,
        ErrorCode.CONFLICT,
        ErrorCode.ALREADY_EXISTS,
        ErrorCode.OPERATION_FAILED,
        ErrorCode.RATE_LIMITED,
    ),
)


class CaseRoutes:
    """Routes of cases; the rules are in L{CaseService}."""

    def __init__(self, cases: CaseService, repositories: RepositoryFinder) -> None:
        self._cases, self._repositories = cases, repositories

    @operation("GET", "/api/cases", _READS)
    async def list_cases(self, call: OperationCall) -> list[CaseResponse]:
        """List your cases, in their order."""
        return [make_case_response(case) for case in await self._cases.list_cases(call.caller)]

    @operation("GET", "/api/cases/{name}", _READS, errors=(ErrorCode.NOT_FOUND,))
    async def get_case(self, call: OperationCall) -> CaseResponse:
        """Get a case."""
        return make_case_response(await self._cases.get_case(call.path["name"], call.caller))

    @operation("GET", "/api/cases/agent-created", _READS)
    async def list_agent_cases(self, call: OperationCall) -> AgentCaseListResponse:
        """List the cases that agents created, newest first."""
        found = await self._cases.list_agent_cases(call.caller)
        return AgentCaseListResponse(
            cases=[make_agent_response(case, marker) for case, marker in found]
        )

    @operation(
        "GET",
        "/api/cases/browse",
        _READS,
        scope=Scope.SESSIONS_MANAGE,
        scope_reason=MANAGES_FOLDERS,
        errors=(ErrorCode.FORBIDDEN, ErrorCode.NOT_FOUND),
    )
    async def browse_folders(self, call: OperationCall, query: BrowseQuery) -> BrowseResponse:
        """List the folders in a folder, for a folder picker."""
        found = await self._cases.browse_folders(query.path, call.caller, hidden=query.show_hidden)
        folders = [
            BrowsedFolderResponse(name=each.name, path=each.path, is_repository=each.is_repository)
            for each in found.folders
        ]
        return BrowseResponse(
            path=found.path,
            is_repository=found.is_repository,
            parent=found.parent,
            folders=folders,
            truncated=found.truncated,
        )

    @operation(
        "GET",
        "/api/cases/repositories",
        _READS,
        scope=Scope.SESSIONS_MANAGE,
        scope_reason=MANAGES_FOLDERS,
    )
    async def find_repositories(self, call: OperationCall) -> RepositoryListResponse:
        """Find repositories near the top of your home folder, for a folder picker."""
        found = await self._repositories.find_repositories(call.caller)
        return RepositoryListResponse(
            repositories=[FoundRepositoryResponse(**asdict(each)) for each in found]
        )

    @operation("POST", "/api/cases", _CHANGES)
    async def create_case(self, call: OperationCall, body: CreateCaseBody) -> CaseEnvelope:
        """Create a case and prepare it for agents."""
        case = await self._cases.create_case(body.name, body.description, body.path, call.caller)
        return CaseEnvelope(case=make_case_response(case))

    @operation("POST", "/api/cases/link", _CHANGES, access=AccessRule.ADMIN)
    async def link_folder(self, call: OperationCall, body: LinkCaseBody) -> CaseEnvelope:
        """Create a case from an existing folder."""
        case = await self._cases.link_folder(body.name, body.path, call.caller)
        return CaseEnvelope(case=make_case_response(case))

    @operation("POST", "/api/cases/remote-link", _CHANGES, access=AccessRule.ADMIN)
    async def link_remote(self, call: OperationCall, body: RemoteLinkBody) -> CaseEnvelope:
        """Create a case from a folder on a remote host."""
        far = LocationId(kind=LocationKind.REMOTE, name=body.host_id)
        case = await self._cases.link_remote(body.name, far, body.remote_path, call.caller)
        return CaseEnvelope(case=make_case_response(case))

    @operation("POST", "/api/cases/container-link", _CHANGES, access=AccessRule.ADMIN)
    async def link_container(self, call: OperationCall, body: LinkContainerBody) -> CaseEnvelope:
        """Create a case from an existing folder, with its sessions in a container."""
        wish = ContainerSettings(host_id=body.host_id)
        case = await self._cases.link_folder(body.name, body.workspace_path, call.caller, wish)
        return CaseEnvelope(case=make_case_response(case))

    @operation("POST", "/api/cases/container-create", _CHANGES, access=AccessRule.ADMIN)
    async def create_container(
        self, call: OperationCall, body: CreateContainerBody
    ) -> CaseEnvelope:
        """Create a case with its sessions in a container."""
        case = await self._cases.create_case(
            body.name, body.description, None, call.caller, body.to_settings()
        )
        return CaseEnvelope(case=make_case_response(case))

    @operation("POST", "/api/cases/clone", _CHANGES)
    async def clone_repository(self, call: OperationCall, body: CloneCaseBody) -> CloneResponse:
        """Clone a repository into a new case."""
        wish = CaseCloneRequest(
            name=body.name,
            repository=body.repository,
            ref=body.ref,
            shallow=bool(body.shallow),
            description=body.description,
        )
        case, done = await self._cases.clone_repository(wish, call.caller)
        return CloneResponse(
            case=make_case_response(case),
            repository=done.repository,
            ref=done.cloned.ref,
            warnings=list(done.cloned.warnings),
        )

    @operation("POST", "/api/cases/clone/{name}/cancel", _CHANGES)
    async def cancel_clone(self, call: OperationCall) -> EmptyPayload:
        """Cancel a running clone."""
        await self._cases.cancel_clone(call.path["name"], call.caller)
        return EmptyPayload()

    @operation("POST", "/api/cases/{name}/worktree", _CHANGES)
    async def create_worktree(
        self, call: OperationCall, body: WorktreeBody
    ) -> WorktreeCreatedResponse:
        """Create a case on a new worktree of this case's repository."""
        warnings: list[str] = []
        wish = body.to_request(warnings.append)
        name = call.path["name"]
        case = await self._cases.make_worktree(name, wish, call.caller)
        return WorktreeCreatedResponse(case=make_case_response(case), warnings=warnings)

    @operation(
        "POST",
        "/api/cases/{name}/prepare",
        _CHANGES,
        scope_reason=(
            "Opens a shell that runs git on the sources named in a repository of the "
            "caller's cases."
        ),
        errors=(ErrorCode.SESSION_BUSY,),
    )
    async def prepare_case(self, call: OperationCall) -> PrepareResponse:
        """Fetch the missing submodules and Git LFS files of a case, in a shell."""
        found = await self._cases.prepare_case(call.path["name"], call.caller)
        return PrepareResponse(session_id=found.session_id, commands=list(found.commands))

    @operation("PUT", "/api/cases/order", _CHANGES)
    async def set_order(self, call: OperationCall, body: CaseOrderBody) -> CaseOrderResponse:
        """Reorder your cases."""
        order = await self._cases.set_order(body.order, call.caller)
        return CaseOrderResponse(order=list(order))

    @operation("DELETE", "/api/cases/{name}", _CHANGES, errors=(ErrorCode.SESSION_BUSY,))
    async def delete_case(self, call: OperationCall, query: DeleteCaseQuery) -> EmptyPayload:
        """Move a local case to the trash, remove a worktree, unlink any other."""
        name, force = call.path["name"], query.force
        await self._cases.delete_case(name, call.caller, force=force)
        return EmptyPayload()
