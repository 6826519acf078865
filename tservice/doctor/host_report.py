"""Implementation of C{tsctl doctor}, which checks the host itself with its own PATH
(protocol-doctor).

No service needs to run.  The entry point is L{tservice.doctor.interfaces.report_host}.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

from tservice.doctor.catalogue import ExaminedCli
from tservice.doctor.child_launch import (
    TIME_LIMIT,
    encode_child_request,
    make_child_command,
    make_child_environment,
    parse_report,
)
from tservice.doctor.model import ToolCategory, has_required_fault

NO_REPORT = 2
"""Exit status if the child process printed no report."""


def print_report(
    category: ToolCategory | None,
    clis: Iterable[ExaminedCli],
    environ: Mapping[str, str],
    home: Path,
    out: TextIO,
    *,
    limit: float = TIME_LIMIT,
    aside: TextIO | None = None,
) -> int:
    """Check the host and print the report as text.

    Blocks for at most C{limit} seconds.

    @param aside: stream for messages; if given, the report is printed to C{out} as JSON.
    @return: the exit status: 0; 1 if a required program has a fault; 2 without a report.
    """
    found = run_child(encode_child_request(category, clis, home), environ, limit)
    if found is None:
        (aside or out).write("the doctor gave no report\n")
        return NO_REPORT
    shown = format_report(found) if aside is None else [json.dumps(found, indent=2)]
    for line in shown:
        out.write(f"{line}\n")
    return 1 if has_required_fault(found) else 0


def run_child(order: bytes, environ: Mapping[str, str], limit: float) -> dict[str, Any] | None:
    """Run the child process and return its report; C{None} if there is none within C{limit}
    seconds.

    @param order: the request, as bytes for the child's stdin.
    """
    process = subprocess.Popen(
        make_child_command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=make_child_environment(environ),
        cwd="/",
        start_new_session=True,
    )
    try:
        printed, _ = process.communicate(order, limit)
    except subprocess.TimeoutExpired:
        # The child was not waited for, so its number is still reserved.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None
    finally:
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
    return parse_report(printed)


HEAD = ("STATUS", "TOOL", "VERSION", "NEEDED", "WHERE AND WHY")


def format_report(found: Mapping[str, Any]) -> list[str]:
    """Return the lines of a text report: a table, and the number of programs by status."""
    table = [HEAD, *map(_table_cells, found["tools"])]
    widths = [max(len(cells[column]) for cells in table) for column in range(len(HEAD))]
    shown = [
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
        for cells in table
    ]
    counts = ", ".join(f"{count} {status}" for status, count in found["summary"].items() if count)
    missing = found["summary"].get("missing") and found.get("lookedIn")
    looked = ["", "Looked in:", *(f"  {folder}" for folder in found["lookedIn"])] if missing else []
    return [*shown, "", f"{found['platform']}: {counts}", *looked]


def _table_cells(tool: Mapping[str, Any]) -> tuple[str, ...]:
    notes = [tool[name] for name in ("path", "reason", "installHint") if name in tool]
    if tool["required"] and tool["status"] != "ok":
        notes.insert(0, "required")
    return (
        tool["status"],
        tool["label"],
        tool.get("version", "-"),
        tool.get("needed", "-"),
        "; ".join(notes),
    )
