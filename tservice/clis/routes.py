"""Routes of C{/api/clis}, which list and manage CLIs."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

from pydantic import Field, PlainValidator

from tservice.clis.capabilities import CliCapabilities
from tservice.clis.field_types import Argv, Badge, Binaries, CliId, Label
from tservice.clis.model import EnvRules, Order, Params, ResumeWords, VersionQuery
from tservice.clis.responses import CliFile, CliItem, InstalledItem, InstallPlan, SignInItem
from tservice.clis.service import CliService
from tservice.clis.sign_in import SignInReader
from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.event_payloads import EmptyPayload
from tservice.core.kernel.scopes import READS_SERVICE_STATE, READS_SETTINGS
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.http.validation.models import QueryBool, QueryParameters, RequestBody


class CliEnabledBody(RequestBody):
    """New enabled state of an entry."""

    enabled: bool


def _check_object(value: Any) -> Any:
    if value is not None and not isinstance(value, dict):
        raise ValueError("must be an object")
    return value


def _as_object(kind: Any) -> PlainValidator:
    """Return the validator of a field that is checked with the whole entry.

    @param kind: the field's type, for the API's description.
    """
    return PlainValidator(_check_object, json_schema_input_type=kind | None)


class CliBody(RequestBody):
    """Custom entry without its id. Optional fields that are absent stay as they are."""

    label: Label
    short_badge: Badge
    binaries: Binaries
    argv: Argv
    enabled: bool | None = None
    order: Order | None = None
    params: Annotated[Any, _as_object(Params)] = None
    env: Annotated[Any, _as_object(EnvRules)] = None
    version: Annotated[Any, _as_object(VersionQuery)] = None
    resume: Annotated[Any, _as_object(ResumeWords)] = None
    capabilities: Annotated[Any, _as_object(CliCapabilities)] = None


class NewCliBody(CliBody):
    """Custom entry; C{enabled} defaults to true, the other optional fields to safe values."""

    id: CliId


class ListQuery(QueryParameters):
    """Query for the list; C{versions=true} reads the versions of installed CLIs, which may need 5
    s.
    """

    versions: QueryBool = False
    looked_in: QueryBool = Field(
        default=True, description="If false, the list has no C{lookedIn}, which is most of it"
    )


def _require_enabled(routes: CliRoutes) -> None:
    routes._clis.require_management()


_ADDS_COMMAND = "A CLI is a command line that the sessions of all users start."

_READS = OperationFields(
    tag="CLIs",
    access=AccessRule.ADMIN,
    scope=Scope.ADMIN,
    scope_reason=READS_SERVICE_STATE,
)
_CHANGES = OperationFields(
    tag="CLIs",
    access=AccessRule.ADMIN,
    scope=Scope.ADMIN,
    scope_reason=(
        "Enables, disables, removes or installs listed CLIs. The install commands are fixed."
    ),
    allowed=_require_enabled,
    errors=(ErrorCode.FORBIDDEN, ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED),
)


class CliRoutes:
    """Routes that list and manage the CLIs; the rules are in L{CliService}."""

    def __init__(self, clis: CliService, sign_ins: SignInReader) -> None:
        self._clis, self._sign_ins = clis, sign_ins

    @operation(
        "GET",
        "/api/clis",
        tag="CLIs",
        access=AccessRule.USER,
        scope=Scope.SETTINGS,
        scope_reason=READS_SETTINGS,
    )
    async def list_clis(self, call: OperationCall, query: ListQuery) -> list[CliItem]:
        """List all CLIs, disabled ones included; empty unless you are an admin."""
        if not call.caller.admin:
            return []
        await self._clis.check_reachable(call.caller.username)
        versions = query is not None and query.versions
        items = await self._clis.list_with_versions() if versions else self._clis.list_items()
        if query is None or query.looked_in:
            return items
        return [item.model_copy(update={"looked_in": None}) for item in items]

    @operation(
        "GET",
        "/api/clis/sign-in",
        tag="CLIs",
        access=AccessRule.USER,
        scope=Scope.SETTINGS,
        scope_reason="Says whether an agent has credentials, and never what they are.",
        errors=(ErrorCode.OPERATION_FAILED, ErrorCode.RATE_LIMITED),
    )
    async def list_sign_ins(self, call: OperationCall) -> list[SignInItem]:
        """List the agents that can sign in, and whether they are; from their own files."""
        found = await self._sign_ins.read_sign_ins(call.caller)
        return [
            SignInItem(id=each.id, signed_in=each.signed_in, command=shlex.join(each.argv))
            for each in found
        ]

    @operation("GET", "/api/clis/file", _READS)
    async def get_file_status(self, call: OperationCall) -> CliFile:
        """List the faults in clis.json."""
        return self._clis.get_file_status()

    @operation("PUT", "/api/clis/{id}", _CHANGES)
    async def set_enabled(self, call: OperationCall, body: CliEnabledBody) -> CliItem:
        """Enable or disable a CLI."""
        await self._check_reachable(call)
        return self._clis.set_enabled(call.id, body.enabled)

    @operation("POST", "/api/clis", _CHANGES, scope_reason=_ADDS_COMMAND)
    async def create_entry(self, call: OperationCall, body: NewCliBody) -> CliItem:
        """Add a custom CLI."""
        await self._check_reachable(call)
        return self._clis.create_entry(_entry_fields(body))

    @operation("PUT", "/api/clis/custom/{id}", _CHANGES, scope_reason=_ADDS_COMMAND)
    async def replace_entry(self, call: OperationCall, body: CliBody) -> CliItem:
        """Replace a custom CLI."""
        await self._check_reachable(call)
        return self._clis.replace_entry(call.id, _entry_fields(body))

    @operation("DELETE", "/api/clis/{id}", _CHANGES)
    async def delete_entry(self, call: OperationCall) -> EmptyPayload:
        """Remove a custom CLI."""
        self._clis.delete_entry(call.id)
        return EmptyPayload()

    @operation(
        "GET",
        "/api/clis/{id}/install",
        _READS,
        errors=(ErrorCode.INVALID_INPUT, ErrorCode.NOT_FOUND, ErrorCode.OPERATION_FAILED),
    )
    async def plan_install(self, call: OperationCall) -> InstallPlan:
        """Preview the installation of a stock CLI; nothing is run."""
        return await self._clis.plan_install(call.id)

    @operation("DELETE", "/api/clis/{id}/install", _CHANGES)
    async def cancel_install(self, call: OperationCall) -> EmptyPayload:
        """Cancel an installation."""
        await self._clis.cancel_install(call.id)
        return EmptyPayload()

    @operation("POST", "/api/clis/{id}/install", _CHANGES)
    async def install_cli(self, call: OperationCall) -> InstalledItem:
        """Install a stock CLI; returns when it is done, after at most 300 s."""
        await self._check_reachable(call)
        return await self._clis.install_cli(call.id)

    async def _check_reachable(self, call: OperationCall) -> None:
        """Check that program folders respond, so that a search does not block.

        The caller's permission is then checked again.
        """
        await self._clis.check_reachable(call.caller.username)
        call.caller.reauthorize()


def _entry_fields(body: RequestBody) -> dict[str, Any]:
    data: dict[str, Any] = body.model_dump(
        mode="json", by_alias=True, exclude_none=True, exclude_unset=True
    )
    return data
