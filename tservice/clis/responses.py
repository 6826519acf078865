"""Response models of registry entries (protocol-clis)."""

from __future__ import annotations

from pydantic import Field

from tservice.clis.model import CliKind
from tservice.core.values.payload import Payload, omit_if_none


class CliItem(Payload):
    """Entry in the list of CLIs (protocol-clis)."""

    id: str
    label: str
    short_badge: str
    order: int
    kind: CliKind
    enabled: bool
    stock: bool
    installed: bool
    path: str | None = omit_if_none(description="Path of the program")
    version: str | None = omit_if_none(description="With versions=true, if the CLI reports it")
    install_command: str | None = omit_if_none()
    custom_model: bool | None = omit_if_none(
        description="True if it accepts models of custom endpoints"
    )
    params: dict[str, list[str]] | None = omit_if_none(
        description=(
            "The C{params} that a new session may set, with the allowed words; without words any"
            " value is allowed"
        )
    )
    newline: str | None = omit_if_none(
        description="The key that the agent reads as a line end in its composer"
    )
    binaries: list[str] | None = omit_if_none(
        description="The command that a custom entry runs, as C{argv}"
    )
    argv: list[str] | None = omit_if_none()
    looked_in: list[str] | None = omit_if_none(
        description="The folders searched for it, if it is not installed; C{*} matches any version"
    )
    login_shell_problem: str | None = omit_if_none(
        description="The reason why the login shell's PATH is unknown, if it is not installed"
    )


class SignInItem(Payload):
    """Sign-in of an agent with the caller's home folder.

    @ivar signed_in: null if it is not known.
    @ivar command: command line that signs in, in a terminal.
    """

    id: str
    signed_in: bool | None
    command: str


class FaultyEntry(Payload):
    """Entry of C{clis.json} that is not used as it is written."""

    id: str
    problem: str


class CliFile(Payload):
    """State of C{clis.json}.

    @ivar problem: the reason why nothing in the file is used.
    """

    path: str
    problem: str | None = omit_if_none()
    entries: list[FaultyEntry]


class InstalledItem(CliItem):
    """Entry, and the last output of its installation."""

    output: str


class InstallPlan(Payload):
    """Steps that an installation would run."""

    command: str
    target: str = Field(description="The folder that it writes to")
    writable: bool
