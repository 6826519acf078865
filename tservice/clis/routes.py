"""Routes of C{/api/clis}, which list and manage CLIs."""

from __future__ import annotations

from typing import Any

from tservice.clis.field_types import Argv, Badge, Binaries, CliId, Label
from tservice.clis.responses import CliFile, CliItem, InstalledItem, InstallPlan
from tservice.clis.service import CliService
from tservice.core.errors import ErrorCode
from tservice.core.event_payloads import EmptyPayload
from tservice.http.models import QueryBool, QueryParameters, RequestBody
from tservice.http.operations import AccessRule, Handler, Operation, OperationCall, Scope

_WRITE_ERRORS = (ErrorCode.FORBIDDEN, ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED)


class CliEnabledBody(RequestBody):
    """New enabled state of an entry."""

    enabled: bool


class CliBody(RequestBody):
    """Custom entry without its id. If C{enabled} is absent, the state stays as it is."""

    label: Label
    short_badge: Badge
    binaries: Binaries
    argv: Argv
    enabled: bool | None = None


class NewCliBody(CliBody):
    """Custom entry; C{enabled} defaults to true."""

    id: CliId


class ListQuery(QueryParameters):
    """Query for the list; C{versions=true} reads the versions of installed CLIs, which may need 5
    s.
    """

    versions: QueryBool = False


class CliRoutes:
    """Routes that list and manage the CLIs; the rules are in L{CliService}."""

    def __init__(self, clis: CliService) -> None:
        self._clis = clis

    def operations(self) -> list[Operation]:
        """Return the operations of these routes."""
        return [*self._read_operations(), *self._write_operations()]

    def _read_operations(self) -> list[Operation]:
        return [
            Operation(
                method="GET",
                path="/api/clis",
                access=AccessRule.USER,
                scope=Scope.SETTINGS,
                handler=self.list_clis,
                summary="List all CLIs, disabled ones included; empty unless you are an admin",
                tag="CLIs",
                query=ListQuery,
                response_model=list[CliItem],
            ),
            Operation(
                method="GET",
                path="/api/clis/file",
                access=AccessRule.ADMIN,
                scope=Scope.ADMIN,
                handler=self.get_file_status,
                summary="List the faults in clis.json",
                tag="CLIs",
                response_model=CliFile,
            ),
            Operation(
                method="GET",
                path="/api/clis/{id}/install",
                access=AccessRule.ADMIN,
                scope=Scope.ADMIN,
                handler=self.plan_install,
                summary="Preview the installation of a stock CLI; nothing is run",
                tag="CLIs",
                response_model=InstallPlan,
                errors=(ErrorCode.INVALID_INPUT, ErrorCode.NOT_FOUND, ErrorCode.OPERATION_FAILED),
            ),
        ]

    def _write_operations(self) -> list[Operation]:
        return [
            self._write_operation(
                "DELETE",
                "/api/clis/{id}/install",
                self.cancel_install,
                "Cancel an installation",
                response_model=EmptyPayload,
            ),
            self._write_operation(
                "PUT", "/api/clis/{id}", self.set_enabled, "Enable or disable a CLI", CliEnabledBody
            ),
            self._write_operation(
                "POST", "/api/clis", self.create_entry, "Add a custom CLI", NewCliBody
            ),
            self._write_operation(
                "PUT", "/api/clis/custom/{id}", self.replace_entry, "Replace a custom CLI", CliBody
            ),
            self._write_operation(
                "DELETE", "/api/clis/{id}", self.delete_entry, "Remove a custom CLI",
                response_model=EmptyPayload,
            ),
            self._write_operation(
                "POST",
                "/api/clis/{id}/install",
                self.install_cli,
                "Install a stock CLI; returns when it is done, after at most 300 s",
                response_model=InstalledItem,
            ),
        ]  # fmt: skip

    def _write_operation(
        self,
        method: str,
        path: str,
        handler: Handler,
        summary: str,
        body: type[RequestBody] | None = None,
        response_model: Any = CliItem,
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
            response_model=response_model,
            errors=_WRITE_ERRORS,
            allowed=self._clis.require_management,
        )

    async def list_clis(self, call: OperationCall) -> list[CliItem]:
        """List all entries. Only admins may call this."""
        if not call.identity.admin:
            return []
        await self._clis.check_reachable(call.identity.username)
        if call.query is not None and call.query.versions:
            return await self._clis.list_with_versions()
        return self._clis.list_items()

    async def get_file_status(self, call: OperationCall) -> CliFile:
        """Return the status of C{clis.json}."""
        return self._clis.get_file_status()

    async def set_enabled(self, call: OperationCall) -> CliItem:
        """Enable or disable an entry."""
        await self._check_reachable(call)
        return self._clis.set_enabled(call.id, call.body.enabled)

    async def create_entry(self, call: OperationCall) -> CliItem:
        """Add a custom entry."""
        await self._check_reachable(call)
        return self._clis.create_entry(_entry_fields(call.body))

    async def replace_entry(self, call: OperationCall) -> CliItem:
        """Replace a custom entry."""
        await self._check_reachable(call)
        return self._clis.replace_entry(call.id, _entry_fields(call.body))

    async def delete_entry(self, call: OperationCall) -> EmptyPayload:
        """Remove a custom entry."""
        self._clis.delete_entry(call.id)
        return EmptyPayload()

    async def plan_install(self, call: OperationCall) -> InstallPlan:
        """Return the commands that an installation would run."""
        return await self._clis.plan_install(call.id)

    async def cancel_install(self, call: OperationCall) -> EmptyPayload:
        """Terminate a running installation."""
        await self._clis.cancel_install(call.id)
        return EmptyPayload()

    async def install_cli(self, call: OperationCall) -> InstalledItem:
        """Install the program of a packaged entry."""
        await self._check_reachable(call)
        return await self._clis.install_cli(call.id)

    async def _check_reachable(self, call: OperationCall) -> None:
        """Check that program folders respond, so that a search does not block.

        The caller's permission is then checked again.
        """
        await self._clis.check_reachable(call.identity.username)
        call.reauthorize()


def _entry_fields(body: RequestBody) -> dict[str, Any]:
    data: dict[str, Any] = body.model_dump(mode="json", by_alias=True, exclude_none=True)
    return data
