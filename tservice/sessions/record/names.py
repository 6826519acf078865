"""Rules of session names (protocol-session, protocol-create)."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import count
from pathlib import PurePosixPath

from tservice.core.kernel.errors import make_field_error
from tservice.core.values.text import LINE
from tservice.sessions.record.display import clean_line

NAME_LENGTH = 128
"""Maximum characters of a name."""

_LINE = re.compile(LINE)


def check_name(name: str, field: str = "name") -> str:
    """Check a name and return it in the form to store. An empty name requests a generated one.

    @param field: name of the request field, for the error.
    @raise ServiceError: 400 for control characters or more than L{NAME_LENGTH} characters.
    """
    if len(name) > NAME_LENGTH:
        raise make_field_error(field, f"at most {NAME_LENGTH} characters")
    if not _LINE.fullmatch(name):
        raise make_field_error(
            field, "control characters and text direction overrides are not allowed"
        )
    return name.strip()


def generate_name(working_dir: str, mode: str, taken: Collection[str]) -> str:
    """Return a generated name that is not in C{taken}: the folder's name, with a number from the
    second session on.
    """
    base = clean_line(PurePosixPath(working_dir).name, NAME_LENGTH - 8) or mode
    if base not in taken:
        return base
    return next(name for number in count(2) if (name := f"{base} {number}") not in taken)
