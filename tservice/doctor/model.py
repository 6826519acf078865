"""Records of programs and of the report, and comparison of versions."""

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
"""Maximum characters of a version in the report."""

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
    """Program to check.

    @ivar names: file names; the first one found is used.
    @ivar version_args: arguments that print its version; empty means that the program is not run.
    @ivar pattern: regular expression whose group matches the version in the output; empty means
        that the first number is used.
    @ivar least: minimum version.
    @ivar packages: name of its package by package manager.
    @ivar advice: instruction how to install it if no package manager has it.
    @ivar proof: arguments of a test command that succeeds if the program works; empty means that
        printing its version is enough.
    @ivar partner: name of the program whose version the test command prints; empty means that the
        output is ignored.
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
    """Row of the report: the result for one program.  Absent fields have no value.

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
    """Return the version in a program's output; C{None} if there is none."""
    for line in text.splitlines()[:20]:
        for pattern in (_TMUX, _OPENSSH):
            if found := pattern.match(line):
                return "".join(part or "" for part in found.groups())[:VERSION_LIMIT]
        if found := _VERSION.search(line):
            return found[1][:VERSION_LIMIT]
    return None


def parse_version_numbers(version: str) -> Version:
    """Return the leading numbers of a version.  For example, C{3.3a} becomes (3, 3)."""
    found = re.match(r"\d+(?:\.\d+)*", version, re.ASCII)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def is_older(version: str, least: Version) -> bool:
    """Return true if C{version} is lower than C{least}.  Trailing zeros do not count."""
    have = parse_version_numbers(version)
    width = max(len(have), len(least))
    return _pad_version(have, width) < _pad_version(least, width)


def format_version(version: Version) -> str:
    """Return a version as text, for example C{3.11}."""
    return ".".join(map(str, version))


def make_report(
    platform: str, rows: Sequence[ReportRow], looked_in: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the wire form of the report (protocol-doctor).

    @param looked_in: folders in which programs were searched.
    """
    counts = Counter(row.status for row in rows)
    return {
        "platform": platform,
        "summary": {status.value: counts[status] for status in ToolStatus},
        "tools": [_row_to_wire(row) for row in rows],
        "lookedIn": list(looked_in),
    }


def prepend_rows(found: Mapping[str, Any], rows: Sequence[ReportRow]) -> dict[str, Any]:
    """Return the report with C{rows} before its own rows."""
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
    """Return true if a required program in the report has a fault."""
    return any(
        tool["required"] and tool["status"] != ToolStatus.OK.value for tool in found["tools"]
    )


def _row_to_wire(row: ReportRow) -> dict[str, Any]:
    data = attrs.asdict(row)
    data["installHint"] = data.pop("install_hint")
    return {name: value for name, value in data.items() if value is not None}


def _pad_version(version: Version, width: int) -> Version:
    return (*version, *(0,) * (width - len(version)))
