"""Launch parameters: what they take, and who may choose what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from tservice.clis.words import PLAIN_WORD, Flag, PlainWord, Record, compiled

ParamValue = str | bool | int


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
            compiled(pattern)
        return pattern

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if (self.type is ParamType.ENUM) != (self.values is not None):
            raise ValueError("values belong to an enum, and an enum needs them")
        if self.pattern is not None and self.type is not ParamType.TOKEN:
            raise ValueError("pattern belongs to a token")
        if not isinstance(self.privileged, bool) and not set(self.privileged) <= set(
            self.values or ()
        ):
            raise ValueError("privileged must be true, false or some of values")
        if self.clamp_to is not None and self.needs_grant(self.clamp_to):
            raise ValueError("clampTo must not be privileged itself")
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
        if not re.fullmatch(PLAIN_WORD, value):
            return "must be one word of at most 128 letters, digits and _@%+=:,./[]-"
        if self.pattern is not None and not re.fullmatch(self.pattern, value):
            return f"must match {self.pattern}"
        return None

    def needs_grant(self, value: ParamValue) -> bool:
        """Whether only who may bypass permissions may choose C{value}."""
        if isinstance(self.privileged, bool):
            return self.privileged and value != self.clamp_to
        return value in self.privileged


def offered(params: Mapping[str, Param]) -> dict[str, list[str]]:
    """What is chosen by words, each with those that it takes; none where it takes any
    (protocol-clis)."""
    words = (ParamType.ENUM, ParamType.TOKEN)
    return {name: list(one.values or ()) for name, one in params.items() if one.type in words}
