"""Conversion of git's error output to text that clients may see."""

from __future__ import annotations

import re

from tservice.core.logs.redact import MARK, SecretRedactor
from tservice.git.model import ERROR_LIMIT

_CREDENTIALS = re.compile(r"(?<![^\s/'\"@]):*+[^\s/'\"@:]++:[^\s/'\"@]++(?=@)")
"""Matches C{user:token} before an C{@}, with or without a scheme, once in each word."""


def make_error_text(redactor: SecretRedactor, stderr: bytes) -> str:
    """Return the first line of git's error output, without credentials.

    The line is cut to L{ERROR_LIMIT} characters.
    """
    lines = stderr.decode("utf-8", "replace").splitlines()
    first = next(
        (line.strip() for line in lines if line.strip()), "git failed without an error text"
    )
    first = "".join(char if char.isprintable() else "?" for char in first)
    return hide_credentials(redactor, first)[:ERROR_LIMIT]


def hide_credentials(redactor: SecretRedactor, text: str) -> str:
    """Return git's output without credentials."""
    return _CREDENTIALS.sub(MARK, redactor.redact_text(text))
