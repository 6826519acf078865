"""Base classes of request and response models (protocol-requests)."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from tservice.core.values.payload import Payload

_INTEGER = re.compile(r"-?[0-9]+")
_LARGEST = 10**18 - 1
_LONGEST_MEMBER = 64
_TRUTHS = ("0", "1", "false", "true")


class RequestBody(BaseModel):
    """Request body: unknown fields and loose types are refused."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=False,
        defer_build=True,
    )


class QueryParameters(BaseModel):
    """Query string: unknown parameters are ignored, values are parsed from text."""

    model_config = ConfigDict(
        extra="ignore",
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=False,
        defer_build=True,
    )


ResponseModel = Payload
"""Base class of an operation's response."""


def _parse_integer(value: object) -> object:
    if not isinstance(value, str):
        return value
    if not _INTEGER.fullmatch(value):
        raise PydanticCustomError("int_type", "must be an integer")
    digits = value.lstrip("-0") or "0"
    number = int(digits) if len(digits) <= 18 else _LARGEST
    return -number if value.startswith("-") else number


def _parse_boolean(value: object) -> object:
    if isinstance(value, str):
        if value not in _TRUTHS:
            raise ValueError("must be one of 0, 1, false, true")
        return value in ("1", "true")
    return value


def _check_member(value: object) -> object:
    return value if isinstance(value, str) and len(value) <= _LONGEST_MEMBER else ""


ENUM_MEMBER = BeforeValidator(_check_member)
"""Validator for a member of a string enum in a body that may be large.

Pydantic's own error would list all members.
"""

QueryInt = Annotated[int, BeforeValidator(_parse_integer)]
"""Query parameter of decimal digits with an optional minus sign, and nothing else.

A number of more than 18 digits counts as the largest of 18: it is outside every range, to be
clamped or refused there.
"""

QueryBool = Annotated[bool, BeforeValidator(_parse_boolean)]
"""Query parameter that is C{0}, C{1}, C{false} or C{true}."""
