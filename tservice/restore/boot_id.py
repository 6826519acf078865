"""Identification of the current boot of the machine."""

from __future__ import annotations

from pathlib import Path

from twisted.logger import Logger

from tservice.core.disk.files import FileError, read_text

LONGEST = 200
"""Maximum bytes that are read of a boot id."""

_log = Logger()


def read_boot_id(path: Path) -> str | None:
    """Return the id of the machine's current boot; C{None} if the system has no boot ids."""
    try:
        return read_text(path, limit=LONGEST).strip() or None
    except FileNotFoundError:
        return None
    except (OSError, FileError) as error:
        _log.warn("could not read the machine's boot id: {error}", error=error)
        return None
