"""Survey of all targets, and the write to each; both block, and run in a thread."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from attrs import evolve, frozen
from twisted.logger import Logger

from tservice.core.files import FileError, UnparsableFile
from tservice.mcp import files
from tservice.mcp.dialects.catalogue import DIALECTS, Dialect
from tservice.mcp.dialects.faults import DialectError
from tservice.mcp.discovery import McpFile
from tservice.mcp.model import (
    Lack,
    McpServer,
    ServerTable,
    SharedServers,
    TargetStatus,
    gather,
    lacking,
)

_log = Logger()

TRIES = 5
"""Tries for a file that its own CLI is writing concurrently."""


@frozen(kw_only=True)
class Target:
    """Configuration file with its state.

    @ivar path: the file in use, existing or not.
    @ivar table: its servers; C{None} unless the status is L{TargetStatus.OK}.
    """

    place: McpFile
    status: TargetStatus
    path: Path | None = None
    error: str | None = None
    table: ServerTable | None = None
    added: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()

    @property
    def dialect(self) -> Dialect:
        """Dialect that reads and writes the file."""
        return DIALECTS[self.place.format]


@frozen(kw_only=True)
class Survey:
    """State of all files.

    @ivar targets: the files with the servers that each would get.
    """

    targets: tuple[Target, ...]
    offer: SharedServers


def look(places: Iterable[McpFile]) -> Survey:
    """Read every file once, and compute the servers to add; nothing is written."""
    targets = [_find(place) for place in _apart(places)]
    offer = gather(target.table for target in targets if target.table is not None)
    planned = tuple(_plan(target, offer.servers) for target in targets)
    return Survey(targets=planned, offer=offer)


def write(target: Target, offer: Mapping[str, McpServer], locks: Path) -> Target:
    """Add the servers that the file lacks now, and return the result.

    @param target: a target that gets servers.
    @param locks: folder of the lock that keeps other services from writing the file.
    @raise Busy: another service is writing it; nothing was done.
    """
    path = target.path
    if path is None:
        return target
    try:
        with files.locked(path, locks):
            for _ in range(TRIES):
                try:
                    return _write(target, path, offer)
                except files.FileChanged:
                    continue
        return _fault(target, TargetStatus.FAILED, "is being changed by another program")
    except (DialectError, FileError, OSError) as error:
        return _judge(target, error)


def remove_old_locks(targets: Iterable[Target]) -> None:
    """Remove the lock files that earlier versions left next to the files."""
    for target in targets:
        if target.path is None:
            continue
        try:
            files.remove_old_lock(target.path)
        except OSError as error:
            _log.warn(
                "cannot remove the old lock file of {path}: {error}", path=target.path, error=error
            )


def _write(target: Target, path: Path, offer: Mapping[str, McpServer]) -> Target:
    text, table = _read(target.dialect, path)
    lack = lacking(offer, table.names, target.dialect.says)
    if lack.servers:
        after = target.dialect.write(text, lack.servers)
        private = any(server.private for server in lack.servers.values())
        files.replace(path, text, after, private=private)
    return _given(evolve(target, table=table), lack)


def _find(place: McpFile) -> Target:
    if place.path is None:
        return Target(place=place, status=TargetStatus.SKIPPED)
    path = _file(place.path, DIALECTS[place.format])
    target = Target(place=place, path=path, status=TargetStatus.OK)
    try:
        text, table = _read(target.dialect, path)
    except (DialectError, FileError, OSError) as error:
        return _judge(target, error)
    if text is None and not place.installed:
        return evolve(target, status=TargetStatus.ABSENT)
    return evolve(target, table=table)


def _plan(target: Target, offer: Mapping[str, McpServer]) -> Target:
    if target.table is None or target.path is None:
        return target
    lack = lacking(offer, target.table.names, target.dialect.says)
    if lack.servers:
        try:
            # Report write errors in the preview already.
            target.dialect.write(files.read(target.path), lack.servers)
        except (DialectError, FileError, OSError) as error:
            return _judge(target, error)
    return _given(target, lack)


def _given(target: Target, lack: Lack) -> Target:
    return evolve(target, added=tuple(lack.servers), skipped=lack.skipped)


def _judge(target: Target, error: Exception) -> Target:
    """Return the target with the status of an error; the text contains nothing of the file."""
    if isinstance(error, OSError):
        return _fault(target, TargetStatus.FAILED, error.strerror or "cannot be read or written")
    unreadable = isinstance(error, DialectError | UnparsableFile)
    return _fault(
        target, TargetStatus.UNREADABLE if unreadable else TargetStatus.FAILED, str(error)
    )


def _fault(target: Target, status: TargetStatus, error: str) -> Target:
    return evolve(target, status=status, error=error, added=(), skipped=())


def _read(dialect: Dialect, path: Path) -> tuple[str | None, ServerTable]:
    """Return the file's text, and the servers of the file and its companion files."""
    text = files.read(path)
    beside = []
    for name in dialect.beside:
        try:
            other = files.read(path.with_name(name)) if name != path.name else None
            if other is not None:
                dialect.read(other)
                beside.append(other)
        except DialectError as error:
            raise DialectError(f"{name} in the same folder: {error}") from None
    return text, dialect.read(dialect.empty if text is None else text, beside)


def _file(path: Path, dialect: Dialect) -> Path:
    """Return the file in use where there may be either of two."""
    if dialect.preferred is not None:
        other = path.with_name(dialect.preferred)
        if os.path.lexists(other):
            return other
    return path


def _apart(places: Iterable[McpFile]) -> Sequence[McpFile]:
    """Return each file once, for the first CLI that names it; it is installed if any of
    them is.
    """
    found: dict[object, McpFile] = {}
    for place in places:
        key: object = place.id if place.path is None else os.path.realpath(place.path)
        first = found.setdefault(key, place)
        if place.installed and not first.installed:
            found[key] = evolve(first, installed=True)
    return tuple(found.values())
