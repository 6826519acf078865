"""Routes below C{/api/cases} (protocol-cases)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from tservice.cases.clones import CloneWish
from tservice.cases.interfaces import ContainerWish, WorktreeWish
from tservice.cases.model import (
    DESCRIPTION_LENGTH,
    MOST_CASES,
    NAME_LENGTH,
)
from tservice.cases.paths import PATH_LENGTH
from tservice.cases.routes.answers import (
    AgentCasesAnswer,
    BrowseAnswer,
    CaseOrderAnswer,
    CloneAnswer,
    FolderAnswer,
    OneCase,
    PrepareAnswer,
    WorktreeMade,
)
from tservice.cases.service import CaseService
from tservice.cases.shown import CaseAnswer, agent_case, case_answer
from tservice.core.errors import ErrorCode
from tservice.core.event_payloads import EmptyPayload
from tservice.core.failfast import FAIL_FAST
from tservice.core.places.location import LocationId, LocationKind
from tservice.core.text import CASE_NAME
from tservice.http.models import QueryBool, QueryParameters, RequestBody
from tservice.http.operations import AccessRule, Handler, Operation, OperationCall, Scope

CaseName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+$", max_length=NAME_LENGTH)]
KnownName = Annotated[str, StringConstraints(pattern=f"^{CASE_NAME}$", max_length=NAME_LENGTH)]
"""Name of an existing case: worktrees are named after branches, in any script."""
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
    """A new case; with C{path} in a folder of one's own choice."""

    name: CaseName
    description: Description | None = None
    path: PathText | None = None


class LinkCaseBody(RequestBody):
    """A folder that is there, and what to call it."""

    name: CaseName
    path: PathText


class RemoteLinkBody(RequestBody):
    """A folder of a remote host, and what to call it."""

    name: CaseName
    host_id: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    remote_path: PathText


class LinkContainerBody(RequestBody):
    """A folder that is there, and whose engine makes the container for it."""

    name: CaseName
    host_id: ShortText
    workspace_path: PathText


class CreateContainerBody(RequestBody):
    """A new case, with a container by the host C{default} or by settings of its own."""

    name: CaseName
    description: Description | None = None
    image: ShortText | None = None
    network: ShortText | None = None
    memory: ShortText | None = None
    cpus: float | None = None
    mount_credentials: Literal["copy"] | bool | None = None

    def wish(self) -> ContainerWish:
        """Return the settings of the container."""
        how = self.mount_credentials
        return ContainerWish(
            image=self.image,
            network=self.network,
            memory=self.memory,
            cpus=self.cpus,
            credentials=None if how is None else _CREDENTIALS[how],
        )


class CloneCaseBody(RequestBody):
    """A repository elsewhere."""

    name: CaseName
    repository: Annotated[str, StringConstraints(min_length=1, max_length=2048)]
    ref: RefText | None = None
    shallow: bool | None = None
    description: Description | None = None


class WorktreeBody(RequestBody):
    """A branch, and where it begins, should it be a new one."""

    branch: RefText
    from_: Annotated[RefText | None, Field(alias="from")] = None

    def wish(self, warn: Callable[[str], object]) -> WorktreeWish:
        """Return the body as a record."""
        return WorktreeWish(branch=self.branch, start=self.from_, warn=warn)


class CaseOrderBody(RequestBody):
    """Names of cases in their new order."""

    order: Annotated[list[KnownName], Field(max_length=MOST_CASES), FAIL_FAST]


class DeleteCaseQuery(QueryParameters):
    """C{force=1} removes what was not saved elsewhere, too."""

    force: QueryBool = False


class BrowseQuery(QueryParameters):
    """Which folder to look into."""

    path: PathText | None = None
    show_hidden: QueryBool = False


