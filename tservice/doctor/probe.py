"""Check of one program: search its path, and run it to get its version.

The functions block and are for the child process only (L{tservice.doctor.child}).  A program may
never end, keep its output open, or print nonsense.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from attrs import evolve, frozen

from tservice.core.process.program_folders import find_npm_folder, join_path, list_folder_patterns
from tservice.core.values.text import find_version, replace_harmful_characters
from tservice.doctor.catalogue import make_install_hint
from tservice.doctor.model import (
    HostTool,
    ReportRow,
    ToolStatus,
    format_version,
    is_older,
    parse_tool_version,
)

PROBE_SECONDS = 5.0
"""Time limit in seconds for a program to print its version."""
END_SECONDS = 1.0
"""Seconds that a program may take to exit after it has closed its output."""
OUTPUT_LIMIT = 16 * 1024
"""Maximum bytes of output that are read."""
ERROR_TEXT_LENGTH = 300
"""Maximum characters of a failing program's output in the report."""


class ProbeError(Exception):
    """The program exists but does not work.  The text is for the report."""


@frozen(kw_only=True)
class ProbedHost:
    """Folders and environment used for the checks.

    @ivar folders: absolute paths in which programs are searched, in this order.
    @ivar env: environment of the programs.
    @ivar manager: id of the package manager, for hints; C{None} if unknown.
    """

    folders: tuple[Path, ...]
    env: Mapping[str, str]
    manager: str | None = None

    def make_environment_for(self, program: Path) -> Mapping[str, str]:
        """Return the environment for running C{program}.

        If C{node} is in the program's folder, C{PATH} begins with that folder: programs of npm need
        it.
        """
        usual = (str(folder) for folder in self.folders if folder.is_dir())
        beside = program.parent if os.access(program.parent / "node", os.X_OK) else ""
        path = join_path(str(beside), self.env.get("PATH", ""), *usual)
        return {**self.env, "PATH": path}


def search_patterns(environ: Mapping[str, str], home: Path, login: str = "") -> tuple[str, ...]:
    """Return patterns of the folders to search (protocol-clis).

    C{*} matches any version.

    @param login: the C{PATH} of the user's login shell; empty if unknown.
    """
    path = join_path(environ.get("PATH", ""), login)
    usual = (*find_npm_folder(home), *list_folder_patterns(environ))
    return tuple(dict.fromkeys((*filter(None, path.split(":")), *usual)))


def find_program(names: Sequence[str], folders: Sequence[Path]) -> Path | None:
    """Return the path of the first of C{names} that is an executable file; C{None} if none is.

    A name that is an absolute path is not searched in the folders.
    """
    for name in names:
        for folder in folders:
            candidate = folder / name
            if os.access(candidate, os.X_OK) and candidate.is_file():
                return candidate
    return None


def examine_tool(tool: HostTool, host: ProbedHost) -> ReportRow:
    """Check one program and return its row of the report."""
    path = find_program(tool.names, host.folders)
    if path is None:
        return make_row(
            tool, ToolStatus.MISSING, install_hint=make_install_hint(tool, host.manager)
        )
    if not tool.version_args:
        return make_row(tool, ToolStatus.OK, path=str(path))
    env = host.make_environment_for(path)
    try:
        printed = run_tool([str(path), *tool.version_args], env)
    except ProbeError as error:
        return make_row(tool, ToolStatus.ERROR, path=str(path), reason=str(error))
    version = find_version(tool.pattern, printed) if tool.pattern else parse_tool_version(printed)
    found = make_version_row(tool, str(path), version, host.manager)
    if not tool.proof or found.status is not ToolStatus.OK:
        return found
    try:
        proved = parse_tool_version(run_tool([str(path), *tool.proof], env))
    except ProbeError as error:
        return make_row(tool, ToolStatus.ERROR, path=str(path), version=version, reason=str(error))
    if not tool.partner or proved is None:
        return found
    return evolve(found, version=f"{version}, {tool.partner} {proved}")


def make_version_row(
    tool: HostTool, path: str, version: str | None, manager: str | None
) -> ReportRow:
    """Return the row of a program that could be run.

    @param version: the printed version; C{None} if none was recognised.
    """
    if version is None:
        status = ToolStatus.OK if tool.least is None else ToolStatus.ERROR
        return make_row(tool, status, path=path, reason="it did not print its version")
    if tool.least is not None and is_older(version, tool.least):
        return make_row(
            tool,
            ToolStatus.OUTDATED,
            path=path,
            version=version,
            install_hint=make_install_hint(tool, manager),
            reason=f"{format_version(tool.least)} or newer is needed",
        )
    return make_row(tool, ToolStatus.OK, path=path, version=version)


def make_row(tool: HostTool, status: ToolStatus, **found: str | None) -> ReportRow:
    """Return a row with the fields that all rows have, and those in C{found}."""
    return ReportRow(
        id=tool.id,
        label=tool.label,
        category=tool.category,
        required=tool.required,
        status=status,
        needed=None if tool.least is None else format_version(tool.least),
        **found,
    )


def run_tool(argv: Sequence[str], env: Mapping[str, str], limit: float = PROBE_SECONDS) -> str:
    """Run a program and return its output, including standard error.

    Processes that it leaves are killed later, with the process group of the child.

    @param limit: time limit in seconds.
    @raise ProbeError: the program cannot be run, does not end in time, or fails.
    """
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(env),
            cwd="/",
        )
    except OSError as error:
        raise ProbeError(f"it cannot be run: {error.strerror}") from None
    pipe = process.stdout
    if pipe is None:
        raise ProbeError("it has no output")
    reader = _OutputReader(pipe)
    try:
        return _collect_output(process, reader, limit)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _collect_output(process: subprocess.Popen[bytes], reader: _OutputReader, limit: float) -> str:
    reader.join(limit)
    if reader.is_alive():
        raise ProbeError(f"it did not answer within {limit:g} seconds")
    try:
        status = process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        if reader.full:
            raise ProbeError("it printed too much") from None
        raise ProbeError("it did not end") from None
    printed = reader.data.decode("utf-8", "replace")
    if status and not reader.full:
        raise ProbeError(
            ": ".join(filter(None, [f"it ended with status {status}", _last_line(printed)]))
        )
    return printed


def _last_line(printed: str) -> str:
    """Return the last line of the output, in which most programs print their error."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    return "" if not lines else replace_harmful_characters(lines[-1])[:ERROR_TEXT_LENGTH]


class _OutputReader(threading.Thread):
    """Thread that reads a program's output to its end or a limit, and then closes the pipe.

    The program receives SIGPIPE if it writes more.
    """

    def __init__(self, pipe: IO[bytes]) -> None:
        # Another process may hold the pipe open; this thread must not keep the child alive.
        super().__init__(daemon=True)
        self._pipe = pipe
        self.data = b""
        self.full = False
        self.start()

    def run(self) -> None:
        with self._pipe:
            while not self.full:
                piece = os.read(self._pipe.fileno(), 4096)
                if not piece:
                    return
                self.data = (self.data + piece)[:OUTPUT_LIMIT]
                self.full = len(self.data) == OUTPUT_LIMIT
