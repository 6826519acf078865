"""Types for the fields of CLI entries. They accept only text that no program misinterprets."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from tservice.core.values.failfast import FAIL_FAST
from tservice.core.values.text import LINE

PLACEHOLDER = re.compile(r"\{([a-z][A-Za-z0-9]{0,31})\}")
RESUME_ID = "id"
"""Placeholder in C{resume.argv} that is replaced by the conversation id."""

_WORD = r"(?:[A-Za-z0-9_@%+=:,./-]|\{[a-z][A-Za-z0-9]{0,31}\})+"

Word = Annotated[str, StringConstraints(pattern=f"^{_WORD}$", min_length=1, max_length=200)]
"""Argument of a command, without blanks, quotes, expansions, globs or separators of any program."""

PLAIN_WORD = r"[A-Za-z0-9_][A-Za-z0-9_@%+=:,./\[\]-]{0,127}"
PlainWord = Annotated[str, StringConstraints(pattern=f"^{PLAIN_WORD}$")]
"""Argument that no program parses as an option. Brackets are permitted, as model names contain
them.
"""
Flag = Annotated[
    str,
    StringConstraints(
        pattern=r"^--?[A-Za-z0-9][A-Za-z0-9-]*(?:=(?:[A-Za-z0-9_.]+=)?)?$", max_length=64
    ),
]
"""Command-line option. If it ends in C{=}, its value follows in the same argument."""
Binary = Annotated[
    str,
    StringConstraints(
        pattern=r"^(?:[A-Za-z0-9_][A-Za-z0-9_.+-]*|(?:/[A-Za-z0-9_+][A-Za-z0-9_.+@-]*)+)$",
        max_length=200,
    ),
]
"""File name to search for, or an absolute path without C{.} and C{..}."""
EnvName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)]
Text = Annotated[str, StringConstraints(pattern=f"^{LINE}$")]
CliId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,23}$", max_length=24)]
Label = Annotated[str, StringConstraints(pattern=f"^{LINE}$", min_length=1, max_length=60)]
Badge = Annotated[str, StringConstraints(pattern=f"^{LINE}$", min_length=1, max_length=6)]
Binaries = Annotated[tuple[Binary, ...], Field(min_length=1, max_length=4, strict=False), FAIL_FAST]
Argv = Annotated[tuple[Word, ...], Field(min_length=1, max_length=16, strict=False), FAIL_FAST]

REFUSED_ENV = frozenset({"PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONPATH", "NODE_OPTIONS"})
"""Variables that neither an entry nor a caller may set (protocol-environment)."""
SERVICE_PREFIX = "SERVICE_"
ANY_NAME = "*"
"""Item of C{allowedPrefixes} that matches every name that is not refused."""


def is_refused(name: str) -> bool:
    """Return true if the variable C{name} may never be overridden.

    These variables determine which programs run, or the identity of the user.
    """
    return name in REFUSED_ENV or name.startswith(SERVICE_PREFIX)


class CliRecord(BaseModel):
    """Base class of frozen, strict records. Field names are in camelCase in files and on the
    wire.
    """

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, alias_generator=to_camel, defer_build=True
    )


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a regular expression.

    @raise ValueError: the expression is invalid.
    """
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
