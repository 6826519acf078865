"""Errors of configuration files; the texts contain none of their contents."""

from __future__ import annotations


class DialectError(Exception):
    """The text cannot be parsed, or extended, safely.

    The message names the place and the rule, never the contents (protocol-errors).
    """