class CaseRoutes:
    """Routes of cases; the rules are in L{CaseService}."""

    def __init__(self, cases: CaseService) -> None:
        self._cases = cases

    def operations(self) -> list[Operation]:
        """Return the operations."""
        return [*self._reads(), *self._makes(), *self._changes()]

    def _reads(self) -> list[Operation]:
        return [
            _read("", self.list, "The caller's cases, in their order", list[CaseAnswer]),
            _read("/agent-created", self.agent_made, "The cases that agents had made, newest first",
                  AgentCasesAnswer),
            _read("/browse", self.browse, "The folders in a folder, for a folder picker",
                  BrowseAnswer, scope=Scope.SESSIONS_MANAGE, query=BrowseQuery,
                  errors=(ErrorCode.FORBIDDEN, ErrorCode.NOT_FOUND)),
            _read("/{name}", self.read, "One case", CaseAnswer, errors=(ErrorCode.NOT_FOUND,)),
        ]  # fmt: skip

    def _makes(self) -> list[Operation]:
        return [
            _change("POST", "", self.create, "Make a case and fill it for agents",
                    body=CreateCaseBody, answer=OneCase),
            _change("POST", "/link", self.link, "Make a case of a folder that is there",
                    body=LinkCaseBody, answer=OneCase, access=AccessRule.ADMIN),
            _change("POST", "/remote-link", self.link_remote,
                    "Make a case of a folder on a remote host",
                    body=RemoteLinkBody, answer=OneCase, access=AccessRule.ADMIN),
            _change("POST", "/container-link", self.link_container,
                    "Make a case of a folder that is there, whose sessions live in a container",
                    body=LinkContainerBody, answer=OneCase, access=AccessRule.ADMIN),
            _change("POST", "/container-create", self.create_container,
                    "Make a case whose sessions live in a container",
                    body=CreateContainerBody, answer=OneCase, access=AccessRule.ADMIN),
            _change("POST", "/clone", self.clone, "Clone a repository into a new case",
                    body=CloneCaseBody, answer=CloneAnswer),
            _change("POST", "/clone/{name}/cancel", self.cancel, "End a clone that is under way",
                    answer=EmptyPayload),
            _change("POST", "/{name}/worktree", self.worktree,
                    "Make a case on a new worktree of this one's repository",
                    body=WorktreeBody, answer=WorktreeMade, more=(ErrorCode.RATE_LIMITED,)),
            _change("POST", "/{name}/prepare", self.prepare,
                    "Fetch the submodules and files of Git LFS that a case lacks, in a shell",
                    answer=PrepareAnswer, more=(ErrorCode.SESSION_BUSY,)),
        ]  # fmt: skip

    def _changes(self) -> list[Operation]:
        return [
            _change("PUT", "/order", self.order, "Put the caller's cases into an order",
                    body=CaseOrderBody, answer=CaseOrderAnswer),
            _change("DELETE", "/{name}", self.delete,
                    "Move a local case to the trash, remove a worktree, unlink any other",
                    answer=EmptyPayload, query=DeleteCaseQuery, more=(ErrorCode.SESSION_BUSY,)),
        ]  # fmt: skip

    async def list(self, call: OperationCall) -> object:
        """List the caller's cases."""
        return [case_answer(case) for case in await self._cases.every(call.identity)]

    async def read(self, call: OperationCall) -> object:
        """Show a case."""
        return case_answer(await self._cases.get(call.path["name"], call.identity))

    async def agent_made(self, call: OperationCall) -> object:
        """List the cases that agents had made."""
        found = await self._cases.agent_made(call.identity)
        return AgentCasesAnswer(cases=[agent_case(case, marker) for case, marker in found])

    async def browse(self, call: OperationCall) -> object:
        """List folders to choose from."""
        query: BrowseQuery = call.query
        found = await self._cases.browse(query.path, call.identity, hidden=query.show_hidden)
        folders = [
            FolderAnswer(name=each.name, path=each.path, is_repository=each.is_repository)
            for each in found.folders
        ]
        return BrowseAnswer(
            path=found.path, parent=found.parent, folders=folders, truncated=found.truncated
        )

    async def create(self, call: OperationCall) -> object:
        """Create a case."""
        body: CreateCaseBody = call.body
        case = await self._cases.create(
            body.name, body.description, body.path, call.identity, call.reauthorize
        )
        return OneCase(case=case_answer(case))

    async def link(self, call: OperationCall) -> object:
        """Link a folder as a case."""
        case = await self._cases.link(
            call.body.name, call.body.path, call.identity, call.reauthorize
        )
        return OneCase(case=case_answer(case))

    async def link_remote(self, call: OperationCall) -> object:
        """Link a folder of a remote host as a case."""
        body: RemoteLinkBody = call.body
        far = LocationId(kind=LocationKind.REMOTE, name=body.host_id)
        case = await self._cases.link_far(
            body.name, far, body.remote_path, call.identity, call.reauthorize
        )
        return OneCase(case=case_answer(case))

    async def link_container(self, call: OperationCall) -> object:
        """Link a folder as a case with a container."""
        body: LinkContainerBody = call.body
        wish = ContainerWish(host_id=body.host_id)
        case = await self._cases.link(
            body.name, body.workspace_path, call.identity, call.reauthorize, wish
        )
        return OneCase(case=case_answer(case))

    async def create_container(self, call: OperationCall) -> object:
        """Create a case with a container."""
        body: CreateContainerBody = call.body
        case = await self._cases.create(
            body.name, body.description, None, call.identity, call.reauthorize, body.wish()
        )
        return OneCase(case=case_answer(case))

    async def clone(self, call: OperationCall) -> object:
        """Clone a repository into a case."""
        body: CloneCaseBody = call.body
        wish = CloneWish(
            name=body.name,
            repository=body.repository,
            ref=body.ref,
            shallow=bool(body.shallow),
            description=body.description,
        )
        case, done = await self._cases.clone(wish, call.identity, call.reauthorize)
        return CloneAnswer(
            case=case_answer(case),
            repository=done.repository,
            ref=done.cloned.ref,
            warnings=list(done.cloned.warnings),
        )

    async def cancel(self, call: OperationCall) -> object:
        """Cancel a clone."""
        await self._cases.cancel_clone(call.path["name"], call.identity)
        return EmptyPayload()

    async def worktree(self, call: OperationCall) -> object:
        """Create a case on a new worktree."""
        warnings: list[str] = []
        wish = call.body.wish(warnings.append)
        name = call.path["name"]
        case = await self._cases.make_worktree(name, wish, call.identity, call.reauthorize)
        return WorktreeMade(case=case_answer(case), warnings=warnings)

    async def prepare(self, call: OperationCall) -> object:
        """Open a shell that fetches the missing parts of a case."""
        found = await self._cases.prepare(call.path["name"], call.identity, call.reauthorize)
        return PrepareAnswer(session_id=found.session_id, commands=list(found.commands))

    async def order(self, call: OperationCall) -> object:
        """Set the order of the caller's cases."""
        order = await self._cases.order(call.body.order, call.identity, call.reauthorize)
        return CaseOrderAnswer(order=list(order))

    async def delete(self, call: OperationCall) -> object:
        """Remove a case."""
        name, force = call.path["name"], call.query.force
        await self._cases.delete(name, call.identity, force=force, again=call.reauthorize)
        return EmptyPayload()


def _read(
    path: str,
    handler: Handler,
    summary: str,
    answer: Any,
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
        response_model=answer,
        errors=(*_READING, *errors),
    )


def _change(
    method: str,
    path: str,
    handler: Handler,
    summary: str,
    *,
    answer: Any,
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
        response_model=answer,
        errors=(*_MAKING, *more),
    )
