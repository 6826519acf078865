"""Why a configuration file is not used; the texts hold none of it."""

from __future__ import annotations


class DialectError(Exception):
    """The text cannot be read, or not be added to, safely.

    The message tells the place and the rule, never what stands there (protocol-errors).
    """
