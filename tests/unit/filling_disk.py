"""A disk that fills up at any step of writing a file, in place of the system's calls."""

from __future__ import annotations

import builtins
import errno
import io
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from tests.unit.store.failing_disk import sqlite_error


class FullDisk:
    """Refuses one of the steps that need room, and all behind it.

    @ivar steps: how many it was asked for.
    """

    def __init__(self, after: int) -> None:
        self._after, self.steps = after, 0
        self._open = builtins.open

    @property
    def refused(self) -> bool:
        return self.steps > self._after

    def judge(self) -> None:
        self.steps += 1
        if self.refused:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def wrap(self, call: Callable[..., Any], writes: Callable[..., bool]) -> Callable[..., Any]:
        def called(*arguments: Any, **named: Any) -> Any:
            if writes(*arguments, **named):
                self.judge()
            return call(*arguments, **named)

        return called

    def open(self, file: Any, mode: str = "r", *arguments: Any, **named: Any) -> Any:
        if not set(mode) & set("wax+"):
            return self._open(file, mode, *arguments, **named)
        if not isinstance(file, int):
            self.judge()
        return _FullFile(self._open(file, mode, *arguments, **named), self)

    def connect(self, *arguments: Any, **named: Any) -> Any:
        try:
            self.judge()
        except OSError:
            raise sqlite_error(sqlite3.SQLITE_FULL) from None
        return self.connected(*arguments, **named)

    @contextmanager
    def everywhere(self) -> Iterator[FullDisk]:
        self.connected = sqlite3.connect
        patches = [
            mock.patch.object(os, name, self.wrap(getattr(os, name), writes))
            for name, writes in _SYSTEM.items()
        ]
        patches += [mock.patch.object(module, "open", self.open) for module in (builtins, io)]
        patches.append(mock.patch.object(sqlite3, "connect", self.connect))
        for each in patches:
            each.start()
        try:
            yield self
        finally:
            for each in patches:
                each.stop()


_MAKING = os.O_CREAT | os.O_WRONLY | os.O_RDWR
_SYSTEM: dict[str, Callable[..., bool]] = {
    "open": lambda path, flags=0, *rest, **named: bool(flags & _MAKING),
    "write": lambda descriptor, data: descriptor > 2,
    "ftruncate": lambda *arguments: True,
    "fsync": lambda *arguments: True,
    "replace": lambda *arguments, **named: True,
    "mkdir": lambda *arguments, **named: True,
}


class _FullFile:
    """An open file of which half a text still fits."""

    def __init__(self, file: Any, disk: FullDisk) -> None:
        self._file, self._disk = file, disk

    def write(self, data: Any) -> Any:
        try:
            self._disk.judge()
        except OSError:
            self._file.write(data[: len(data) // 2])
            raise
        return self._file.write(data)

    def __enter__(self) -> _FullFile:
        return self

    def __exit__(self, *failed: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
