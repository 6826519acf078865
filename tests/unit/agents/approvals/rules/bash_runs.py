"""Runs of commands in bash, with stubs on the path that record how they were called."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

STUB = '#!/bin/sh\nprintf \'%s\\0\' "${0##*/}" "$@" > "$RECORDS/$$"\n'


class BashRuns:
    """Folder with stubs instead of programs, in which bash runs commands."""

    def __init__(self, programs: Iterable[str]) -> None:
        self._folder = tempfile.TemporaryDirectory()
        root = Path(self._folder.name)
        self._bin, self._records, self.work = root / "bin", root / "records", root / "work"
        for each in (self._bin, self._records, self.work):
            each.mkdir()
        for name in programs:
            (self._bin / name).write_text(STUB)
            (self._bin / name).chmod(0o755)

    def close(self) -> None:
        """Remove the folder."""
        self._folder.cleanup()

    def run(self, text: str) -> list[tuple[str, ...]]:
        """Run a command, and return the calls of the stubs, sorted."""
        # Builtins that rules may name are disabled, so that their stubs are called.
        script = f"enable -n echo pwd printf test true false kill\n{text}"
        environment = {"PATH": str(self._bin), "RECORDS": str(self._records)}
        subprocess.run(
            ["/bin/bash", "--norc", "--noprofile", "-c", script],
            cwd=self.work,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=20,
        )
        calls = []
        for record in self._records.iterdir():
            calls.append(tuple(record.read_text("utf-8").split("\0")[:-1]))
            record.unlink()
        return sorted(calls)

    def list_written(self) -> list[str]:
        """Return the names of the files that commands wrote."""
        return sorted(each.name for each in self.work.iterdir())
