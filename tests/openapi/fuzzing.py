"""schemathesis against the real daemon: whether it answers as its document says, come what may.

What sessions run is no shell but a program that repeats what it hears, and no other program is
to be found than those that the service needs: what is typed, scheduled or installed does nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from attrs import frozen

from tests.integration.harness import ROOT, DaemonHarness

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)
ENDLESS = r"^(/api/events|/mcp|/ws/.*|.*/tail-file)$"
"""Streams, which do not end by themselves."""
NEEDED = ("tmux", "git")


@frozen
class FuzzVerdict:
    """How it went.

    @ivar log: what the daemon said.
    """

    passed: bool
    report: str
    log: str


class TameDaemon(DaemonHarness):
    """One whose shell only repeats what it hears."""

    def __init__(self) -> None:
        super().__init__()
        programs = self.folder / "bin"
        programs.mkdir()
        shell = programs / "bash"
        shell.write_text("#!/bin/sh\nexec /bin/cat\n")
        shell.chmod(0o755)
        for name in NEEDED:
            found = shutil.which(name)
            assert found is not None, name
            (programs / name).symlink_to(found)
        self.work = self.folder / "work"
        self.work.mkdir()
        self.environment |= {"PATH": str(programs), "SHELL": "/bin/sh", "SERVICE_MAX_SESSIONS": "8"}


def fuzz_daemon(daemon: TameDaemon, seconds: int, *options: str) -> FuzzVerdict:
    """Ask all that the document knows, for so long.

    @param options: further ones of C{schemathesis run}.
    """
    command = [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()"]
    ended = subprocess.run(
        [*command, "run", f"{daemon.url}/api/openapi.json", f"--url={daemon.url}",
         f"--checks={','.join(CHECKS)}", f"--exclude-path-regex={ENDLESS}",
         f"--max-time={seconds}", "--continue-on-failure", "--request-timeout=60",
         "--generation-database=none", "--no-color", "--suppress-health-check=all",
         "--warnings=off", *options],
        cwd=daemon.folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "CONTRACT_FOLDER": str(daemon.work),
             "SCHEMATHESIS_HOOKS": "tests.openapi.schemathesis_hooks", "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        timeout=seconds * 4 + 240,
        check=False,
    )  # fmt: skip
    return FuzzVerdict(ended.returncode == 0, ended.stdout + ended.stderr, daemon.log)
