"""Secrets that are generated at the first start and then kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tservice.core.disk.files import FileError, read_text, write_private_file
from tservice.core.kernel.errors import StartError


def load_or_create_secret(path: Path, make: Callable[[], str]) -> str:
    """Return the content of the file at C{path}; create a missing file with the result of C{make}.

    @raise StartError: the file does not belong to the service's user, is accessible to others, or
        cannot be written.
    """
    try:
        return read_text(path, private=True).strip()
    except FileNotFoundError:
        return _write_secret(path, make())
    except (FileError, OSError) as error:
        raise _start_error(path, error) from None


def _write_secret(path: Path, text: str) -> str:
    try:
        write_private_file(path, text + "\n")
    except (FileError, OSError) as error:
        raise _start_error(path, error) from None
    return text


def _start_error(path: Path, error: FileError | OSError) -> StartError:
    return StartError(str(error) if isinstance(error, FileError) else f"{path}: {error.strerror}")
