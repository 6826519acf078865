"""The child process: reads what to look for on stdin, prints one line of JSON.

A process of its own, because tools may hang, print without end, or leave things running: it leads
a process group, and its last act is to end that group, itself included.
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

from tservice.core.process.programfolders import matching_folders, shown_folders
from tservice.doctor.catalogue import PROGRAMS, PYTHON, Cli, package_manager, read_clis, tools
from tservice.doctor.model import Category, HostTool, Row, ToolStatus, report
from tservice.doctor.probe import ProbedHost, find, judge, look, row, search_patterns

LOOKS_AT_ONCE = 8
LOOKING_SECONDS = 25.0
"""For all tools together; what was not looked at by then is C{skipped}."""


def examine(
    category: Category | None,
    clis: Iterable[Cli],
    environ: Mapping[str, str],
    home: Path,
    login: str = "",
) -> dict[str, Any]:
    """The report.  Takes L{LOOKING_SECONDS} at most.

    @param login: the login shell's C{PATH}, as far as it is known.
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
        else row(tool, ToolStatus.SKIPPED, reason="there was no time left to look at it")
        for tool, each in zip(wanted, looks, strict=True)
    ]


def main() -> None:
    """Look, print, end the whole group."""
    if os.getpgrp() != os.getpid():
        os.setsid()
    order = json.load(sys.stdin)
    category = None if order["category"] is None else Category(order["category"])
    home, login = Path(order["home"]), str(order["login"])
    found = examine(category, read_clis(order["clis"]), os.environ, home, login)
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    os.killpg(0, signal.SIGKILL)
