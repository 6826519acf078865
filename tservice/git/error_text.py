"""Error texts of git, fit for a client."""

from __future__ import annotations

import re

from tservice.core.logs.redact import MARK, SecretRedactor
from tservice.git.model import ERROR_LIMIT

_CREDENTIALS = re.compile(r"(?<![^\s/'\"@]):*+[^\s/'\"@:]++:[^\s/'\"@]++(?=@)")
"""Matches C{user:token} before an C{@}, also without a scheme, once in a word."""


def make_error_text(redactor: SecretRedactor, stderr: bytes) -> str:
    """Return git's first error line, without credentials, at most L{ERROR_LIMIT} characters."""
    lines = stderr.decode("utf-8", "replace").splitlines()
    first = next(
        (line.strip() for line in lines if line.strip()), "git failed without an error text"
    )
    first = "".join(char if char.isprintable() else "?" for char in first)
    cleaned = _CREDENTIALS.sub(MARK, redactor.redact_text(first))
    return cleaned[:ERROR_LIMIT]
