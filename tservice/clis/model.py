"""What an entry of the CLI registry is, and the rules that it must keep (protocol-clis).

The same records read the packaged YAML, the operator's C{clis.json} and the bodies of the write
routes, so that no entry is ever in use that did not pass them.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, ValidationError, field_validator, model_validator

from tservice.clis.capabilities import Capabilities
from tservice.clis.params import Param
from tservice.clis.words import (
    ANY_NAME,
    PLACEHOLDER,
    RESUME_ID,
    Argv,
    Badge,
    Binaries,
    CliId,
    EnvName,
    Label,
    Record,
    Text,
    Word,
    compiled,
    is_refused,
)
from tservice.core.errors import invalid

VERSION = r"\b(\d+\.\d+[\w.+-]*)"
"""A version as most programs print it."""

ENTRY_LIMIT = 100
"""Entries of a registry, stock ones included."""


class CliKind(StrEnum):
    """What runs in the pane."""

    AGENT = "agent"
    SHELL = "shell"


class Env(Record):
    """What the entry does to the pane's environment.

    @ivar allowed_prefixes: names that sessions may override, and that reach the pane from the
        service's own environment; C{*} allows every override, and passes nothing on.
    @ivar harmless: the only names, whole ones, that accounts without the grant to bypass
        permissions may override: none of them can make a program run, choose a model or an
        endpoint, or move a configuration (protocol-environment).
    """

    set: dict[EnvName, Annotated[Text, StringConstraints(max_length=4096)]] = {}
    unset: tuple[EnvName, ...] = ()
    allowed_prefixes: tuple[
        Annotated[str, StringConstraints(pattern=r"^(?:[A-Z][A-Z0-9_]{1,63}|\*)$")], ...
    ] = ()
    harmless: Annotated[tuple[EnvName, ...], Field(max_length=64)] = ()

    @field_validator("set")
    @classmethod
    def _none_refused(cls, names: dict[str, str]) -> dict[str, str]:
        for name in names:
            if is_refused(name):
                raise ValueError(f"{name} may not be set")
        return names

    @model_validator(mode="after")
    def _harmless_are_allowed(self) -> Self:
        for name in self.harmless:
            if not self.allows(name):
                raise ValueError(f"harmless names {name}, which may not be overridden")
        return self

    def allows(self, name: str) -> bool:
        """Whether a session may override C{name}."""
        return not is_refused(name) and (ANY_NAME in self.allowed_prefixes or self.passes(name))

    def passes(self, name: str) -> bool:
        """Whether C{name} reaches the pane from the service's own environment."""
        return not is_refused(name) and any(
            name.startswith(prefix) for prefix in self.allowed_prefixes if prefix != ANY_NAME
        )


class Install(Record):
    """How to install it.

    @ivar command: words, run without a shell.
    """

    command: Annotated[tuple[Word, ...], Field(min_length=1, max_length=16)]


class Version(Record):
    """How to ask for its version.

    @ivar argv: words behind the program.
    @ivar pattern: searched in what it prints; its one group is the version.
    @ivar since: words of the entry's C{argv} that versions before the one named refuse.
    """

    argv: Annotated[tuple[Word, ...], Field(min_length=1, max_length=4)] = ("--version",)
    pattern: Annotated[str, StringConstraints(min_length=1, max_length=200)] = VERSION
    since: Annotated[
        dict[Word, Annotated[str, StringConstraints(pattern=r"^\d{1,6}(\.\d{1,6}){0,3}$")]],
        Field(max_length=8),
    ] = {}

    @field_validator("pattern")
    @classmethod
    def _one_group(cls, pattern: str) -> str:
        if compiled(pattern).groups != 1:
            raise ValueError("must have exactly one group")
        return pattern


class Resume(Record):
    """How to go on with a conversation: words put before the flags; C{{id}} is its id."""

    argv: Annotated[tuple[Word, ...], Field(min_length=1, max_length=8)]

    @field_validator("argv")
    @classmethod
    def _names_the_id(cls, argv: tuple[str, ...]) -> tuple[str, ...]:
        if set(placeholders(argv)) != {RESUME_ID}:
            raise ValueError("must hold {id}, and no other placeholder")
        return argv


class CliEntry(Record):
    """One CLI.

    @ivar binaries: names looked up in this order.
    @ivar argv: the command; a first word that is one of C{binaries} stands for the file found,
        which is else put before it: nothing but C{binaries} is ever run.
    """

    id: CliId
    label: Label
    short_badge: Badge
    order: Annotated[int, Field(ge=0, le=10_000)] = 1000
    kind: CliKind = CliKind.AGENT
    enabled: bool = True
    stock: bool = False
    binaries: Binaries
    argv: Argv
    params: Annotated[
        dict[Annotated[str, StringConstraints(pattern=r"^[a-z][A-Za-z0-9]{0,31}$")], Param],
        Field(max_length=16),
    ] = {}
    env: Env = Env()
    install: Install | None = None
    version: Version | None = None
    resume: Resume | None = None
    capabilities: Capabilities = Capabilities()

    @model_validator(mode="after")
    def _placeholders_are_params(self) -> Self:
        for name in placeholders(self.argv):
            if name not in self.params:
                raise ValueError(f"argv names the unknown parameter {name}")
        return self

    @property
    def install_hint(self) -> str:
        """Its install command, or what to do where there is none; never empty."""
        if self.install is None:
            return f"Install {self.label} and put {self.binaries[0]} on PATH"
        return shlex.join(self.install.command)


def placeholders(words: tuple[str, ...]) -> list[str]:
    """The names in braces, in order."""
    return [name for word in words for name in PLACEHOLDER.findall(word)]


def parse_entry(data: Mapping[str, Any]) -> CliEntry:
    """Check C{data}, as read from YAML or JSON.

    @raise ServiceError: INVALID_INPUT naming the field and the rule.
    """
    try:
        # By JSON, for that is where strict mode takes lists for tuples and words for enums.
        return CliEntry.model_validate_json(json.dumps(data))
    except ValidationError as error:
        field, rule = first_fault(error)
        raise invalid(field, rule) from None
    except (TypeError, ValueError):
        raise invalid("entry", "must be plain JSON data") from None


def first_fault(error: ValidationError) -> tuple[str, str]:
    """The field and the rule of the first thing wrong."""
    fault = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in fault["loc"]) or "entry"
    return field, fault["msg"].removeprefix("Value error, ")
