"""Diagnostics: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from tservice.client.calling import Calling


class DoctorAnswer(TypedDict):
    """The report."""

    platform: str
    summary: Summary
    tools: list[ToolAnswer]
    lookedIn: list[str]


class Summary(TypedDict):
    """How many tools there are of each status."""

    ok: int
    missing: int
    outdated: int
    skipped: int
    error: int


class ToolAnswer(TypedDict):
    """One tool; absent fields have no value."""

    id: str
    label: str
    category: Literal["core", "office", "other"]
    required: bool
    status: Literal["ok", "missing", "outdated", "skipped", "error"]
    needed: NotRequired[str]
    version: NotRequired[str]
    path: NotRequired[str]
    installHint: NotRequired[str]
    reason: NotRequired[str]


class Diagnostics(Calling):
    """Diagnostics."""

    async def get_doctor(
        self, *, category: Literal["core", "office", "other"] | None = None
    ) -> DoctorAnswer:
        """What this host has of the programs that the service works with."""
        found: DoctorAnswer = await self.call("GET", "/doctor", query={"category": category})
        return found
