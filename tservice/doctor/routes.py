"""Route C{GET /api/doctor}."""

from __future__ import annotations

from pydantic import Field

from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import READS_SERVICE_STATE
from tservice.core.values.payload import omit_if_none
from tservice.doctor.model import ToolCategory, ToolStatus
from tservice.doctor.service import DoctorService
from tservice.http.operation_decorator import operation
from tservice.http.operations import AccessRule, OperationCall, ResponseStyle, Scope
from tservice.http.validation.models import QueryParameters, ResponseModel


class DoctorQuery(QueryParameters):
    """Tools to check."""

    category: ToolCategory | None = Field(default=None, description="Absent: all categories")


class ToolResponse(ResponseModel):
    """Tool; absent fields have no value."""

    id: str
    label: str
    category: ToolCategory
    required: bool
    status: ToolStatus
    needed: str | None = omit_if_none(description="Oldest accepted version")
    version: str | None = omit_if_none()
    path: str | None = omit_if_none()
    install_hint: str | None = omit_if_none()
    reason: str | None = omit_if_none()


class DoctorSummary(ResponseModel):
    """Number of tools with each status."""

    ok: int
    missing: int
    outdated: int
    skipped: int
    error: int


class DoctorResponse(ResponseModel):
    """Report of the check."""

    platform: str
    summary: DoctorSummary
    tools: list[ToolResponse]
    looked_in: list[str] = Field(
        description="The folders searched for programs, in this order; C{*} matches any version"
    )


class DoctorRoutes:
    """Route of the report, for admins."""

    def __init__(self, doctor: DoctorService) -> None:
        self._doctor = doctor

    @operation(
        "GET",
        "/api/doctor",
        tag="Diagnostics",
        access=AccessRule.ADMIN,
        scope=Scope.ADMIN,
        scope_reason=READS_SERVICE_STATE,
        style=ResponseStyle.LONG_POLL,
        errors=(ErrorCode.INTERNAL_ERROR,),
    )
    async def get_report(self, call: OperationCall, query: DoctorQuery) -> DoctorResponse:
        """Check this host for the programs that the service works with."""
        return DoctorResponse.model_validate(await self._doctor.examine_host(query.category))
