"""Versions of installed CLIs (protocol-clis)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import frozen
from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IReactorTime

from tservice.clis.command import CliCommand, CommandResult
from tservice.clis.environments import remove_service_variables
from tservice.clis.model import VersionQuery
from tservice.core.process.child import ChildRunner
from tservice.core.values.text import find_version

TIME_LIMIT = 5.0
"""Seconds in which a program must print its version."""
REMEMBERED_SECONDS = 30.0
REMEMBERED = 128
"""Maximum number of cached versions. A full cache is cleared."""

NODE_VERSION = VersionQuery(pattern=r"v(\d{1,6}(?:\.\d{1,6}){1,2})")
"""Query for the version of C{node}."""

PACKAGE_LIMIT = 256 * 1024
"""Maximum bytes of a package's description; a larger one is not read."""

_LEVELS = 6
_AT_LEAST = re.compile(r">= ?(\d{1,6}(?:\.\d{1,6}){0,2})")


@frozen(eq=False)
class _CachedVersion:
    version: Deferred[str | None]
    until: float


class CliVersionReader:
    """Reader of the versions that programs print.

    Each program runs in a separate process group, at most once in 30 s.
    """

    def __init__(
        self,
        *,
        clock: IReactorTime,
        children: ChildRunner,
        environ: Mapping[str, str],
        home: Path,
        path_of: Callable[[str], str],
    ) -> None:
        """Create a reader.

        @param path_of: returns the value of C{PATH} for running a program.
        """
        self._path_of = path_of
        self._clock = clock
        self._children = children
        self._env = {**remove_service_variables(environ), "TERM": "dumb", "NO_COLOR": "1"}
        self._home = home
        self._answers: dict[tuple[Path, tuple[str, ...], str], _CachedVersion] = {}

    def read_version(self, program: Path, version: VersionQuery) -> Deferred[str | None]:
        """Run C{program}, and return the version that it prints.

        @return: C{None} if the program prints no recognizable version within L{TIME_LIMIT}.
        """
        key, now = (program, version.argv, version.pattern), self._clock.seconds()
        known = self._answers.get(key)
        if known is None or known.until <= now:
            if len(self._answers) >= REMEMBERED:
                self._answers.clear()
            known = _CachedVersion(self._run_program(program, version), now + REMEMBERED_SECONDS)
            self._answers[key] = known
        waiter: Deferred[str | None] = Deferred()

        def deliver(found: str | None) -> str | None:
            if not waiter.called:
                waiter.callback(found)
            return found

        known.version.addCallback(deliver)
        return waiter

    def clear_cache(self) -> None:
        """Forget cached versions, because a program may have been installed."""
        self._answers.clear()

    def stop_all(self) -> None:
        """Terminate the programs that are still running."""
        self._children.stop()

    def _run_program(self, program: Path, version: VersionQuery) -> Deferred[str | None]:
        try:
            env = {**self._env, "PATH": self._path_of(str(program))}
            argv = (str(program), *version.argv)
            command = CliCommand(self._children, argv, env, self._home, seconds=TIME_LIMIT)
        except OSError:
            return succeed(None)

        def handle_end(ending: CommandResult) -> str | None:
            return None if ending.was_terminated else extract_version(version, ending.output)

        return command.wait_ended().addCallback(handle_end)


def is_before(version: str, first: str) -> bool:
    """Return true if a version is older than C{first}. The numbers in both are compared."""
    wanted, found = _version_numbers(first), _version_numbers(version)
    return bool(found) and found[: len(wanted)] < wanted


def _version_numbers(version: str) -> list[int]:
    found = re.match(r"\d{1,6}(?:\.\d{1,6})*", version)
    return [] if found is None else [int(part) for part in found[0].split(".")]


def find_needed_node(program: Path) -> str | None:
    """Return the oldest version of Node.js that a program accepts; C{None} if it names none.

    @param program: the program, or a link to it in npm's folder of programs.
    """
    try:
        parents = program.resolve().parents[:_LEVELS]
        about = next(
            (each for folder in parents if (each := folder / "package.json").is_file()), None
        )
        if about is None or about.stat().st_size > PACKAGE_LIMIT:
            return None
        package = json.loads(about.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None  # nothing is known, so the program is started
    engines = package.get("engines") if isinstance(package, dict) else None
    wanted = engines.get("node") if isinstance(engines, dict) else None
    found = _AT_LEAST.match(wanted) if isinstance(wanted, str) else None
    return None if found is None else found[1]


def extract_version(version: VersionQuery, output: str) -> str | None:
    """Return the version in C{output} by the pattern's only group, or C{None} if the pattern does
    not match.
    """
    return find_version(version.pattern, output)
