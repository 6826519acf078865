"""Response models of registry entries (protocol-clis)."""

from __future__ import annotations

from pydantic import Field

from tservice.clis.model import CliKind
from tservice.core.payload import Payload, omit_if_none


class CliItem(Payload):
    """An entry as listed (protocol-clis)."""

    id: str
    label: str
    short_badge: str
    order: int
    kind: CliKind
    enabled: bool
    stock: bool
    installed: bool
    path: str | None = omit_if_none(description="Where the program is")
    version: str | None = omit_if_none(description="With versions=true, where it tells")
    install_command: str | None = omit_if_none()
    custom_model: bool | None = omit_if_none(description="It takes models of custom endpoints")
    params: dict[str, list[str]] | None = omit_if_none(
        description="What C{params} of a new session may choose, with the words; none: any"
    )
    newline: str | None = omit_if_none(
        description="What an agent reads as a line end in its composer"
    )
    binaries: list[str] | None = omit_if_none(
        description="Of a custom entry, as C{argv}: what it runs"
    )
    argv: list[str] | None = omit_if_none()
    looked_in: list[str] | None = omit_if_none(
        description="Where it was looked for, if it is not installed; C{*} stands for any version"
    )
    login_shell_problem: str | None = omit_if_none(
        description="Why the login shell's PATH is not known, if it is not installed"
    )


class FaultyEntry(Payload):
    """An entry of C{clis.json} that is not in use as it stands there."""

    id: str
    problem: str


class CliFile(Payload):
    """How C{clis.json} stands.

    @ivar problem: why nothing of it is in use.
    """

    path: str
    problem: str | None = omit_if_none()
    entries: list[FaultyEntry]


class InstalledItem(CliItem):
    """An entry, and what its installation printed last."""

    output: str


class InstallPlan(Payload):
    """What an install would do."""

    command: str
    target: str = Field(description="The folder below which it writes")
    writable: bool
