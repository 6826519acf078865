"""Interface of the doctor for other features: the function that implements C{tsctl doctor}."""

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
    """Check this host and print the report.  Blocks for at most 30 s.

    @param category: check only this one of L{CATEGORIES}; C{None} means all.
    @param data_dir: data folder of the service whose CLIs are checked.  The service need not run,
        and the folder need not exist.
    @param aside: stream for messages; if given, the report is printed to C{out} as the API's JSON.
    @return: the exit status: 0; 1 if a required program has a fault; 2 without a report.
    """
    wanted = None if category is None else ToolCategory(category)
    found = read_stored_registry(data_dir)
    for fault in found.faults:
        (aside or out).write(f"not in use: {fault}\n")
    return print_report(wanted, select_enabled(found.entries), environ, home, out, aside=aside)
