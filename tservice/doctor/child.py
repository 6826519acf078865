"""Child process that checks programs: it reads a request on stdin and prints one line of JSON.

A checked program may hang, print without end, or leave processes running.  The child therefore
leads a process group, and at the end kills that group, including itself.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from tservice.core.process.program_folders import find_matching_folders, format_search_folders
from tservice.doctor.catalogue import (
    PROGRAMS,
    PYTHON,
    ExaminedCli,
    choose_package_manager,
    list_tools,
    parse_clis,
)
from tservice.doctor.model import HostTool, ReportRow, ToolCategory, ToolStatus, make_report
from tservice.doctor.probe import (
    ProbedHost,
    examine_tool,
    find_program,
    make_row,
    make_version_row,
    search_patterns,
)

MAX_CONCURRENT = 8
EXAMINE_SECONDS = 25.0
"""Time limit in seconds of all checks together.

Programs not checked by then are C{skipped}.
"""


def examine_host(
    category: ToolCategory | None,
    clis: Iterable[ExaminedCli],
    environ: Mapping[str, str],
    home: Path,
    login: str = "",
) -> dict[str, Any]:
    """Check all programs and return the report, within L{EXAMINE_SECONDS}.

    @param login: the C{PATH} of the user's login shell; empty if unknown.
    """
    patterns = search_patterns(environ, home, login)
    folders = find_matching_folders(patterns, home)
    managers = [name for name, program in PROGRAMS.items() if find_program([program], folders)]
    host = ProbedHost(
        folders=folders,
        env={**environ, "TERM": "dumb", "NO_COLOR": "1"},
        manager=choose_package_manager(sys.platform, managers),
    )
    rows = _examine_tools(list_tools(category, clis), host)
    if category in (None, ToolCategory.CORE):
        version = ".".join(map(str, sys.version_info[:3]))
        rows.insert(0, make_version_row(PYTHON, sys.executable, version, host.manager))
    return make_report(sys.platform, rows, format_search_folders(patterns, home))


def _examine_tools(wanted: list[HostTool], host: ProbedHost) -> list[ReportRow]:
    pool = ThreadPoolExecutor(MAX_CONCURRENT)
    looks = [pool.submit(examine_tool, tool, host) for tool in wanted]
    wait(looks, EXAMINE_SECONDS)
    pool.shutdown(wait=False, cancel_futures=True)
    return [
        each.result()
        if each.done() and not each.cancelled()
        else make_row(tool, ToolStatus.SKIPPED, reason="no time was left to examine it")
        for tool, each in zip(wanted, looks, strict=True)
    ]


def main() -> None:
    """Check the programs, print the report, and kill the whole process group."""
    if os.getpgrp() != os.getpid():
        os.setsid()
    order = json.load(sys.stdin)
    category = None if order["category"] is None else ToolCategory(order["category"])
    home, login = Path(order["home"]), str(order["login"])
    found = examine_host(category, parse_clis(order["clis"]), os.environ, home, login)
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    os.killpg(0, signal.SIGKILL)
