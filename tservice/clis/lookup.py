"""Finding executables (protocol-clis)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

REMEMBERED_SECONDS = 30.0
REMEMBERED = 256
"""Answers kept at most; past that all are forgotten, which costs a look at the folders."""


@frozen
class _Answer:
    path: Path | None
    until: float


class BinaryLookup:
    """Looks on PATH, then in C{~/.local/bin}, C{~/.npm-global/bin} and C{/usr/local/bin}.

    Relative folders on PATH are passed over: what they mean would depend on where the service
    was started.
    """

    def __init__(
        self,
        clock: IReactorTime,
        environ: Mapping[str, str],
        home: Path,
        usable: Callable[[Path], bool] | None = None,
    ) -> None:
        """
        @param usable: whether a file can be run; C{None}: by this process.
        """
        self._clock = clock
        self._usable = usable or _is_executable
        self._folders = (
            *(Path(folder) for folder in environ.get("PATH", "").split(":") if folder[:1] == "/"),
            home / ".local/bin",
            home / ".npm-global/bin",
            Path("/usr/local/bin"),
        )
        self._answers: dict[tuple[str, ...], _Answer] = {}

    def find(self, names: Sequence[str]) -> Path | None:
        """The first of C{names} that is found, remembered for 30 s whichever way it went.

        @param names: file names, or absolute paths.
        """
        key, now = tuple(names), self._clock.seconds()
        answer = self._answers.get(key)
        if answer is None or answer.until <= now:
            if len(self._answers) >= REMEMBERED:
                self._answers.clear()
            answer = _Answer(self._look(key), now + REMEMBERED_SECONDS)
            self._answers[key] = answer
        return answer.path

    def forget(self) -> None:
        """Look afresh from now on: something may have been installed."""
        self._answers.clear()

    def _look(self, names: tuple[str, ...]) -> Path | None:
        for name in names:
            for folder in self._folders:
                # An absolute name is looked for in no folder.
                found = folder / name
                if self._usable(found):
                    return found
        return None


def _is_executable(path: Path) -> bool:
    try:
        return path.is_file() and os.access(path, os.X_OK)
    except PermissionError:  # a folder on the way is closed to us
        return False
