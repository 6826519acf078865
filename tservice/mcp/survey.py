"""Blocking reads of all configuration files, and the write to each; both run in a thread."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from attrs import evolve, frozen
from twisted.logger import Logger

from tservice.core.disk.files import FileError, UnparsableFile
from tservice.mcp import locked_files
from tservice.mcp.config_files import McpConfigLocation
from tservice.mcp.dialects.catalogue import DIALECTS, ConfigDialect
from tservice.mcp.dialects.errors import DialectError
from tservice.mcp.model import (
    McpServer,
    MissingServers,
    ServerTable,
    SharedServers,
    TargetStatus,
    collect_shared_servers,
    find_missing_servers,
)

_log = Logger()

TRIES = 5
"""Number of attempts to write a file that its own CLI changes at the same time."""


@frozen(kw_only=True)
class SyncTarget:
    """Configuration file of one CLI, with the state that was read.

    @ivar path: path of the file in use, which may not exist.
    @ivar table: servers in the file; C{None} unless the status is L{TargetStatus.OK}.
    """

    location: McpConfigLocation
    status: TargetStatus
    path: Path | None = None
    error: str | None = None
    table: ServerTable | None = None
    added: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()

    @property
    def dialect(self) -> ConfigDialect:
        """Format of the file."""
        return DIALECTS[self.location.format]


@frozen(kw_only=True)
class SyncSurvey:
    """State of all configuration files.

    @ivar targets: the files, each with the servers that a sync would add.
    """

    targets: tuple[SyncTarget, ...]
    offer: SharedServers


def survey_files(places: Iterable[McpConfigLocation]) -> SyncSurvey:
    """Read every file once, and determine the servers to add. Nothing is written."""
    targets = [_inspect_location(place) for place in _deduplicate_files(places)]
    offer = collect_shared_servers(target.table for target in targets if target.table is not None)
    planned = tuple(_plan_additions(target, offer.servers) for target in targets)
    return SyncSurvey(targets=planned, offer=offer)


def write_target(target: SyncTarget, offer: Mapping[str, McpServer], locks: Path) -> SyncTarget:
    """Add the servers that the file lacks at the time of writing, and return the result.

    @param target: a target to which servers must be added.
    @param offer: servers of all CLIs by name.
    @param locks: folder for lock files; see L{hold_lock}.
    @raise FileLocked: another service is writing the file. Nothing was changed.
    """
    path = target.path
    if path is None:
        return target
    try:
        with locked_files.hold_lock(path, locks):
            for _ in range(TRIES):
                try:
                    return _write_missing(target, path, offer)
                except locked_files.FileChangedSinceRead:
                    continue
        return _set_target_error(target, TargetStatus.FAILED, "is being changed by another program")
    except (DialectError, FileError, OSError) as error:
        return _make_target_of_error(target, error)


def remove_old_locks(targets: Iterable[SyncTarget]) -> None:
    """Remove the lock files that earlier versions left next to the configuration files."""
    for target in targets:
        if target.path is None:
            continue
        try:
            locked_files.remove_old_lock(target.path)
        except OSError as error:
            _log.warn(
                "cannot remove the old lock file of {path}: {error}", path=target.path, error=error
            )


def _write_missing(target: SyncTarget, path: Path, offer: Mapping[str, McpServer]) -> SyncTarget:
    text, table = _read_table(target.dialect, path)
    lack = find_missing_servers(offer, table.names, target.dialect.can_express)
    if lack.servers:
        after = target.dialect.add_servers(text, lack.servers)
        private = any(server.needs_private_file for server in lack.servers.values())
        locked_files.replace_config(path, text, after, private=private)
    return _set_target_result(evolve(target, table=table), lack)


def _inspect_location(place: McpConfigLocation) -> SyncTarget:
    if place.path is None:
        return SyncTarget(location=place, status=TargetStatus.SKIPPED)
    path = _choose_file(place.path, DIALECTS[place.format])
    target = SyncTarget(location=place, path=path, status=TargetStatus.OK)
    try:
        text, table = _read_table(target.dialect, path)
    except (DialectError, FileError, OSError) as error:
        return _make_target_of_error(target, error)
    if text is None and not place.installed:
        return evolve(target, status=TargetStatus.ABSENT)
    return evolve(target, table=table)


def _plan_additions(target: SyncTarget, offer: Mapping[str, McpServer]) -> SyncTarget:
    if target.table is None or target.path is None:
        return target
    lack = find_missing_servers(offer, target.table.names, target.dialect.can_express)
    if lack.servers:
        try:
            # Report write errors in the preview already.
            target.dialect.add_servers(locked_files.read_config(target.path), lack.servers)
        except (DialectError, FileError, OSError) as error:
            return _make_target_of_error(target, error)
    return _set_target_result(target, lack)


def _set_target_result(target: SyncTarget, lack: MissingServers) -> SyncTarget:
    return evolve(target, added=tuple(lack.servers), skipped=lack.skipped)


def _make_target_of_error(target: SyncTarget, error: Exception) -> SyncTarget:
    """Return the target with the status for an error. The text contains nothing of the file."""
    if isinstance(error, OSError):
        return _set_target_error(
            target, TargetStatus.FAILED, error.strerror or "cannot be read or written"
        )
    unreadable = isinstance(error, DialectError | UnparsableFile)
    return _set_target_error(
        target, TargetStatus.UNREADABLE if unreadable else TargetStatus.FAILED, str(error)
    )


def _set_target_error(target: SyncTarget, status: TargetStatus, error: str) -> SyncTarget:
    return evolve(target, status=status, error=error, added=(), skipped=())


def _read_table(dialect: ConfigDialect, path: Path) -> tuple[str | None, ServerTable]:
    """Read a file and its companion files, and return the file's text and all servers."""
    text = locked_files.read_config(path)
    beside = []
    for name in dialect.companion_files:
        try:
            other = locked_files.read_config(path.with_name(name)) if name != path.name else None
            if other is not None:
                dialect.parse_table(other)
                beside.append(other)
        except DialectError as error:
            raise DialectError(f"{name} in the same folder: {error}") from None
    return text, dialect.parse_table(dialect.empty_text if text is None else text, beside)


def _choose_file(path: Path, dialect: ConfigDialect) -> Path:
    """Return the path that the CLI uses, where a preferred file may exist instead of C{path}."""
    if dialect.preferred is not None:
        other = path.with_name(dialect.preferred)
        if os.path.lexists(other):
            return other
    return path


def _deduplicate_files(places: Iterable[McpConfigLocation]) -> Sequence[McpConfigLocation]:
    """Return each file once, under the first CLI that uses it.

    A shared file counts as installed if any of its CLIs is installed.
    """
    found: dict[object, McpConfigLocation] = {}
    for place in places:
        key: object = place.id if place.path is None else os.path.realpath(place.path)
        first = found.setdefault(key, place)
        if place.installed and not first.installed:
            found[key] = evolve(first, installed=True)
    return tuple(found.values())
