"""Routes below C{/api/cases} (protocol-cases)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from tservice.cases.clones import CaseCloneRequest
from tservice.cases.interfaces import CaseWorktreeRequest, ContainerSettings
from tservice.cases.model import (
    DESCRIPTION_LENGTH,
    MAX_CASES,
    NAME_LENGTH,
)
from tservice.cases.path_rules import PATH_LENGTH
from tservice.cases.responses import CaseResponse, make_agent_response, make_case_response
from tservice.cases.routes.responses import (
    AgentCaseListResponse,
    BrowsedFolderResponse,
    BrowseResponse,
    CaseEnvelope,
    CaseOrderResponse,
    CloneResponse,
    PrepareResponse,
    WorktreeCreatedResponse,
)
from tservice.cases.service import CaseService
from tservice.core.errors import ErrorCode
from tservice.core.event_payloads import EmptyPayload
from tservice.core.failfast import FAIL_FAST
from tservice.core.locations.location import LocationId, LocationKind
from tservice.core.text import CASE_NAME
from tservice.http.models import QueryBool, QueryParameters, RequestBody
from tservice.http.operations import AccessRule, Handler, Operation, OperationCall, Scope

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

_MAKING = (
    ErrorCode.FORBIDDEN,
    ErrorCode.NOT_FOUND,
    ErrorCode.CONFLICT,
    ErrorCode.ALREADY_EXISTS,
    ErrorCode.OPERATION_FAILED,
    ErrorCode.RATE_LIMITED,
)
_READING = (ErrorCode.OPERATION_FAILED, ErrorCode.RATE_LIMITED)


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


class CaseRoutes:
    """Routes of cases; the rules are in L{CaseService}."""

    def __init__(self, cases: CaseService) -> None:
        self._cases = cases

    def operations(self) -> list[Operation]:
        """Return the HTTP operations that this class handles."""
        return [*self._read_operations(), *self._create_operations(), *self._change_operations()]

    def _read_operations(self) -> list[Operation]:
        return [
            _make_read("", self.list_cases, "List your cases, in their order", list[CaseResponse]),
            _make_read("/agent-created", self.list_agent_cases,
                "List the cases that agents created, newest first",
                  AgentCaseListResponse),
            _make_read("/browse", self.browse_folders,
                       "List the folders in a folder, for a folder picker",
                  BrowseResponse, scope=Scope.SESSIONS_MANAGE, query=BrowseQuery,
                  errors=(ErrorCode.FORBIDDEN, ErrorCode.NOT_FOUND)),
            _make_read("/{name}", self.get_case, "Get a case", CaseResponse,
                       errors=(ErrorCode.NOT_FOUND,)),
        ]  # fmt: skip

    def _create_operations(self) -> list[Operation]:
        return [
            _make_change("POST", "", self.create_case, "Create a case and prepare it for agents",
                    body=CreateCaseBody, response_model=CaseEnvelope),
            _make_change("POST", "/link", self.link_folder, "Create a case from an existing folder",
                    body=LinkCaseBody, response_model=CaseEnvelope, access=AccessRule.ADMIN),
            _make_change("POST", "/remote-link", self.link_remote,
                    "Create a case from a folder on a remote host",
                    body=RemoteLinkBody, response_model=CaseEnvelope, access=AccessRule.ADMIN),
            _make_change("POST", "/container-link", self.link_container,
                    "Create a case from an existing folder, with its sessions in a container",
                    body=LinkContainerBody, response_model=CaseEnvelope, access=AccessRule.ADMIN),
            _make_change("POST", "/container-create", self.create_container,
                    "Create a case with its sessions in a container",
                    body=CreateContainerBody, response_model=CaseEnvelope, access=AccessRule.ADMIN),
            _make_change("POST", "/clone", self.clone_repository,
                         "Clone a repository into a new case",
                    body=CloneCaseBody, response_model=CloneResponse),
            _make_change("POST", "/clone/{name}/cancel", self.cancel_clone,
                         "Cancel a running clone",
                    response_model=EmptyPayload),
            _make_change("POST", "/{name}/worktree", self.create_worktree,
                    "Create a case on a new worktree of this case's repository",
                    body=WorktreeBody, response_model=WorktreeCreatedResponse,
                    more=(ErrorCode.RATE_LIMITED,)),
            _make_change("POST", "/{name}/prepare", self.prepare_case,
                    "Fetch the missing submodules and Git LFS files of a case, in a shell",
                    response_model=PrepareResponse, more=(ErrorCode.SESSION_BUSY,)),
        ]  # fmt: skip

    def _change_operations(self) -> list[Operation]:
        return [
            _make_change("PUT", "/order", self.set_order, "Reorder your cases",
                    body=CaseOrderBody, response_model=CaseOrderResponse),
            _make_change("DELETE", "/{name}", self.delete_case,
                    "Move a local case to the trash, remove a worktree, unlink any other",
                    response_model=EmptyPayload, query=DeleteCaseQuery,
                    more=(ErrorCode.SESSION_BUSY,)),
        ]  # fmt: skip

    async def list_cases(self, call: OperationCall) -> object:
        """List the caller's cases."""
        return [make_case_response(case) for case in await self._cases.list_cases(call.identity)]

    async def get_case(self, call: OperationCall) -> object:
        """Show a case."""
        return make_case_response(await self._cases.get_case(call.path["name"], call.identity))

    async def list_agent_cases(self, call: OperationCall) -> object:
        """List the cases that agents had made."""
        found = await self._cases.list_agent_cases(call.identity)
        return AgentCaseListResponse(
            cases=[make_agent_response(case, marker) for case, marker in found]
        )

    async def browse_folders(self, call: OperationCall) -> object:
        """List folders to choose from."""
        query: BrowseQuery = call.query
        found = await self._cases.browse_folders(
            query.path, call.identity, hidden=query.show_hidden
        )
        folders = [
            BrowsedFolderResponse(name=each.name, path=each.path, is_repository=each.is_repository)
            for each in found.folders
        ]
        return BrowseResponse(
            path=found.path, parent=found.parent, folders=folders, truncated=found.truncated
        )

    async def create_case(self, call: OperationCall) -> object:
        """Create a case."""
        body: CreateCaseBody = call.body
        case = await self._cases.create_case(
            body.name, body.description, body.path, call.identity, call.reauthorize
        )
        return CaseEnvelope(case=make_case_response(case))

    async def link_folder(self, call: OperationCall) -> object:
        """Link a folder as a case."""
        case = await self._cases.link_folder(
            call.body.name, call.body.path, call.identity, call.reauthorize
        )
        return CaseEnvelope(case=make_case_response(case))

    async def link_remote(self, call: OperationCall) -> object:
        """Link a folder of a remote host as a case."""
        body: RemoteLinkBody = call.body
        far = LocationId(kind=LocationKind.REMOTE, name=body.host_id)
        case = await self._cases.link_remote(
            body.name, far, body.remote_path, call.identity, call.reauthorize
        )
        return CaseEnvelope(case=make_case_response(case))

    async def link_container(self, call: OperationCall) -> object:
        """Link a folder as a case with a container."""
        body: LinkContainerBody = call.body
        wish = ContainerSettings(host_id=body.host_id)
        case = await self._cases.link_folder(
            body.name, body.workspace_path, call.identity, call.reauthorize, wish
        )
        return CaseEnvelope(case=make_case_response(case))

    async def create_container(self, call: OperationCall) -> object:
        """Create a case with a container."""
        body: CreateContainerBody = call.body
        case = await self._cases.create_case(
            body.name, body.description, None, call.identity, call.reauthorize, body.to_settings()
        )
        return CaseEnvelope(case=make_case_response(case))

    async def clone_repository(self, call: OperationCall) -> object:
        """Clone a repository into a case."""
        body: CloneCaseBody = call.body
        wish = CaseCloneRequest(
            name=body.name,
            repository=body.repository,
            ref=body.ref,
            shallow=bool(body.shallow),
            description=body.description,
        )
        case, done = await self._cases.clone_repository(wish, call.identity, call.reauthorize)
        return CloneResponse(
            case=make_case_response(case),
            repository=done.repository,
            ref=done.cloned.ref,
            warnings=list(done.cloned.warnings),
        )

    async def cancel_clone(self, call: OperationCall) -> object:
        """Cancel a clone."""
        await self._cases.cancel_clone(call.path["name"], call.identity)
        return EmptyPayload()

    async def create_worktree(self, call: OperationCall) -> object:
        """Create a case on a new worktree."""
        warnings: list[str] = []
        wish = call.body.to_request(warnings.append)
        name = call.path["name"]
        case = await self._cases.make_worktree(name, wish, call.identity, call.reauthorize)
        return WorktreeCreatedResponse(case=make_case_response(case), warnings=warnings)

    async def prepare_case(self, call: OperationCall) -> object:
        """Open a shell that fetches the missing parts of a case."""
        found = await self._cases.prepare_case(call.path["name"], call.identity, call.reauthorize)
        return PrepareResponse(session_id=found.session_id, commands=list(found.commands))

    async def set_order(self, call: OperationCall) -> object:
        """Set the order of the caller's cases."""
        order = await self._cases.set_order(call.body.order, call.identity, call.reauthorize)
        return CaseOrderResponse(order=list(order))

    async def delete_case(self, call: OperationCall) -> object:
        """Remove a case."""
        name, force = call.path["name"], call.query.force
        await self._cases.delete_case(name, call.identity, force=force, again=call.reauthorize)
        return EmptyPayload()


def _make_read(
    path: str,
    handler: Handler,
    summary: str,
    response_model: Any,
    *,
    scope: Scope = Scope.SESSIONS_READ,
    query: type[QueryParameters] | None = None,
    errors: tuple[ErrorCode, ...] = (),
) -> Operation:
    return Operation(
        method="GET",
        path=f"/api/cases{path}",
        access=AccessRule.USER,
        scope=scope,
        handler=handler,
        summary=summary,
        tag="Cases",
        query=query,
        response_model=response_model,
        errors=(*_READING, *errors),
    )


def _make_change(
    method: str,
    path: str,
    handler: Handler,
    summary: str,
    *,
    response_model: Any,
    body: type[RequestBody] | None = None,
    query: type[QueryParameters] | None = None,
    more: tuple[ErrorCode, ...] = (),
    access: AccessRule = AccessRule.USER,
) -> Operation:
    return Operation(
        method=method,
        path=f"/api/cases{path}",
        access=access,
        scope=Scope.SESSIONS_MANAGE,
        handler=handler,
        summary=summary,
        tag="Cases",
        body=body,
        query=query,
        response_model=response_model,
        errors=(*_MAKING, *more),
    )
