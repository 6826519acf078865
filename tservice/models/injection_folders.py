"""Folders with a session's part of an injection.

Each belongs to one session and to the user of its pane: mode 0700, its files 0600.  It is rewritten
at every start and removed with the session.  The functions block and run in a thread; callers use
the rights of an OS user for that user's folder.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tservice.core.errors import operation_failed
from tservice.core.files import FileError, read_json, read_text, write_private
from tservice.core.value_limits import exceeds_value_limit
from tservice.models.injection import Injection

FOLDER = "model-homes"
"""Folder below the data folder."""
GUEST_FOLDER = Path(".local/state/tservice") / FOLDER
"""Folder below the home of an OS user."""
VARIABLES = "variables"
"""File with variables for the pane's program only."""
SHELL = "/bin/sh"
STATE_LIMIT = 32 * 1024 * 1024
"""Largest size of the user's own state in bytes; it includes histories."""
STATE_VALUES = 100_000
"""Limit of values and names in it, above which it is not parsed."""
_ID = re.compile(r"[0-9a-f-]{36}")


def write_injection(folder: Path, injection: Injection, working_dir: str) -> None:
    """Write all of C{injection} into C{folder}.

    @raise ServiceError: 422: it cannot be written.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        for name in (*injection.links, *injection.files):
            (folder / name).parent.mkdir(mode=0o700, exist_ok=True)
        for name, target in injection.links.items():
            _create_link(folder / name, target)
        for name, text in injection.files.items():
            base = injection.bases.get(name)
            write_file(folder / name, text if base is None else _merge_base(base, text))
        if injection.trusted is not None:
            _copy_trust(folder / injection.trusted.name, injection.trusted, working_dir)
        write_file(folder / VARIABLES, format_exports(injection.secrets))
    except FileError as error:
        raise operation_failed(f"the custom model cannot be configured: {error}") from None
    except OSError as error:
        raise operation_failed(
            f"the custom model cannot be put in place: {error.strerror}"
        ) from error


def write_file(path: Path, text: str) -> None:
    """Replace one file with mode 0600 in a folder of L{write_injection}.

    @raise FileError: the path is in use for something else than a file of the service.
    @raise OSError: the system refused; the file is unchanged.
    """
    write_private(path, text)


def wrap_command(argv: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """Return C{argv} wrapped in a shell that reads L{VARIABLES} and executes it.

    The key is in no argument, and only in the environment of the program: the multiplexer and the
    process that starts the pane never have it.
    """
    return (SHELL, "-c", '. "$0" && exec "$@"', str(folder / VARIABLES), *argv)


def format_exports(variables: Mapping[str, str]) -> str:
    """Return export lines for a shell."""
    lines = (f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())
    return "".join(lines)


def remove_folder(folder: Path) -> None:
    """Remove a folder made by L{write_injection}; targets of its links are kept.

    @raise OSError: it cannot be removed.
    """
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)


def find_orphaned(base: Path, known: Iterable[str]) -> list[Path]:
    """Return the folders of sessions that no longer exist."""
    kept = frozenset(known)
    if not base.is_dir():
        return []
    return [each for each in base.iterdir() if _ID.fullmatch(each.name) and each.name not in kept]


def _create_link(link: Path, target: Path) -> None:
    if link.is_symlink() or link.exists():
        return
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    link.symlink_to(target, target_is_directory=True)


def _merge_base(base: Path, text: str) -> str:
    """Return C{text} merged into the contents of C{base}; an unreadable base is left out."""
    try:
        found = read_json(base)
        return json.dumps(merge_objects(found, json.loads(text)), ensure_ascii=False)
    except (OSError, FileError):
        return text


def merge_objects(base: Any, over: Any) -> Any:
    """Return C{base} updated by C{over}; nested objects are merged, other values replaced."""
    if not (isinstance(base, dict) and isinstance(over, dict)):
        return over
    return {**base, **{name: merge_objects(base.get(name), value) for name, value in over.items()}}


def _copy_trust(state: Path, own: Path, working_dir: str) -> None:
    """Copy the trust of a folder, so that the user is not asked again."""
    try:
        text = read_text(own, limit=STATE_LIMIT)
        if exceeds_value_limit(text, STATE_VALUES):
            return
        project = json.loads(text)["projects"][working_dir]
        trusted = project["hasTrustDialogAccepted"] is True
    except (OSError, FileError, ValueError, KeyError, TypeError, RecursionError):
        return  # anything else means no trust
    if trusted:
        projects = {working_dir: {"hasTrustDialogAccepted": True}}
        write_file(state, json.dumps(merge_objects(read_json(state), {"projects": projects})))
