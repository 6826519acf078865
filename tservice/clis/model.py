"""Entry of the CLI registry with its validation rules (protocol-clis).

The same records parse the packaged YAML files, the operator's C{clis.json} and request bodies.
Every entry in use is therefore validated.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, ValidationError, field_validator, model_validator

from tservice.clis.capabilities import CliCapabilities
from tservice.clis.field_types import (
    ANY_NAME,
    PLACEHOLDER,
    RESUME_ID,
    Argv,
    Badge,
    Binaries,
    CliId,
    CliRecord,
    EnvName,
    Label,
    Text,
    Word,
    compile_pattern,
    is_refused,
)
from tservice.clis.params import LaunchParam
from tservice.clis.sign_in import SignInRules
from tservice.core.kernel.errors import make_field_error

PRIMARY = "primary"
"""Id of the entry for Claude Code."""

VERSION = r"\b(\d+\.\d+[\w.+-]*)"
"""Regular expression for a version as most programs print it."""

ENTRY_LIMIT = 100
"""Maximum number of entries in the registry, including those that come with the program."""


class CliKind(StrEnum):
    """Kind of program that runs in the pane."""

    AGENT = "agent"
    SHELL = "shell"


class EnvRules(CliRecord):
    """Rules for the environment variables of the pane.

    @ivar allowed_prefixes: prefixes of variables that sessions may override and that the pane
        inherits from the service. C{*} allows every override, and makes the pane inherit nothing.
    @ivar harmless: complete names of variables that accounts without the grant to bypass
        permissions may override. None of them can run a program, choose a model or an endpoint, or
        move a configuration (protocol-environment).
    """

    set: dict[EnvName, Annotated[Text, StringConstraints(max_length=4096)]] = {}
    unset: tuple[EnvName, ...] = ()
    allowed_prefixes: tuple[
        Annotated[str, StringConstraints(pattern=r"^(?:[A-Z][A-Z0-9_]{1,63}|\*)$")], ...
    ] = ()
    harmless: Annotated[tuple[EnvName, ...], Field(max_length=64)] = ()

    @field_validator("set")
    @classmethod
    def _require_no_refused_variable(cls, names: dict[str, str]) -> dict[str, str]:
        for name in names:
            if is_refused(name):
                raise ValueError(f"{name} may not be set")
        return names

    @model_validator(mode="after")
    def _require_harmless_allowed(self) -> Self:
        for name in self.harmless:
            if not self.allows_override(name):
                raise ValueError(f"harmless contains {name}, which may not be overridden")
        return self

    def allows_override(self, name: str) -> bool:
        """Return true if a session may override the variable C{name}."""
        return not is_refused(name) and (
            ANY_NAME in self.allowed_prefixes or self.is_inherited_from_service(name)
        )

    def is_inherited_from_service(self, name: str) -> bool:
        """Return true if the pane inherits the variable C{name} from the service."""
        return not is_refused(name) and any(
            name.startswith(prefix) for prefix in self.allowed_prefixes if prefix != ANY_NAME
        )


class InstallCommand(CliRecord):
    """Command that installs a CLI.

    @ivar command: program and arguments, run without a shell.
    """

    command: Annotated[tuple[Word, ...], Field(min_length=1, max_length=16)]


class VersionQuery(CliRecord):
    """Command that prints the version of a CLI.

    @ivar argv: arguments for the program.
    @ivar pattern: regular expression that is searched in the output. Its only group is the version.
    @ivar since: arguments in the entry's C{argv}, each with the first version that accepts it.
    @ivar node: true to check before a start that Node.js is new enough for the program's package.
    """

    argv: Annotated[tuple[Word, ...], Field(min_length=1, max_length=4)] = ("--version",)
    pattern: Annotated[str, StringConstraints(min_length=1, max_length=200)] = VERSION
    since: Annotated[
        dict[Word, Annotated[str, StringConstraints(pattern=r"^\d{1,6}(\.\d{1,6}){0,3}$")]],
        Field(max_length=8),
    ] = {}
    node: bool = False

    @field_validator("pattern")
    @classmethod
    def _one_group(cls, pattern: str) -> str:
        if compile_pattern(pattern).groups != 1:
            raise ValueError("must have exactly one group")
        return pattern


class ResumeWords(CliRecord):
    """Arguments that resume a conversation. They precede the options, and C{{id}} is replaced by
    its id.
    """

    argv: Annotated[tuple[Word, ...], Field(min_length=1, max_length=8)]

    @field_validator("argv")
    @classmethod
    def _names_the_id(cls, argv: tuple[str, ...]) -> tuple[str, ...]:
        if set(find_placeholders(argv)) != {RESUME_ID}:
            raise ValueError("must contain {id}, and no other placeholder")
        return argv


Order = Annotated[int, Field(ge=0, le=10_000)]
Params = Annotated[
    dict[Annotated[str, StringConstraints(pattern=r"^[a-z][A-Za-z0-9]{0,31}$")], LaunchParam],
    Field(max_length=16),
]


class CliEntry(CliRecord):
    """Entry of the registry: one CLI that sessions can run.

    @ivar binaries: names of the program, searched in this order.
    @ivar argv: command line. If its first item is one of C{binaries}, the found file replaces it.
        Otherwise the found file is inserted before it. Thus only C{binaries} are ever run.
    """

    id: CliId
    label: Label
    short_badge: Badge
    order: Order = 1000
    kind: CliKind = CliKind.AGENT
    enabled: bool = True
    stock: bool = False
    binaries: Binaries
    argv: Argv
    params: Params = {}
    env: EnvRules = EnvRules()
    install: InstallCommand | None = None
    version: VersionQuery | None = None
    resume: ResumeWords | None = None
    sign_in: SignInRules | None = None
    capabilities: CliCapabilities = CliCapabilities()

    @model_validator(mode="after")
    def _placeholders_are_params(self) -> Self:
        for name in find_placeholders(self.argv):
            if name not in self.params:
                raise ValueError(f"argv contains the unknown parameter {name}")
        return self

    def inherits(self, name: str) -> bool:
        """Return whether the pane gets the variable C{name} of the service."""
        return self.env.is_inherited_from_service(name)

    @property
    def install_hint(self) -> str:
        """Install command for an error text, or an instruction if there is no command; never
        empty.
        """
        if self.install is None:
            return f"Install {self.label} and put {self.binaries[0]} on PATH"
        return shlex.join(self.install.command)


def find_placeholders(words: tuple[str, ...]) -> list[str]:
    """Return the names in braces that occur in C{words}, in order."""
    return [name for word in words for name in PLACEHOLDER.findall(word)]


def parse_entry(data: Mapping[str, Any]) -> CliEntry:
    """Parse and validate an entry from YAML or JSON.

    @raise ServiceError: INVALID_INPUT naming the field and the rule.
    """
    try:
        # Via JSON, where strict mode accepts lists for tuples and strings for enums.
        return CliEntry.model_validate_json(json.dumps(data))
    except ValidationError as error:
        field, rule = describe_first_error(error)
        raise make_field_error(field, rule) from None
    except (TypeError, ValueError):
        raise make_field_error("entry", "must be plain JSON data") from None


def describe_first_error(error: ValidationError) -> tuple[str, str]:
    """Return the field and the rule of the first error in C{error}."""
    fault = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in fault["loc"]) or "entry"
    return field, fault["msg"].removeprefix("Value error, ")
