"""TOML documents, parsed by the standard library."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from tservice.core.values.value_limits import parse_toml
from tservice.mcp.dialects.errors import DialectError

_PLACE = re.compile(r"\(at (line \d+, column \d+|end of document)\)\Z")


def parse_document(text: str) -> dict[str, Any]:
    """Parse a TOML document.

    @raise DialectError: the text is invalid.
    """
    try:
        return parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        where = place.group(1) if place else "place unknown"
        if where == "end of document":
            line = text.count("\n") + 1
            where = f"line {line}, column {len(text) - text.rfind(chr(10))}"
        raise DialectError(f"not valid TOML ({where})") from None
    except ValueError:
        raise DialectError("not valid TOML") from None
