"""What an entry of the CLI registry is, and the rules that it must keep (wire 10).

The same records read the packaged YAML, the operator's C{clis.json} and the bodies of the write
routes, so that no entry is ever in use that did not pass them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from tservice.core.errors import invalid

ENTRY_LIMIT = 100
"""Entries of a registry, stock ones included."""

ParamValue = str | bool | int

PLACEHOLDER = re.compile(r"\{([a-z][A-Za-z0-9]{0,31})\}")
RESUME_ID = "id"
"""The placeholder of C{resume.argv} that stands for the conversation's id."""

_WORD = r"(?:[A-Za-z0-9_@%+=:,./\[\]-]|\{[a-z][A-Za-z0-9]{0,31}\})+"
_TEXT = r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]*"

Word = Annotated[str, StringConstraints(pattern=f"^{_WORD}$", min_length=1, max_length=200)]
"""A word that is itself in every shell: no blank, quote, expansion, glob or separator."""
PlainWord = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_@%+=:,./\[\]-]*$", max_length=128)
]
"""A L{Word} that holds no placeholder and can be taken for no option."""
Flag = Annotated[str, StringConstraints(pattern=r"^--?[A-Za-z0-9][A-Za-z0-9-]*=?$", max_length=64)]
Binary = Annotated[
    str,
    StringConstraints(
        pattern=r"^(?:[A-Za-z0-9_][A-Za-z0-9_.+-]*|(?:/[A-Za-z0-9_+][A-Za-z0-9_.+@-]*)+)$",
        max_length=200,
    ),
]
"""A file name to look up, or an absolute path (without dot folders)."""
EnvName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)]
Text = Annotated[str, StringConstraints(pattern=f"^{_TEXT}$")]
CliId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,23}$")]
Label = Annotated[str, StringConstraints(pattern=f"^{_TEXT}$", min_length=1, max_length=60)]
Badge = Annotated[str, StringConstraints(pattern=f"^{_TEXT}$", min_length=1, max_length=6)]
Binaries = Annotated[tuple[Binary, ...], Field(min_length=1, max_length=4)]
Argv = Annotated[tuple[Word, ...], Field(min_length=1, max_length=16)]

REFUSED_ENV = frozenset({"PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONPATH", "NODE_OPTIONS"})
"""Names that no entry and no caller may set (wire 1.3)."""
SERVICE_PREFIX = "SERVICE_"
ANY_NAME = "*"
"""An C{allowedPrefixes} item that stands for every name that is not refused."""


def is_refused(name: str) -> bool:
    """Whether C{name} is kept from every override: it would change what runs, or who it is."""
    return name in REFUSED_ENV or name.startswith(SERVICE_PREFIX)


class Record(BaseModel):
    """A frozen record, strict, camelCase in files and on the wire."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True
    )


class Kind(StrEnum):
    """What runs in the pane."""

    AGENT = "agent"
    SHELL = "shell"


class ParamType(StrEnum):
    """What values a launch parameter takes."""

    ENUM = "enum"
    BOOL = "bool"
    TOKEN = "token"  # noqa: S105
    INT = "int"


class Param(Record):
    """A launch parameter.

    @ivar flag: the option: C{--model} gives two words, C{--model=} one; of a bool the word itself.
        C{None}: the value is used only where C{argv} names it.
    @ivar values: the words of an enum.
    @ivar pattern: what a token must match as a whole, besides being a L{PlainWord}.
    @ivar privileged: true: only who may bypass permissions chooses another value than
        C{clampTo}; a list: the values that only they may choose.
    @ivar clamp_to: what the others get instead; without it they are refused.
    """

    type: ParamType
    values: Annotated[tuple[PlainWord, ...], Field(min_length=1, max_length=32)] | None = None
    pattern: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    flag: Flag | None = None
    default: ParamValue | None = None
    privileged: bool | tuple[PlainWord, ...] = False
    clamp_to: ParamValue | None = None

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            _compile(pattern)
        return pattern

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if (self.type is ParamType.ENUM) != (self.values is not None):
            raise ValueError("values belong to an enum, and an enum needs them")
        if self.pattern is not None and self.type is not ParamType.TOKEN:
            raise ValueError("pattern belongs to a token")
        for name, value in (("default", self.default), ("clampTo", self.clamp_to)):
            if value is not None and (rule := self.broken_rule(value)):
                raise ValueError(f"{name} {rule}")
        return self

    def broken_rule(self, value: object) -> str | None:
        """The rule that C{value} breaks, or C{None} when it may be used."""
        if self.type is ParamType.BOOL:
            return None if isinstance(value, bool) else "must be true or false"
        if self.type is ParamType.INT:
            whole = isinstance(value, int) and not isinstance(value, bool)
            # A negative number would read as an option.
            return None if whole and 0 <= value <= 2**31 - 1 else "must be 0 to 2147483647"  # type: ignore[operator]
        if not isinstance(value, str):
            return "must be a string"
        if self.type is ParamType.ENUM:
            known = self.values or ()
            return None if value in known else f"must be one of {', '.join(known)}"
        return self._broken_token(value)

    def _broken_token(self, value: str) -> str | None:
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_@%+=:,./\[\]-]{0,127}", value):
            return "must be one word of at most 128 letters, digits and _@%+=:,./[]-"
        if self.pattern is not None and not re.fullmatch(self.pattern, value):
            return f"must match {self.pattern}"
        return None

    def needs_grant(self, value: ParamValue) -> bool:
        """Whether only who may bypass permissions may choose C{value}."""
        if isinstance(self.privileged, bool):
            return self.privileged and value != self.clamp_to
        return value in self.privileged


class Env(Record):
    """What the entry does to the pane's environment.

    @ivar allowed_prefixes: names that sessions may override, and that reach the pane from the
        service's own environment; C{*} allows every override, and passes nothing on.
    """

    set: dict[EnvName, Annotated[Text, StringConstraints(max_length=4096)]] = {}
    unset: tuple[EnvName, ...] = ()
    allowed_prefixes: tuple[
        Annotated[str, StringConstraints(pattern=r"^(?:[A-Z][A-Z0-9_]{1,63}|\*)$")], ...
    ] = ()

    @field_validator("set")
    @classmethod
    def _none_refused(cls, names: dict[str, str]) -> dict[str, str]:
        for name in names:
            if is_refused(name):
                raise ValueError(f"{name} may not be set")
        return names

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


class Resume(Record):
    """How to go on with a conversation: words put before the flags; C{{id}} is its id."""

    argv: Annotated[tuple[Word, ...], Field(min_length=1, max_length=8)]

    @field_validator("argv")
    @classmethod
    def _names_the_id(cls, argv: tuple[str, ...]) -> tuple[str, ...]:
        if set(placeholders(argv)) != {RESUME_ID}:
            raise ValueError("must hold {id}, and no other placeholder")
        return argv


class Hooks(StrEnum):
    """Whether the agent tells of itself by hooks."""

    NONE = "none"
    ALWAYS = "always"


class Transcript(StrEnum):
    """Whose format the agent's own transcript files have."""

    NONE = "none"
    CLAUDE = "claude"
    CODEX = "codex"


