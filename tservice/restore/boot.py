"""Which boot of the machine this is."""

from __future__ import annotations

from pathlib import Path

from twisted.logger import Logger

from tservice.core.files import FileError, read_text

LONGEST = 200
"""Bytes that a name of a boot may have."""

_log = Logger()


def read_boot_id(path: Path) -> str | None:
    """What the machine calls this boot; C{None} where it has no names for them."""
    try:
        return read_text(path, limit=LONGEST).strip() or None
    except FileNotFoundError:
        return None
    except (OSError, FileError) as error:
        _log.warn("the boot of this machine is not known: {error}", error=error)
        return None
