"""Command, environment and request of the child process, and parser of its report.

The daemon and C{tsctl} both use it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tservice.doctor.catalogue import ExaminedCli, encode_clis
from tservice.doctor.model import ToolCategory

TIME_LIMIT = 30.0
"""Time limit in seconds of the child process (protocol-doctor)."""
REPORT_LIMIT = 1024 * 1024
"""Maximum bytes of a report.  A longer one is rejected."""

_ROOT = str(Path(__file__).resolve().parents[2])
# The path is an argument, so that tools do not inherit it in their environment.
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1])\nfrom tservice.doctor.child import main; main()"
)


def make_child_command() -> list[str]:
    """Return the command line of the child process."""
    return [sys.executable, "-I", "-c", _PROGRAM, _ROOT]


def make_child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for the child process, without the service's own variables.

    The checked programs therefore cannot read the service's password.
    """
    return {name: value for name, value in environ.items() if not name.startswith("SERVICE_")}


def encode_child_request(
    category: ToolCategory | None, clis: Iterable[ExaminedCli], home: Path, login: str = ""
) -> bytes:
    """Return the request that the child process reads on stdin.

    @param category: check only this category; C{None} means all.
    @param login: the C{PATH} of the user's login shell; empty if unknown.
    """
    wanted = None if category is None else category.value
    order = {"category": wanted, "clis": encode_clis(clis), "home": str(home), "login": login}
    return json.dumps(order).encode()


def parse_report(printed: bytes) -> dict[str, Any] | None:
    """Parse the output of the child process; C{None} if it contains no valid report."""
    line, end, _ = printed.partition(b"\n")
    if not end:
        return None
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "tools" in found else None
