"""Report, and the rules for versions.  Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import attrs
from attrs import field, frozen

Version = tuple[int, ...]

VERSION_LIMIT = 60
"""Characters of a version that are shown."""

_VERSION = re.compile(r"(?<![\w.])v?(\d{1,9}(?:\.\d{1,9})+[a-z]?(?:[-+][\w.]{1,20})?)", re.ASCII)
_TMUX = re.compile(r"^tmux (?:next-|openbsd-)?(\d{1,9}(?:\.\d{1,9})*)([a-z]?)(-rc\d*)?", re.ASCII)
_OPENSSH = re.compile(r"^OpenSSH_(\d[\w.]{0,20})", re.ASCII)


class ToolCategory(StrEnum):
    """Groups of tools."""

    CORE = "core"
    OFFICE = "office"
    OTHER = "other"


class ToolStatus(StrEnum):
    """Result of the check of a tool."""

    OK = "ok"
    MISSING = "missing"
    OUTDATED = "outdated"
    SKIPPED = "skipped"
    ERROR = "error"


@frozen(kw_only=True)
class HostTool:
    """Tool to examine.

    @ivar names: file names; the first one found counts.
    @ivar version_args: arguments that print its version; empty: it is not run.
    @ivar pattern: its one group matches the version in the output; empty: the first number is
        taken.
    @ivar least: the minimum version.
    @ivar packages: its package by package manager, if there is one.
    @ivar advice: how to get it if no package manager has it.
    @ivar proof: arguments of a command that succeeds if it works; empty: printing its version is
        enough.
    @ivar partner: name of the program whose version the proof prints; empty: its output does not
        matter.
    """

    id: str
    label: str
    category: ToolCategory
    names: tuple[str, ...]
    required: bool = False
    version_args: tuple[str, ...] = ("--version",)
    pattern: str = ""
    least: Version | None = None
    packages: Mapping[str, str] = field(factory=dict)
    advice: str = ""
    proof: tuple[str, ...] = ()
    partner: str = ""


@frozen(kw_only=True)
class ReportRow:
    """Result for one tool; absent fields have no value.

    @ivar needed: the minimum version.
    """

    id: str
    label: str
    category: ToolCategory
    required: bool
    status: ToolStatus
    needed: str | None = None
    version: str | None = None
    path: str | None = None
    install_hint: str | None = None
    reason: str | None = None


def parse_tool_version(text: str) -> str | None:
    """Return the version in a tool's output; C{None}: no version is visible."""
    for line in text.splitlines()[:20]:
        for pattern in (_TMUX, _OPENSSH):
            if found := pattern.match(line):
                return "".join(part or "" for part in found.groups())[:VERSION_LIMIT]
        if found := _VERSION.search(line):
            return found[1][:VERSION_LIMIT]
    return None


def version_numbers(version: str) -> Version:
    """Return the leading numbers of a version; C{3.3a} is 3.3."""
    found = re.match(r"\d+(?:\.\d+)*", version, re.ASCII)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def is_older(version: str, least: Version) -> bool:
    """Return true if C{version} precedes C{least}; 3.2 and 3.2.0 are the same."""
    have = version_numbers(version)
    width = max(len(have), len(least))
    return _pad_version(have, width) < _pad_version(least, width)


def format_version(version: Version) -> str:
    """Return the text of a version."""
    return ".".join(map(str, version))


def make_report(
    platform: str, rows: Sequence[ReportRow], looked_in: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the wire form of the report (protocol-doctor).

    @param looked_in: the folders in which programs were searched.
    """
    counts = Counter(row.status for row in rows)
    return {
        "platform": platform,
        "summary": {status.value: counts[status] for status in ToolStatus},
        "tools": [_row_to_wire(row) for row in rows],
        "lookedIn": list(looked_in),
    }


def prepend_rows(found: Mapping[str, Any], rows: Sequence[ReportRow]) -> dict[str, Any]:
    """Return a report with more rows in front."""
    counts = Counter({ToolStatus(name): number for name, number in found["summary"].items()})
    counts.update(row.status for row in rows)
    return {
        **found,
        "summary": {status.value: counts[status] for status in ToolStatus},
        "tools": [*map(_row_to_wire, rows), *found["tools"]],
    }


def make_fault_row(name: str, label: str, reason: str) -> ReportRow:
    """Return the row for a fault of the service itself."""
    return ReportRow(
        id=name,
        label=label,
        category=ToolCategory.CORE,
        required=True,
        status=ToolStatus.ERROR,
        reason=reason,
    )


def has_required_fault(found: Mapping[str, Any]) -> bool:
    """Return true if a report has a required tool with a fault."""
    return any(
        tool["required"] and tool["status"] != ToolStatus.OK.value for tool in found["tools"]
    )


def _row_to_wire(row: ReportRow) -> dict[str, Any]:
    data = attrs.asdict(row)
    data["installHint"] = data.pop("install_hint")
    return {name: value for name, value in data.items() if value is not None}


def _pad_version(version: Version, width: int) -> Version:
    return (*version, *(0,) * (width - len(version)))