class McpFormat(StrEnum):
    """Dialects of MCP configuration files (wire 11)."""

    CLAUDE = "claude-json"
    GEMINI = "gemini-json"
    ANTIGRAVITY = "antigravity-json"
    OPENCODE = "opencode-json"
    CODEX = "codex-toml"


class CustomModelStyle(StrEnum):
    """How a custom model endpoint is put into the agent (wire 17)."""

    NONE = "none"
    CLAUDE_ENV = "claude-env"
    OPENCODE_CONTENT = "opencode-content"
    CODEX_HOME = "codex-home"
    GEMINI_ENV = "gemini-env"
    PI_HOME = "pi-home"


class ModelDetect(Record):
    """Where the screen names the model.

    @ivar pattern: searched in each of the last C{rows} rows; its one group is the name.
    @ivar config_reader: a named reader of the agent's own configuration file.
    """

    pattern: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    rows: Annotated[int, Field(ge=1, le=200)]
    config_reader: CliId | None = None

    @field_validator("pattern")
    @classmethod
    def _one_group(cls, pattern: str) -> str:
        if _compile(pattern).groups != 1:
            raise ValueError("must have exactly one group")
        return pattern


class Relocation(Record):
    """The variable that moves the file: to C{path} below the folder that it names."""

    env_var: EnvName
    path: Word


class McpConfig(Record):
    """The agent's own MCP configuration file; C{path} is below the home folder."""

    path: Word
    format: McpFormat
    relocation: Relocation | None = None


class CustomModel(Record):
    """How a custom model endpoint reaches the agent."""

    style: CustomModelStyle = CustomModelStyle.NONE


class Capabilities(Record):
    """What the service may count on.  The defaults are the conservative ones of custom entries.

    @ivar privileged_command_gate: true: whoever launches it can run any command unasked, so it
        takes the grant to bypass permissions.
    @ivar composer_ready_mark: text on the screen once a prompt can be given.
    @ivar working_line: pattern searched in each row of the screen; a hit means busy.
    @ivar working_title: pattern searched in the pane's title; a hit means busy.
    @ivar prompt_glyph: what the composer's row begins with, leading blanks aside.
    """

    hooks: Hooks = Hooks.NONE
    transcript: Transcript = Transcript.NONE
    alt_screen: bool = False
    privileged_command_gate: bool = True
    composer_ready_mark: Annotated[Text, StringConstraints(min_length=1, max_length=200)] | None = (
        None
    )
    working_line: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    working_title: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    prompt_glyph: Annotated[Text, StringConstraints(min_length=1, max_length=8)] | None = None
    model_detect: ModelDetect | None = None
    mcp_config: McpConfig | None = None
    custom_model: CustomModel = CustomModel()

    @field_validator("working_line", "working_title")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            _compile(pattern)
        return pattern


class Entry(Record):
    """One CLI.

    @ivar binaries: names looked up in this order.
    @ivar argv: the command; a first word that is one of C{binaries} stands for the file found,
        which is else put before it: nothing but C{binaries} is ever run.
    """

    id: CliId
    label: Label
    short_badge: Badge
    order: Annotated[int, Field(ge=0, le=10_000)] = 1000
    kind: Kind = Kind.AGENT
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
    resume: Resume | None = None
    capabilities: Capabilities = Capabilities()

    @model_validator(mode="after")
    def _placeholders_are_params(self) -> Self:
        for name in placeholders(self.argv):
            if name not in self.params:
                raise ValueError(f"argv names the unknown parameter {name}")
        return self


def placeholders(words: tuple[str, ...]) -> list[str]:
    """The names in braces, in order."""
    return [name for word in words for name in PLACEHOLDER.findall(word)]


def parse_entry(data: Mapping[str, Any]) -> Entry:
    """Check C{data}, as read from YAML or JSON.

    @raise ServiceError: INVALID_INPUT naming the field and the rule.
    """
    try:
        # By JSON, for that is where strict mode takes lists for tuples and words for enums.
        return Entry.model_validate_json(json.dumps(data))
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


def _compile(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
