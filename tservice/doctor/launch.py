"""How the child process is started, and how its report is read; for the daemon and C{tsctl}."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tservice.doctor.catalogue import Cli, plain_clis
from tservice.doctor.model import Category

TIME_LIMIT = 30.0
"""Seconds for the whole child (protocol-doctor)."""
REPORT_LIMIT = 1024 * 1024
"""Bytes of a report; a longer one is none."""

_ROOT = str(Path(__file__).resolve().parents[2])
# The path is given here, so that it is in no environment that a tool would inherit.
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1])\nfrom tservice.doctor.child import main; main()"
)


def child_argv() -> list[str]:
    """The command of the child."""
    return [sys.executable, "-I", "-c", _PROGRAM, _ROOT]


def child_env(environ: Mapping[str, str]) -> dict[str, str]:
    """Everything but what is the service's own: tools are not told its password."""
    return {name: value for name, value in environ.items() if not name.startswith("SERVICE_")}


def child_order(
    category: Category | None, clis: Iterable[Cli], home: Path, login: str = ""
) -> bytes:
    """What the child reads on stdin.

    @param login: the login shell's C{PATH}, as far as it is known.
    """
    wanted = None if category is None else category.value
    order = {"category": wanted, "clis": plain_clis(clis), "home": str(home), "login": login}
    return json.dumps(order).encode()


def read_report(printed: bytes) -> dict[str, Any] | None:
    """The report in what the child printed; C{None}: there is none."""
    line, end, _ = printed.partition(b"\n")
    if not end:
        return None
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "tools" in found else None
