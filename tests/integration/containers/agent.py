"""Claude Code for a container that is to be."""

from __future__ import annotations

import os
import shutil
import unittest
from functools import cache
from pathlib import Path

from tests.agents.cli_cache import CliUnavailable, install_cli
from tests.agents.contract_harness import skip_reason


@cache
def find_installed_agent() -> Path | CliUnavailable:
    """Its program, or why there is none; looked for once, where there is a network."""
    try:
        return install_cli("claude", os.environ).binary
    except CliUnavailable as why:
        return why


def put_into(home: Path) -> None:
    """Install it in the home folder of a container.

    @raise SkipTest: it cannot be had here.
    """
    program = find_installed_agent()
    if isinstance(program, CliUnavailable):
        reason = skip_reason(program, "claude")
        if reason is None:
            raise program
        raise unittest.SkipTest(reason)
    (home / ".local/bin").mkdir(parents=True)
    shutil.copy(program, home / ".local/bin/claude")
