"""A caller whose right ends while a change of theirs waits for something."""

from __future__ import annotations

from attrs import evolve

from tests.callers import GRANTED
from tservice.core.kernel.errors import ErrorCode, ServiceError


def allow_change() -> None:
    """The right is there."""


def deny_change() -> None:
    """It is not, by the time that the change is judged again."""
    raise ServiceError(ErrorCode.FORBIDDEN, "no more")


DENIED = evolve(GRANTED, reauthorize=deny_change)
"""Caller who has lost the right by the time that the change is judged again."""
