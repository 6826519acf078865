"""Start of the child process, and parser of its report; for the daemon and C{tsctl}."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tservice.doctor.catalogue import ExaminedCli, encode_clis
from tservice.doctor.model import ToolCategory

TIME_LIMIT = 30.0
"""Seconds for the whole child (protocol-doctor)."""
REPORT_LIMIT = 1024 * 1024
"""Bytes of a report; a longer one is rejected."""

_ROOT = str(Path(__file__).resolve().parents[2])
# The path is an argument, so that tools do not inherit it in their environment.
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1])\nfrom tservice.doctor.child import main; main()"
)


def child_argv() -> list[str]:
    """Return the command of the child."""
    return [sys.executable, "-I", "-c", _PROGRAM, _ROOT]


def child_env(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without the service's own variables, so that tools do not see its
    password.
    """
    return {name: value for name, value in environ.items() if not name.startswith("SERVICE_")}


def encode_child_request(
    category: ToolCategory | None, clis: Iterable[ExaminedCli], home: Path, login: str = ""
) -> bytes:
    """Return the request that the child reads on stdin.

    @param login: the login shell's C{PATH}, if it is known.
    """
    wanted = None if category is None else category.value
    order = {"category": wanted, "clis": encode_clis(clis), "home": str(home), "login": login}
    return json.dumps(order).encode()


def parse_report(printed: bytes) -> dict[str, Any] | None:
    """Parse the report in the child's output; C{None}: there is none."""
    line, end, _ = printed.partition(b"\n")
    if not end:
        return None
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "tools" in found else None
