"""Folders of cases on the disk: functions that find, read, create, move and remove them.

Every function blocks, and must be called with the file permissions of the case's owner.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from typing import Any

from tservice.cases.creation import CreatedFiles
from tservice.cases.model import (
    MARKER,
    MAX_CASES,
    AgentMarker,
    FolderState,
    is_valid_folder_name,
    match_name,
)
from tservice.cases.path_rules import FolderBounds, check_path, resolve_bounds
from tservice.core.disk.disk_errors import find_disk_problem
from tservice.core.disk.files import FileError, read_json, read_small_text
from tservice.core.kernel.errors import (
    ServiceError,
    make_conflict_error,
    make_failure_error,
    make_field_error,
    make_not_found_error,
)
from tservice.core.users.os_users import can_enter_folder
from tservice.core.values.text import LINE

TRASH = ".trash"
"""Name of the folder for removed cases, inside a folder of cases (protocol-cases)."""
HOOKS = (Path(".claude"), Path(".claude") / "settings.local.json")
INSTRUCTIONS = ("CLAUDE.md", "AGENTS.md")

_MARKER_LIMIT = 4096
_ORIGIN_LENGTH = 64
_PRIVATE = 0o700
_LINE = re.compile(LINE)

_GUIDE = """# {name}

Notes for the agents that work in this folder.  Say here what the project is, how it is built and
tested, and what to leave alone.
"""
_POINTER = """# {name}

The notes for agents are in CLAUDE.md.
"""
_SCAFFOLD = {"CLAUDE.md": _GUIDE, "AGENTS.md": _POINTER}

MAX_ENTRIES = 20_000
"""Maximum number of entries that are read of a folder of cases."""

PutHooks = Callable[[Path], None]
"""Writes the configuration of agents' hooks into a folder; raises C{OSError}."""


def list_local_names(cases: Path) -> list[str]:
    """Return the names of the local cases in the folder C{cases}, at most L{MAX_CASES}.

    The result is empty if the folder is missing.  If it has more than L{MAX_ENTRIES} entries, some
    cases may be left out.

    @raise OSError: the folder cannot be read.
    """
    try:
        with os.scandir(cases) as entries:
            looked = islice(entries, MAX_ENTRIES)
            names = (
                entry.name
                for entry in looked
                if is_valid_folder_name(entry.name) and _is_folder(entry)
            )
            # Sorting many names at once would block the interpreter.
            return nsmallest(MAX_CASES, names)
    except FileNotFoundError:
        return []


def find_local_name(cases: Path, name: str) -> str | None:
    """Return the name of the local case C{name} in its exact spelling; C{None} if there is none."""
    if can_enter_folder(str(cases / name)):
        return name
    return match_name(name, list_local_names(cases))


def read_folder_state(path: str) -> FolderState:
    """Read the state of a case's folder from the disk."""
    if not can_enter_folder(path):
        return FolderState()
    folder = Path(path)
    return FolderState(
        there=True,
        has_instructions=any((folder / name).is_file() for name in INSTRUCTIONS),
        marker=read_marker(folder),
    )


def read_folder_states(cases: Path | None, paths: Iterable[str]) -> dict[str, FolderState]:
    """Return the states of folders by path.

    @param cases: folder whose local cases are all read; C{None} to read none.
    @param paths: further folders to read.
    """
    local = [] if cases is None else [str(cases / name) for name in list_local_names(cases)]
    return {path: read_folder_state(path) for path in (*local, *paths)}


def read_local_state(cases: Path, name: str) -> dict[str, FolderState]:
    """Return the state of one local case, by its path; empty if the case does not exist."""
    there = find_local_name(cases, name)
    return {} if there is None else {str(cases / there): read_folder_state(str(cases / there))}


def read_marker(folder: Path) -> AgentMarker | None:
    """Read the marker file of the agent for which a folder was created; C{None} without a valid
    one.

    Any user may have written the file, so its content is checked.
    """
    try:
        found = read_json(folder / MARKER, limit=_MARKER_LIMIT)
    except (OSError, FileError):
        return None
    return None if not isinstance(found, dict) else _parse_marker(found)


def is_scaffolded(folder: Path) -> bool:
    """Return true if the folder was created as a case.

    The folder then has an agent's marker, or the pointer to instructions that a new case gets.
    """
    pointer = read_small_text(folder / "AGENTS.md")
    return (folder / MARKER).is_file() or pointer == _POINTER.format(name=folder.name)


def _parse_marker(found: dict[str, Any]) -> AgentMarker | None:
    at, by = found.get("createdAt"), _parse_line(found.get("createdBy"), _ORIGIN_LENGTH)
    if by is None or not isinstance(at, int) or isinstance(at, bool) or not 0 <= at < 2**53:
        return None
    parent = _parse_line(found.get("parentSessionId"))
    return AgentMarker(created_at=at, created_by=by, parent_session_id=parent)


def _parse_line(text: object, limit: int = 100) -> str | None:
    """Return C{text} if it is one line of at most C{limit} characters, otherwise C{None}."""
    if not isinstance(text, str) or not 0 < len(text) <= limit:
        return None
    return text if _LINE.fullmatch(text) else None


