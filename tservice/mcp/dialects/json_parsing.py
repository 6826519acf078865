"""Parsing of JSON with or without comments."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from attrs import frozen

from tservice.mcp.dialects.errors import DialectError

STRING = r'"(?:[^"\\]++|\\.)*+"'
COMMENT = r"//[^\r\n]*|/\*.*?\*/"
BLANKS = " \t\r\n"
"""White space characters of JSON."""

# An unclosed string or comment matches to the end: searching its end at each character
# would take quadratic time while holding the interpreter.
_COMMENTS = re.compile(rf"{STRING}|({COMMENT})|\".*|/\*.*", re.DOTALL)
_COMMAS = re.compile(rf"{STRING}|(,)(?=\s*[}}\]])|\".*", re.DOTALL)


@frozen(kw_only=True)
class JsonSyntax:
    """Extensions of JSON that a CLI's own parser accepts, such as comments."""

    comments: bool = False
    trailing: bool = False

    def parse_object(self, text: str) -> dict[str, Any]:
        """Parse a text whose root is an object.

        @raise DialectError: the text is invalid, or its root is not an object.
        """
        plain = _COMMENTS.sub(_blank_comment, text) if self.comments else text
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


def _blank_comment(match: re.Match[str]) -> str:
    """Return spaces in place of a comment, with its line ends kept, so that offsets stay the
    same.
    """
    return match.group() if match.group(1) is None else re.sub(r"[^\r\n]", " ", match.group())


def _blank_comma(match: re.Match[str]) -> str:
    """Return a space in place of the comma after a last member, so that offsets stay the same.

    A comma without a member before it is kept, and remains an error.
    """
    if match.group(1) is None:
        return match.group()
    before = match.start() - 1
    while before >= 0 and match.string[before] in BLANKS:
        before -= 1
    return "," if before < 0 or match.string[before] in "{[" else " "


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError
