"""The folders that hold a session's part of an injection.

Each belongs to one session and to the user that its pane runs as: 0700, its files 0600.  It is
written anew at every start and removed with the session.  For a thread; a folder of an OS user is
worked on with that user's rights, by whoever calls.
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

from tservice.core.crowd import is_crowd
from tservice.core.errors import failed
from tservice.core.files import FileError, read_json, read_text, write_private
from tservice.models.injection import Injection

FOLDER = "model-homes"
"""Below the data folder."""
GUEST_FOLDER = Path(".local/state/tservice") / FOLDER
"""Below the home of an OS user."""
VARIABLES = "variables"
"""The file with what only the pane's program may have."""
SHELL = "/bin/sh"
STATE_LIMIT = 32 * 1024 * 1024
"""Bytes of the user's own state, which keeps histories."""
STATE_VALUES = 100_000
"""Values and names of it; what holds more is not looked at."""
_ID = re.compile(r"[0-9a-f-]{36}")


def put(folder: Path, injection: Injection, working_dir: str) -> None:
    """Have everything of C{injection} in C{folder}.

    @raise ServiceError: 422: it cannot be written.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        for name in (*injection.links, *injection.files):
            (folder / name).parent.mkdir(mode=0o700, exist_ok=True)
        for name, target in injection.links.items():
            _link(folder / name, target)
        for name, text in injection.files.items():
            base = injection.bases.get(name)
            keep(folder / name, text if base is None else _merged(base, text))
        if injection.trusted is not None:
            _trust(folder / injection.trusted.name, injection.trusted, working_dir)
        keep(folder / VARIABLES, exports(injection.secrets))
    except FileError as error:
        raise failed(f"the custom model cannot be put in place: {error}") from None
    except OSError as error:
        raise failed(f"the custom model cannot be put in place: {error.strerror}") from error


def keep(path: Path, text: str) -> None:
    """Replace one file, 0600, in a folder of L{put}.

    @raise FileError: something else than a file of ours is there.
    @raise OSError: the system's refusal; the file is as before.
    """
    write_private(path, text)


def wrapped(argv: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """C{argv}, given what is in L{VARIABLES} by a shell that becomes it.

    The key is in no argument, and in the environment of nothing but the program: the multiplexer
    and whoever starts the pane never have it.
    """
    return (SHELL, "-c", '. "$0" && exec "$@"', str(folder / VARIABLES), *argv)


def exports(variables: Mapping[str, str]) -> str:
    """Lines that a shell reads."""
    lines = (f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())
    return "".join(lines)


def remove(folder: Path) -> None:
    """Remove what L{put} made; what its links lead to stays.

    @raise OSError: it cannot be removed.
    """
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)


def left_over(base: Path, known: Iterable[str]) -> list[Path]:
    """Folders of sessions that there are no more."""
    kept = frozenset(known)
    if not base.is_dir():
        return []
    return [each for each in base.iterdir() if _ID.fullmatch(each.name) and each.name not in kept]


def _link(link: Path, target: Path) -> None:
    if link.is_symlink() or link.exists():
        return
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    link.symlink_to(target, target_is_directory=True)


def _merged(base: Path, text: str) -> str:
    """C{text} over what is in C{base}; what cannot be read there is left out."""
    try:
        found = read_json(base)
        return json.dumps(merge(found, json.loads(text)), ensure_ascii=False)
    except (OSError, FileError):
        return text


def merge(base: Any, over: Any) -> Any:
    """C{base} with C{over} in it; objects are merged, all else is replaced."""
    if not (isinstance(base, dict) and isinstance(over, dict)):
        return over
    return {**base, **{name: merge(base.get(name), value) for name, value in over.items()}}


def _trust(state: Path, own: Path, working_dir: str) -> None:
    """A folder that the user trusts is not asked about again."""
    try:
        text = read_text(own, limit=STATE_LIMIT)
        if is_crowd(text, STATE_VALUES):
            return
        project = json.loads(text)["projects"][working_dir]
        trusted = project["hasTrustDialogAccepted"] is True
    except (OSError, FileError, ValueError, KeyError, TypeError, RecursionError):
        return  # whatever it is, it is no trust
    if trusted:
        projects = {working_dir: {"hasTrustDialogAccepted": True}}
        keep(state, json.dumps(merge(read_json(state), {"projects": projects})))
