"""Callers for tests that call a service without a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tservice.core.callers.caller import Caller


def make_caller(reauthorize: Callable[[], object] = lambda: None, **fields: Any) -> Caller:
    """Return a caller with the fields of an identity, whose rights are never lost by default."""
    return Caller(**fields, reauthorize=reauthorize)


GRANTED = make_caller(username="admin", admin=True)
"""Caller who may start agents that do not ask for permission."""

UNGRANTED = make_caller(username="user", admin=False)
