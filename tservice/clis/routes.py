"""Routes of C{/api/clis}."""

from __future__ import annotations

from typing import Any

from tservice.clis.service import CliService
from tservice.clis.shown import CliFile, CliItem, InstalledItem, InstallPlan
from tservice.clis.words import Argv, Badge, Binaries, CliId, Label
from tservice.core.errors import ErrorCode
from tservice.core.event_payloads import EmptyPayload
from tservice.http.models import QueryBool, QueryParameters, RequestBody
from tservice.http.operations import AccessRule, Handler, Operation, OperationCall, Scope

_WRITE_ERRORS = (ErrorCode.FORBIDDEN, ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED)


class CliEnabledBody(RequestBody):
    """Switches an entry."""

    enabled: bool


class CliBody(RequestBody):
    """A custom entry without its id; absent C{enabled} keeps the state."""

    label: Label
    short_badge: Badge
    binaries: Binaries
    argv: Argv
    enabled: bool | None = None


class NewCliBody(CliBody):
    """A custom entry; C{enabled} defaults to true."""

    id: CliId


class ListQuery(QueryParameters):
    """Query for the list; C{versions=true} reads the versions of installed CLIs, which takes up to
    5 s.
    """

    versions: QueryBool = False


class CliRoutes:
    """Routes that list and manage the CLIs; the rules are in L{CliService}."""

    def __init__(self, clis: CliService) -> None:
        self._clis = clis

    def operations(self) -> list[Operation]:
        """Return the operations of the routes."""
        return [
            Operation(
                method="GET",
                path="/api/clis",
                access=AccessRule.USER,
                scope=Scope.SETTINGS,
                handler=self.read,
                summary="Every CLI, disabled ones included; an empty list for who is no admin",
                tag="CLIs",
                query=ListQuery,
                response_model=list[CliItem],
            ),
            Operation(
                method="GET",
                path="/api/clis/file",
                access=AccessRule.ADMIN,
                scope=Scope.ADMIN,
                handler=self.file,
                summary="What is wrong with clis.json, where anything is",
                tag="CLIs",
                response_model=CliFile,
            ),
            Operation(
                method="GET",
                path="/api/clis/{id}/install",
                access=AccessRule.ADMIN,
                scope=Scope.ADMIN,
                handler=self.plan,
                summary="What installing a stock CLI would do; nothing is run",
                tag="CLIs",
                response_model=InstallPlan,
                errors=(ErrorCode.INVALID_INPUT, ErrorCode.NOT_FOUND, ErrorCode.OPERATION_FAILED),
            ),
            self._write(
                "DELETE",
                "/api/clis/{id}/install",
                self.cancel,
                "End an install",
                answer=EmptyPayload,
            ),
            self._write(
                "PUT", "/api/clis/{id}", self.switch, "Switch a CLI on or off", CliEnabledBody
            ),
            self._write("POST", "/api/clis", self.create, "Add a custom CLI", NewCliBody),
            self._write(
                "PUT", "/api/clis/custom/{id}", self.replace, "Replace a custom CLI", CliBody
            ),
            self._write(
                "DELETE", "/api/clis/{id}", self.delete, "Remove a custom CLI", answer=EmptyPayload
            ),
            self._write(
                "POST",
                "/api/clis/{id}/install",
                self.install,
                "Install a stock CLI; answers when it is done, 300 s at most",
                answer=InstalledItem,
            ),
        ]

    def _write(
        self,
        method: str,
        path: str,
        handler: Handler,
        summary: str,
        body: type[RequestBody] | None = None,
        answer: Any = CliItem,
    ) -> Operation:
        return Operation(
            method=method,
            path=path,
            access=AccessRule.ADMIN,
            scope=Scope.ADMIN,
            handler=handler,
            summary=summary,
            tag="CLIs",
            body=body,
            response_model=answer,
            errors=_WRITE_ERRORS,
            allowed=self._clis.require_management,
        )

    async def read(self, call: OperationCall) -> list[CliItem]:
        """List all entries, for admins only."""
        if not call.identity.admin:
            return []
        await self._clis.answers(call.identity.username)
        if call.query is not None and call.query.versions:
            return await self._clis.with_versions()
        return self._clis.listing()

    async def file(self, call: OperationCall) -> CliFile:
        """Return the status of C{clis.json}."""
        return self._clis.file()

    async def switch(self, call: OperationCall) -> CliItem:
        """Enable or disable an entry."""
        await self._ready(call)
        return self._clis.set_enabled(call.id, call.body.enabled)

    async def create(self, call: OperationCall) -> CliItem:
        """Add a custom entry."""
        await self._ready(call)
        return self._clis.create(_fields(call.body))

    async def replace(self, call: OperationCall) -> CliItem:
        """Replace a custom entry."""
        await self._ready(call)
        return self._clis.replace(call.id, _fields(call.body))

    async def delete(self, call: OperationCall) -> EmptyPayload:
        """Remove a custom entry."""
        self._clis.delete(call.id)
        return EmptyPayload()

    async def plan(self, call: OperationCall) -> InstallPlan:
        """Describe an installation without running it."""
        return await self._clis.plan(call.id)

    async def cancel(self, call: OperationCall) -> EmptyPayload:
        """Terminate an installation."""
        await self._clis.cancel(call.id)
        return EmptyPayload()

    async def install(self, call: OperationCall) -> InstalledItem:
        """Install a stock entry's program."""
        await self._ready(call)
        return await self._clis.install(call.id)

    async def _ready(self, call: OperationCall) -> None:
        """Check that program folders respond, so that a search does not block; then authorize the
        caller again.
        """
        await self._clis.answers(call.identity.username)
        call.reauthorize()


def _fields(body: RequestBody) -> dict[str, Any]:
    data: dict[str, Any] = body.model_dump(mode="json", by_alias=True, exclude_none=True)
    return data
