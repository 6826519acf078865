"""Error for configuration files that cannot be handled. Its text contains nothing of the file."""

from __future__ import annotations


class DialectError(Exception):
    """Error for a text that cannot be parsed or extended safely.

    The message states the position and the rule, never the contents (protocol-errors).
    """
