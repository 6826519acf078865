"""Launch parameters of CLIs: their values, and the privileges that some values need."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from tservice.clis.field_types import PLAIN_WORD, CliRecord, Flag, PlainWord, compile_pattern

ParamValue = str | bool | int


class ParamType(StrEnum):
    """Type of a launch parameter's values."""

    ENUM = "enum"
    BOOL = "bool"
    TOKEN = "token"  # noqa: S105
    INT = "int"


class LaunchParam(CliRecord):
    """Launch parameter of a CLI.

    @ivar flag: command-line option. C{--model} adds two arguments, C{--model=} adds one. For a bool
        it is the complete argument. C{None} if the value is used only where C{argv} refers to it.
    @ivar values: values of an enum.
    @ivar pattern: regular expression that a token must match completely, in addition to
        L{PlainWord}.
    @ivar privileged: true if every value except C{clampTo} needs the grant to bypass permissions;
        otherwise a list of the values that need it.
    @ivar clamp_to: value for callers without the grant. If there is none, their request is refused.
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
    def _require_valid_pattern(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            compile_pattern(pattern)
        return pattern

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        if (self.type is ParamType.ENUM) != (self.values is not None):
            raise ValueError("values are required for an enum, and invalid for other types")
        if self.pattern is not None and self.type is not ParamType.TOKEN:
            raise ValueError("pattern is valid for a token only")
        if not isinstance(self.privileged, bool) and not set(self.privileged) <= set(
            self.values or ()
        ):
            raise ValueError("privileged must be true, false or some of values")
        if self.clamp_to is not None and self.needs_grant(self.clamp_to):
            raise ValueError("clampTo must not be privileged itself")
        for name, value in (("default", self.default), ("clampTo", self.clamp_to)):
            if value is not None and (rule := self.find_broken_rule(value)):
                raise ValueError(f"{name} {rule}")
        return self

    def find_broken_rule(self, value: object) -> str | None:
        """Return a description of the rule that C{value} violates, or C{None} if the value is
        valid.
        """
        if self.type is ParamType.BOOL:
            return None if isinstance(value, bool) else "must be true or false"
        if self.type is ParamType.INT:
            whole = isinstance(value, int) and not isinstance(value, bool)
            # A negative number could be read as an option.
            return None if whole and 0 <= value <= 2**31 - 1 else "must be 0 to 2147483647"  # type: ignore[operator]
        if not isinstance(value, str):
            return "must be a string"
        if self.type is ParamType.ENUM:
            known = self.values or ()
            return None if value in known else f"must be one of {', '.join(known)}"
        return self._broken_token(value)

    def _broken_token(self, value: str) -> str | None:
        if not re.fullmatch(PLAIN_WORD, value):
            return "must be one word of at most 128 letters, digits and _@%+=:,./[]-"
        if self.pattern is not None and not re.fullmatch(self.pattern, value):
            return f"must match {self.pattern}"
        return None

    def needs_grant(self, value: ParamValue) -> bool:
        """Return true if C{value} needs the grant to bypass permissions."""
        if isinstance(self.privileged, bool):
            return self.privileged and value != self.clamp_to
        return value in self.privileged


def list_offered_choices(params: Mapping[str, LaunchParam]) -> dict[str, list[str]]:
    """Return the parameters that a client offers as choices, each with its values (protocol-clis).

    An empty list means that any value is accepted.
    """
    words = (ParamType.ENUM, ParamType.TOKEN)
    return {name: list(one.values or ()) for name, one in params.items() if one.type in words}
