"""CLIs: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from tservice.client.calling import Calling, quoted


class CliBody(TypedDict):
    """A custom entry without its id; absent C{enabled} keeps the state."""

    label: str
    shortBadge: str
    binaries: list[str]
    argv: list[str]
    enabled: NotRequired[bool | None]


class CliEnabledBody(TypedDict):
    """Switches an entry."""

    enabled: bool


class CliFile(TypedDict):
    """How C{clis.json} stands."""

    path: str
    problem: NotRequired[str]
    entries: list[FaultyEntry]


class CliItem(TypedDict):
    """An entry as listed (protocol-clis)."""

    id: str
    label: str
    shortBadge: str
    order: int
    kind: Literal["agent", "shell"]
    enabled: bool
    stock: bool
    installed: bool
    path: NotRequired[str]
    version: NotRequired[str]
    installCommand: NotRequired[str]
    customModel: NotRequired[bool]
    params: NotRequired[dict[str, list[str]]]
    newline: NotRequired[str]
    binaries: NotRequired[list[str]]
    argv: NotRequired[list[str]]
    lookedIn: NotRequired[list[str]]
    loginShellProblem: NotRequired[str]


class FaultyEntry(TypedDict):
    """An entry of C{clis.json} that is not in use as it stands there."""

    id: str
    problem: str


class InstallPlan(TypedDict):
    """What an install would do."""

    command: str
    target: str
    writable: bool


class InstalledItem(TypedDict):
    """An entry, and what its installation printed last."""

    id: str
    label: str
    shortBadge: str
    order: int
    kind: Literal["agent", "shell"]
    enabled: bool
    stock: bool
    installed: bool
    path: NotRequired[str]
    version: NotRequired[str]
    installCommand: NotRequired[str]
    customModel: NotRequired[bool]
    params: NotRequired[dict[str, list[str]]]
    newline: NotRequired[str]
    binaries: NotRequired[list[str]]
    argv: NotRequired[list[str]]
    lookedIn: NotRequired[list[str]]
    loginShellProblem: NotRequired[str]
    output: str


class NewCliBody(TypedDict):
    """A custom entry; C{enabled} defaults to true."""

    label: str
    shortBadge: str
    binaries: list[str]
    argv: list[str]
    enabled: NotRequired[bool | None]
    id: str


class CLIs(Calling):
    """CLIs."""

    async def get_clis(self, *, versions: bool | None = None) -> list[CliItem]:
        """Every CLI, disabled ones included; an empty list for who is no admin."""
        found: list[CliItem] = await self.call("GET", "/clis", query={"versions": versions})
        return found

    async def post_clis(self, body: NewCliBody) -> CliItem:
        """Add a custom CLI."""
        found: CliItem = await self.call("POST", "/clis", body=body)
        return found

    async def get_clis_file(self) -> CliFile:
        """What is wrong with clis.json, where anything is."""
        found: CliFile = await self.call("GET", "/clis/file")
        return found

    async def get_clis_id_install(self, id: str) -> InstallPlan:
        """What installing a stock CLI would do; nothing is run."""
        found: InstallPlan = await self.call("GET", f"/clis/{quoted(id)}/install")
        return found

    async def delete_clis_id_install(self, id: str) -> dict[str, Any]:
        """End an install."""
        found: dict[str, Any] = await self.call("DELETE", f"/clis/{quoted(id)}/install")
        return found

    async def post_clis_id_install(self, id: str) -> InstalledItem:
        """Install a stock CLI; answers when it is done, 300 s at most."""
        found: InstalledItem = await self.call("POST", f"/clis/{quoted(id)}/install")
        return found

    async def put_clis_id(self, id: str, body: CliEnabledBody) -> CliItem:
        """Switch a CLI on or off."""
        found: CliItem = await self.call("PUT", f"/clis/{quoted(id)}", body=body)
        return found

    async def delete_clis_id(self, id: str) -> dict[str, Any]:
        """Remove a custom CLI."""
        found: dict[str, Any] = await self.call("DELETE", f"/clis/{quoted(id)}")
        return found

    async def put_clis_custom_id(self, id: str, body: CliBody) -> CliItem:
        """Replace a custom CLI."""
        found: CliItem = await self.call("PUT", f"/clis/custom/{quoted(id)}", body=body)
        return found
