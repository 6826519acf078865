"""Folders with the files of an L{Injection}.

Each folder belongs to one session and to the user of its pane. Its mode is 0700, that of its files
0600. It is written at every start of the session and removed with the session. The functions block,
and run in a thread with the rights of the folder's owner.
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

from tservice.clis.interfaces import Injection
from tservice.core.disk.files import FileError, read_json, read_text, write_private_file
from tservice.core.kernel.errors import make_failure_error
from tservice.core.values.value_limits import exceeds_value_limit

FOLDER = "model-homes"
"""Name of the folder below the data folder that contains the folders of all sessions."""
GUEST_FOLDER = Path(".local/state/tservice") / FOLDER
"""Path below the home folder of an OS user that contains the folders of that user's sessions."""
VARIABLES = "variables"
"""Name of the file with the variables that only the pane's program may see."""
SHELL = "/bin/sh"
STATE_LIMIT = 32 * 1024 * 1024
"""Maximum size in bytes of the user's own state file, which contains histories."""
STATE_VALUES = 100_000
"""Maximum number of values and names in the user's state file. A larger file is not parsed."""
_ID = re.compile(r"[0-9a-f-]{36}")


def write_injection(folder: Path, injection: Injection, working_dir: str) -> None:
    """Write the files and links of C{injection} into C{folder}.

    @param working_dir: working folder of the session, whose trust is copied.
    @raise ServiceError: 422 if a file cannot be written.
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
            replace_injection_file(folder / name, text if base is None else _merge_base(base, text))
        if injection.trusted is not None:
            _copy_trust(folder / injection.trusted.name, injection.trusted, working_dir)
        replace_injection_file(folder / VARIABLES, format_exports(injection.secrets))
    except FileError as error:
        raise make_failure_error(f"the custom model cannot be configured: {error}") from None
    except OSError as error:
        raise make_failure_error(
            f"the custom model cannot be put in place: {error.strerror}"
        ) from error


def replace_injection_file(path: Path, text: str) -> None:
    """Replace a file in a folder of L{write_injection}. Its mode becomes 0600.

    @raise FileError: the path is something other than a file of the service.
    @raise OSError: the system refused. The file is unchanged.
    """
    write_private_file(path, text)


def wrap_command(argv: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """Return a command that reads L{VARIABLES} from C{folder} in a shell and then executes C{argv}.

    The key is not in any argument, and only in the environment of the program. The multiplexer and
    the process that starts the pane never have it.
    """
    return (SHELL, "-c", '. "$0" && exec "$@"', str(folder / VARIABLES), *argv)


def format_exports(variables: Mapping[str, str]) -> str:
    """Return shell commands that export C{variables}."""
    lines = (f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())
    return "".join(lines)


def remove_folder(folder: Path) -> None:
    """Remove a folder made by L{write_injection}. Targets of its links are kept.

    @raise OSError: the folder cannot be removed.
    """
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)


def find_orphaned_folders(base: Path, known: Iterable[str]) -> list[Path]:
    """Return the folders below C{base} whose sessions no longer exist.

    @param known: ids of the existing sessions.
    """
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
    """Merge the JSON C{text} into the contents of the file C{base}, and return the result.

    An unreadable file is ignored.
    """
    try:
        found = read_json(base)
        return json.dumps(merge_objects(found, json.loads(text)), ensure_ascii=False)
    except (OSError, FileError):
        return text


def merge_objects(base: Any, over: Any) -> Any:
    """Return C{base} updated by C{over}. Nested objects are merged; other values are replaced."""
    if not (isinstance(base, dict) and isinstance(over, dict)):
        return over
    return {**base, **{name: merge_objects(base.get(name), value) for name, value in over.items()}}


def _copy_trust(state: Path, own: Path, working_dir: str) -> None:
    """Copy the trust of the working folder to the session's state file, so that the agent does not
    ask.

    @param state: state file of the session.
    @param own: state file of the user.
    """
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
        replace_injection_file(
            state, json.dumps(merge_objects(read_json(state), {"projects": projects}))
        )