def create_local_case(
    making: CreatedFiles,
    cases: Path,
    name: str,
    put_hooks: PutHooks,
    marker: AgentMarker | None = None,
) -> None:
    """Create the case C{<cases>/<name>} and its files.

    @param making: records what is created, so that it can be rolled back.
    @param marker: written into the folder; C{None} if no agent requested the case.
    @raise FileExistsError: the folder already exists.
    @raise OSError: a folder or file cannot be created.
    """
    making.make_folders(cases)
    making.make_folder(cases / name)
    _write_case_files(making, cases / name, name, put_hooks, marker)


def create_case_at(
    making: CreatedFiles, path: str, name: str, bounds: FolderBounds, put_hooks: PutHooks
) -> None:
    """Create a case at C{path}, which may be an existing empty folder.

    @param making: records what is created, so that it can be rolled back.
    @raise ServiceError: 400, 404, 409 or 422 (protocol-case-paths).
    @raise OSError: a folder or file cannot be created.
    """
    check_resolved(path, bounds)
    folder = Path(path)
    if os.path.lexists(path):
        _check_empty(folder)
    else:
        _check_parent(folder.parent)
        making.make_folder(folder)
    _write_case_files(making, folder, name, put_hooks, None)


def check_linkable_folder(path: str, bounds: FolderBounds) -> None:
    """Fail if the folder at C{path} must not become a linked case.

    @raise ServiceError: 400 if the path is not allowed; 404 if it is missing; 422 if it cannot be
        entered.
    """
    check_resolved(path, bounds)
    if not os.path.lexists(path):
        raise make_not_found_error(f"path: {path}")
    _check_folder(Path(path))
    try:
        os.scandir(path).close()
    except OSError as error:
        raise make_failure_error(f"path: the folder cannot be read: {error.strerror}") from None


def check_resolved(path: str, bounds: FolderBounds) -> None:
    """Fail if no case may be at C{path}, both as given and with symbolic links resolved.

    @raise ServiceError: 400 for the field C{path}; 422: a parent folder cannot be entered.
    """
    if os.path.islink(path):
        raise make_field_error("path", "must not be a symbolic link")
    check_path(os.path.realpath(path), resolve_bounds(bounds))
    try:
        os.stat(os.path.dirname(path))
    except OSError as error:
        # A missing folder is checked later.
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            raise make_failure_error(f"path: its parent cannot be read: {error.strerror}") from None


def _check_parent(parent: Path) -> None:
    if not parent.exists():
        raise make_not_found_error(f"path: the folder {parent}")
    if not parent.is_dir():
        raise make_field_error("path", f"{parent} must be a folder")
    if not can_enter_folder(str(parent)):
        raise make_failure_error(f"path: {parent} cannot be read")


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise make_field_error("path", "must be a folder")
    if not can_enter_folder(str(folder)):
        raise make_failure_error("path: the folder cannot be read")


def _check_empty(folder: Path) -> None:
    _check_folder(folder)
    with os.scandir(folder) as entries:
        if next(entries, None) is not None:
            raise make_conflict_error(
                "path: the folder has files; link it instead of making a case there"
            )


def _write_case_files(
    making: CreatedFiles, folder: Path, name: str, put_hooks: PutHooks, marker: AgentMarker | None
) -> None:
    for file, text in _SCAFFOLD.items():
        making.make_file(folder / file, text.format(name=name))
    if marker is not None:
        making.make_file(folder / MARKER, json.dumps(_marker_json(marker)))
    making.record_created(tuple(folder / path for path in HOOKS), lambda: put_hooks(folder))
    making.flush_folder(folder)


def _marker_json(marker: AgentMarker) -> dict[str, object]:
    shown: dict[str, object] = {
        "version": 1,
        "createdAt": marker.created_at,
        "createdBy": marker.created_by,
    }
    if marker.parent_session_id is not None:
        shown["parentSessionId"] = marker.parent_session_id
    return shown


def move_folder(source: str, target: str) -> None:
    """Rename a folder, and create the parent folder of C{target} if it is missing.

    @raise OSError: the folder was not moved, for example because C{target} exists.
    """
    above = Path(target).parent
    above.mkdir(mode=_PRIVATE, exist_ok=True)
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "something is there", target)
    os.rename(source, target)


def remove_tree(path: str) -> None:
    """Remove a folder with its content.  A missing folder is no error.

    @raise OSError: not everything could be removed.
    """
    if os.path.islink(path):
        os.unlink(path)
    elif os.path.lexists(path):
        shutil.rmtree(path, onerror=_retry_writable)


def _retry_writable(function: Callable[[str], object], path: str, why: object) -> None:
    """Make the parent folder of C{path} writable and retry the removal.

    Some tools write-protect their folders, such as caches of packages.
    """
    os.chmod(os.path.dirname(path), _PRIVATE)
    if os.path.isdir(path) and not os.path.islink(path):
        os.chmod(path, _PRIVATE)
        shutil.rmtree(path)
    else:
        function(path)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def to_service_error(error: BaseException, what: str) -> ServiceError:
    """Return the error to report to a caller after a failed file operation.

    @param what: phrase for the operation, which begins the text.
    """
    if isinstance(error, ServiceError):
        return error
    why = find_disk_problem(error) or getattr(error, "strerror", None) or str(error)
    return make_failure_error(f"{what}: {why}")
