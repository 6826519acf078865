"""C{/api/clis}."""

from __future__ import annotations

from typing import Any

from tservice.clis.service import CliService
from tservice.clis.words import Argv, Badge, Binaries, CliId, Label
from tservice.core.errors import ErrorCode
from tservice.http.models import Answer, Body
from tservice.http.operations import Access, Call, Handler, Operation, Scope

_WRITE_ERRORS = (ErrorCode.FORBIDDEN, ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED)


class EnabledBody(Body):
    """Switches an entry."""

    enabled: bool


class ReplaceBody(Body):
    """A custom entry without its id; absent C{enabled} keeps the state."""

    label: Label
    short_badge: Badge
    binaries: Binaries
    argv: Argv
    enabled: bool | None = None


class CreateBody(ReplaceBody):
    """A custom entry; C{enabled} defaults to true."""

    id: CliId


class CliItem(Answer):
    """An entry as listed (protocol-clis)."""

    id: str
    label: str
    short_badge: str
    order: int
    kind: str
    enabled: bool
    stock: bool
    installed: bool
    install_command: str | None = None


class InstalledItem(CliItem):
    """An entry, and what its installation printed last."""

    output: str


class CliRoutes:
    """Lists and manages the CLIs; the rules live in L{CliService}."""

    def __init__(self, clis: CliService) -> None:
        self._clis = clis

    def operations(self) -> list[Operation]:
        """The routes."""
        return [
            Operation(
                method="GET",
                path="/api/clis",
                access=Access.USER,
                scope=Scope.SETTINGS,
                handler=self.read,
                summary="Every CLI, disabled ones included; an empty list for who is no admin",
                tag="CLIs",
                answer=list[CliItem],
            ),
            self._write(
                "PUT", "/api/clis/{id}", self.switch, "Switch a CLI on or off", EnabledBody
            ),
            self._write("POST", "/api/clis", self.create, "Add a custom CLI", CreateBody),
            self._write(
                "PUT", "/api/clis/custom/{id}", self.replace, "Replace a custom CLI", ReplaceBody
            ),
            self._write(
                "DELETE", "/api/clis/{id}", self.delete, "Remove a custom CLI", answer=dict
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
        body: type[Body] | None = None,
        answer: Any = CliItem,
    ) -> Operation:
        return Operation(
            method=method,
            path=path,
            access=Access.ADMIN,
            scope=Scope.ADMIN,
            handler=handler,
            summary=summary,
            tag="CLIs",
            body=body,
            answer=answer,
            errors=_WRITE_ERRORS,
            allowed=self._clis.require_management,
        )

    async def read(self, call: Call) -> list[dict[str, Any]]:
        """All of them, for admins."""
        if not call.identity.admin:
            return []
        await self._clis.answers(call.identity.username)
        return self._clis.listing()

    async def switch(self, call: Call) -> dict[str, Any]:
        """Switch one on or off."""
        await self._clis.answers(call.identity.username)
        return self._clis.set_enabled(call.id, call.body.enabled)

    async def create(self, call: Call) -> dict[str, Any]:
        """Add a custom entry."""
        await self._clis.answers(call.identity.username)
        return self._clis.create(_fields(call.body))

    async def replace(self, call: Call) -> dict[str, Any]:
        """Replace a custom entry."""
        await self._clis.answers(call.identity.username)
        return self._clis.replace(call.id, _fields(call.body))

    async def delete(self, call: Call) -> dict[str, Any]:
        """Remove a custom entry."""
        self._clis.delete(call.id)
        return {}

    async def install(self, call: Call) -> dict[str, Any]:
        """Install a stock entry's program."""
        await self._clis.answers(call.identity.username)
        return await self._clis.install(call.id)


def _fields(body: Body) -> dict[str, Any]:
    data: dict[str, Any] = body.model_dump(mode="json", by_alias=True, exclude_none=True)
    return data
