"""Child process: reads its request on stdin, prints one line of JSON.

Tools may hang, print without end, or leave processes running.  The child therefore leads a process
group, and finally kills that group, itself included.
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

from tservice.core.process.program_folders import matching_folders, shown_folders
from tservice.doctor.catalogue import PROGRAMS, PYTHON, Cli, package_manager, read_clis, tools
from tservice.doctor.model import Category, HostTool, Row, ToolStatus, report
from tservice.doctor.probe import ProbedHost, find, judge, look, row, search_patterns

LOOKS_AT_ONCE = 8
LOOKING_SECONDS = 25.0
"""Seconds for all tools together; a tool not examined by then is C{skipped}."""


def examine(
    category: Category | None,
    clis: Iterable[Cli],
    environ: Mapping[str, str],
    home: Path,
    login: str = "",
) -> dict[str, Any]:
    """Return the report.  Takes L{LOOKING_SECONDS} at most.

    @param login: the login shell's C{PATH}, if it is known.
    """
    patterns = search_patterns(environ, home, login)
    folders = matching_folders(patterns, home)
    managers = [name for name, program in PROGRAMS.items() if find([program], folders)]
    host = ProbedHost(
        folders=folders,
        env={**environ, "TERM": "dumb", "NO_COLOR": "1"},
        manager=package_manager(sys.platform, managers),
    )
    rows = _look_at_all(tools(category, clis), host)
    if category in (None, Category.CORE):
        version = ".".join(map(str, sys.version_info[:3]))
        rows.insert(0, judge(PYTHON, sys.executable, version, host.manager))
    return report(sys.platform, rows, shown_folders(patterns, home))


def _look_at_all(wanted: list[HostTool], host: ProbedHost) -> list[Row]:
    pool = ThreadPoolExecutor(LOOKS_AT_ONCE)
    looks = [pool.submit(look, tool, host) for tool in wanted]
    wait(looks, LOOKING_SECONDS)
    pool.shutdown(wait=False, cancel_futures=True)
    return [
        each.result()
        if each.done() and not each.cancelled()
        else row(tool, ToolStatus.SKIPPED, reason="no time was left to examine it")
        for tool, each in zip(wanted, looks, strict=True)
    ]


def main() -> None:
    """Examine the tools, print the report, kill the whole group."""
    if os.getpgrp() != os.getpid():
        os.setsid()
    order = json.load(sys.stdin)
    category = None if order["category"] is None else Category(order["category"])
    home, login = Path(order["home"]), str(order["login"])
    found = examine(category, read_clis(order["clis"]), os.environ, home, login)
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    os.killpg(0, signal.SIGKILL)
