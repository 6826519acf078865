"""JSON, with comments or without, read as data."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from attrs import frozen

from tservice.mcp.dialects.faults import DialectError

STRING = r'"(?:[^"\\]++|\\.)*+"'
COMMENT = r"//[^\r\n]*|/\*.*?\*/"
BLANKS = " \t\r\n"
"""White space, as JSON has it."""

# What is never closed is taken to the end at once: to look for its end again at each further sign
# would cost the square of the length, with the interpreter held.
_COMMENTS = re.compile(rf"{STRING}|({COMMENT})|\".*|/\*.*", re.DOTALL)
_COMMAS = re.compile(rf"{STRING}|(,)(?=\s*[}}\]])|\".*", re.DOTALL)


@frozen(kw_only=True)
class Syntax:
    """What a CLI's own reader takes beyond JSON."""

    comments: bool = False
    trailing: bool = False

    def load(self, text: str) -> dict[str, Any]:
        """The object that C{text} is.

        @raise DialectError: it is none.
        """
        plain = _COMMENTS.sub(_blank, text) if self.comments else text
        plain = _COMMAS.sub(_blank_comma, plain) if self.trailing else plain
        try:
            data = json.loads(plain, parse_constant=_refuse_constant)
        except json.JSONDecodeError as error:
            where = f"line {error.lineno}, column {error.colno}"
            raise DialectError(f"not valid JSON ({where})") from None
        except (ValueError, RecursionError):
            raise DialectError("not valid JSON") from None
        if not isinstance(data, dict):
            raise DialectError("not a JSON object")
        return data


def _blank(match: re.Match[str]) -> str:
    """Spaces for a comment, its line ends kept, so that positions stay."""
    return match.group() if match.group(1) is None else re.sub(r"[^\r\n]", " ", match.group())


def _blank_comma(match: re.Match[str]) -> str:
    """A space for the comma behind a last member; one that follows no member stays a fault."""
    if match.group(1) is None:
        return match.group()
    before = match.start() - 1
    while before >= 0 and match.string[before] in BLANKS:
        before -= 1
    return "," if before < 0 or match.string[before] in "{[" else " "


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError
