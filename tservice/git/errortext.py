"""The text of an error, fit for a client."""

from __future__ import annotations

import re

from tservice.core.logs.redact import MARK, Redactor
from tservice.git.model import ERROR_LIMIT

_CREDENTIALS = re.compile(r"(?<![^\s/'\"@]):*+[^\s/'\"@:]++:[^\s/'\"@]++(?=@)")
"""C{user:token} before an C{@}, also without a scheme; looked for once in a word."""


def error_text(redactor: Redactor, stderr: bytes) -> str:
    """Git's first line of complaint, without credentials, at most L{ERROR_LIMIT} characters."""
    lines = stderr.decode("utf-8", "replace").splitlines()
    first = next((line.strip() for line in lines if line.strip()), "git failed without a word")
    first = "".join(char if char.isprintable() else "?" for char in first)
    cleaned = _CREDENTIALS.sub(MARK, redactor.clean(first))
    return cleaned[:ERROR_LIMIT]
