"""Small private files: read with clear errors, written whole or not at all."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NoReturn

from tservice.core.crowd import is_crowd

PRIVATE = 0o600
READ_LIMIT = 1024 * 1024
"""Bytes that L{read_text} takes at most: a settings file is never near it."""
VALUES_LIMIT = 50_000
"""Values and names of a JSON file that anybody may have made."""


_ENVIRONMENTS = ".env*"
_SECRETS = (
    "*.pem",
    "*.key",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    "*.kdbx",
    "credentials*.json",
)


def is_secret(name: str, *, reveal: bool = False) -> bool:
    """Return whether a file of that name holds secrets and is never handed out (protocol-files).

    @param reveal: environment files may be shown.
    """
    lower = name.lower()
    if fnmatchcase(lower, _ENVIRONMENTS):
        return not reveal
    if lower.startswith("id_"):
        return not lower.endswith(".pub")
    return any(fnmatchcase(lower, pattern) for pattern in _SECRETS)


class FileError(Exception):
    """A file that cannot be used; the text names the file and the reason, never its content."""


class UnsafeFile(FileError):
    """Not a regular file, a symbolic link where none may be, or open to other users."""


class UnparsableFile(FileError):
    """Not UTF-8, not the expected syntax, or too large."""


def write_private(path: Path, data: str | bytes, *, follow: bool = False) -> None:
    """Replace C{path} by C{data}, mode 0600; a crash leaves the old or the new content whole.

    A temporary file in the same folder is written, synced and renamed, then the folder is
    synced.  The folder must exist.

    @param follow: what a symbolic link at C{path} means: false refuses it, true writes to its
        target (and refuses a dangling one), as a user who keeps a file elsewhere expects.
    @raise UnsafeFile: C{path} is a link against the rule, or there and no regular file.
    @raise OSError: the file system's own refusal; C{path} is as before.
    """
    target = _target(path, follow)
    content = data.encode() if isinstance(data, str) else data
    with replacement(target) as temporary:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW)
        with open(descriptor, "wb") as stream:
            stream.write(content)


@contextmanager
def replacement(target: Path) -> Iterator[Path]:
    """An empty 0600 file beside C{target} that takes its place when the block ends well.

    The block fills it; it is then synced and renamed.  After an error it is removed and
    C{target} is untouched.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    os.fchmod(descriptor, PRIVATE)  # mkstemp lets an odd umask take it away from us too
    os.close(descriptor)
    temporary = Path(name)
    try:
        yield temporary
        sync(temporary)
        temporary.replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise
    sync(target.parent)


def remove_leftovers(target: Path) -> None:
    """Remove temporary files that a killed process left beside C{target}.

    For the owner of C{target} at its start, when nobody is writing.
    """
    prefix, suffix = f".{target.name}.", ".tmp"
    for entry in os.scandir(target.parent):
        if entry.name.startswith(prefix) and entry.name.endswith(suffix):
            Path(entry.path).unlink(missing_ok=True)


def close_to_others(path: Path) -> bool:
    """Take from group and others what they may do with a file of ours; links are left alone.

    @return: whether there was anything to take.
    @raise OSError: it cannot be opened or changed.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        open_to_others = stat.S_ISREG(status.st_mode) and bool(status.st_mode & 0o077)
        if open_to_others:
            os.fchmod(descriptor, PRIVATE)
        return open_to_others
    finally:
        os.close(descriptor)


def sync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to stable storage."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_text(path: Path, *, private: bool = False, limit: int = READ_LIMIT) -> str:
    """The content of a regular file; symbolic links are followed.

    @param private: refuse a file that its group or others may read or write.
    @param limit: bytes; a larger file is refused.
    @raise FileNotFoundError: there is none.
    @raise UnsafeFile: not a regular file, a link that leads nowhere, or open to others although
        C{private}.
    @raise UnparsableFile: too large, or not UTF-8.
    """
    # O_NONBLOCK: a named pipe put in the file's place must not stop the service.
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        if path.is_symlink():
            # Where it led is not there now, as what is not mounted: that is no new beginning.
            raise UnsafeFile(f"{path.name}: is a symbolic link that leads nowhere") from None
        raise
    try:
        _check_open(path, os.fstat(descriptor), private)
    except UnsafeFile:
        os.close(descriptor)
        raise
    with open(descriptor, "rb") as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise UnparsableFile(f"{path.name}: larger than {limit} bytes")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise UnparsableFile(f"{path.name}: not UTF-8 (byte {error.start})") from None


def read_json(path: Path, *, private: bool = False, limit: int = READ_LIMIT) -> Any:
    """The JSON value in a file, under the rules of L{read_text}.

    @raise UnparsableFile: also for broken JSON; says where, never what.  And for a crowd of more
        than L{VALUES_LIMIT} in a file that is not C{private}: anybody may have made that.
    """
    text = read_text(path, private=private, limit=limit)
    if not private and is_crowd(text, VALUES_LIMIT):
        raise UnparsableFile(f"{path.name}: holds more than {VALUES_LIMIT} values")
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise UnparsableFile(f"{path.name}: not valid JSON ({where})") from None
    except (ValueError, RecursionError):
        raise UnparsableFile(f"{path.name}: not valid JSON") from None


def _check_open(path: Path, status: os.stat_result, private: bool) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UnsafeFile(f"{path.name}: not a regular file")
    if private and stat.S_IMODE(status.st_mode) & 0o077:
        raise UnsafeFile(f"{path.name}: open to other users, must have mode 0600")


def _target(path: Path, follow: bool) -> Path:
    """Where C{path} is really written."""
    if path.is_symlink():
        if not follow:
            raise UnsafeFile(f"{path.name}: is a symbolic link")
        try:
            path = path.resolve(strict=True)
        except (OSError, RuntimeError):
            raise UnsafeFile(f"{path.name}: is a symbolic link that leads nowhere") from None
    if path.exists() and not path.is_file():
        raise UnsafeFile(f"{path.name}: not a regular file")
    return path


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")
