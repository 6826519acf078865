"""Versions of installed CLIs (protocol-clis)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorProcess, IReactorTime

from tservice.clis.command import CliCommand, CommandEnd
from tservice.clis.envs import without_service
from tservice.clis.model import Version
from tservice.core.text import find_version
from tservice.core.timers import cancel_call

TIME_LIMIT = 5.0
"""Seconds that a program has to print its version."""
REMEMBERED_SECONDS = 30.0
REMEMBERED = 128
"""Limit of cached results; a full cache is cleared."""


@frozen(eq=False)
class _Answer:
    version: Deferred[str | None]
    until: float


class Versions:
    """Reader of versions: each program runs in a separate process group, at most once in 30 s."""

    def __init__(
        self,
        *,
        clock: IReactorTime,
        processes: IReactorProcess,
        environ: Mapping[str, str],
        home: Path,
        path_of: Callable[[str], str],
        make: Callable[[IReactorTime, Callable[[bytes], None]], CliCommand] = CliCommand,
    ) -> None:
        """Create a reader.

        @param path_of: returns the C{PATH} for a program.
        """
        self._path_of = path_of
        self._clock = clock
        self._processes = processes
        self._env = {**without_service(environ), "TERM": "dumb", "NO_COLOR": "1"}
        self._home = home
        self._make = make
        self._answers: dict[tuple[Path, tuple[str, ...], str], _Answer] = {}
        self._running: set[CliCommand] = set()

    def read(self, program: Path, version: Version) -> Deferred[str | None]:
        """Return the version that C{program} prints; C{None}: unrecognized, or not in time."""
        key, now = (program, version.argv, version.pattern), self._clock.seconds()
        known = self._answers.get(key)
        if known is None or known.until <= now:
            if len(self._answers) >= REMEMBERED:
                self._answers.clear()
            known = _Answer(self._ask(program, version), now + REMEMBERED_SECONDS)
            self._answers[key] = known
        waiter: Deferred[str | None] = Deferred()

        def tell(found: str | None) -> str | None:
            if not waiter.called:
                waiter.callback(found)
            return found

        known.version.addCallback(tell)
        return waiter

    def forget(self) -> None:
        """Clear the cache, as a program may have been installed."""
        self._answers.clear()

    def stop(self) -> None:
        """Terminate the running programs."""
        for command in tuple(self._running):
            command.end()

    def _ask(self, program: Path, version: Version) -> Deferred[str | None]:
        command = self._make(self._clock, _unheard)
        try:
            env = {**self._env, "PATH": self._path_of(str(program))}
            command.start(self._processes, (str(program), *version.argv), env, self._home)
        except OSError:
            return _none()
        self._running.add(command)
        late = self._clock.callLater(TIME_LIMIT, command.end)

        def over(ending: CommandEnd) -> str | None:
            self._running.discard(command)
            cancel_call(late)
            return None if ending.ended else told(version, ending.output)

        return command.ended().addCallback(over)


def is_before(version: str, first: str) -> bool:
    """Return true if a version is older than C{first}, by their numbers."""
    wanted, found = _numbers(first), _numbers(version)
    return bool(found) and found[: len(wanted)] < wanted


def _numbers(version: str) -> list[int]:
    found = re.match(r"\d{1,6}(?:\.\d{1,6})*", version)
    return [] if found is None else [int(part) for part in found[0].split(".")]


def told(version: Version, output: str) -> str | None:
    """Return the version in C{output}, by the one group of the entry's pattern."""
    return find_version(version.pattern, output)


def _none() -> Deferred[str | None]:
    done: Deferred[str | None] = Deferred()
    done.callback(None)
    return done


def _unheard(data: bytes) -> None:
    """Ignore output while it arrives: only the final output counts."""
