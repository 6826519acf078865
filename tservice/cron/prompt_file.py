"""Prompt file of a job, which is read when the job runs (protocol-cron-job: promptFilePath).

Symbolic links are followed only inside the working directory.  The resolved path is then opened one
folder at a time, without following links.  Replacing a folder in between therefore cannot lead
outside.
"""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack
from pathlib import Path

from tservice.core.kernel.errors import ServiceError, make_failure_error
from tservice.cron.model import PROMPT_FILE_BYTES

_STEP = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


def read_prompt(folder: str, path: str) -> str:
    """Return the text of the file C{path} inside C{folder}, without trailing line ends.

    @raise ServiceError: 422: the file is missing, outside of C{folder}, not a regular file, too
        large, not UTF-8, or empty.
    """
    try:
        content = _read_bytes(Path(folder), Path(path))
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "unreadable"
        raise _unusable_file(path, reason) from error
    if len(content) > PROMPT_FILE_BYTES:
        raise _unusable_file(path, f"it is larger than {PROMPT_FILE_BYTES} bytes")
    try:
        text = content.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise _unusable_file(path, f"it is not UTF-8 (byte {error.start})") from None
    if not text.strip():
        raise _unusable_file(path, "it is empty")
    return text


def _read_bytes(folder: Path, path: Path) -> bytes:
    root = folder.resolve(strict=True)
    try:
        parts = path.resolve(strict=True).relative_to(root).parts
    except (ValueError, RuntimeError):
        raise _unusable_file(str(path), "it leads out of the working directory") from None
    if not parts:
        raise _unusable_file(str(path), "it is not a regular file")
    with ExitStack() as held:
        where = os.open(root, _STEP | os.O_DIRECTORY)
        held.callback(os.close, where)
        for part in parts[:-1]:
            where = os.open(part, _STEP | os.O_DIRECTORY, dir_fd=where)
            held.callback(os.close, where)
        # Opening a named pipe must not block.
        descriptor = os.open(parts[-1], _STEP | os.O_NONBLOCK, dir_fd=where)
        held.callback(os.close, descriptor)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _unusable_file(str(path), "it is not a regular file")
        with open(descriptor, "rb", closefd=False) as stream:
            return stream.read(PROMPT_FILE_BYTES + 1)


def _unusable_file(path: str, why: str) -> ServiceError:
    return make_failure_error(f"the prompt file {path} cannot be used: {why}")
