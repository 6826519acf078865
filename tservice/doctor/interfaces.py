"""Interface of the doctor for other features: C{tsctl doctor} is one call."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from tservice.clis.interfaces import read_stored_registry
from tservice.doctor.host_report import print_report
from tservice.doctor.model import ToolCategory
from tservice.doctor.registry_entries import select_enabled

CATEGORIES = tuple(category.value for category in ToolCategory)


def report_host(
    category: str | None,
    data_dir: Path,
    environ: Mapping[str, str],
    home: Path,
    out: TextIO,
    aside: TextIO | None = None,
) -> int:
    """Print the report of this host; blocks for 30 s at most.

    @param category: one of L{CATEGORIES}; C{None}: all of them.
    @param data_dir: data folder of the service whose CLIs are examined; it need not run or exist.
    @param aside: if set, JSON is printed to C{out}, as the API answers it, and messages go here.
    @return: the exit status: 0; 1 if a required tool fails; 2 without a report.
    """
    wanted = None if category is None else ToolCategory(category)
    found = read_stored_registry(data_dir)
    for fault in found.faults:
        (aside or out).write(f"not in use: {fault}\n")
    return print_report(wanted, select_enabled(found.entries), environ, home, out, aside=aside)
