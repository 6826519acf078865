"""Search for the service that uses a data folder."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from tservice.core.process.folder_lock import ADDRESS_NAME, LOCK_NAME


def is_running(data_dir: Path) -> bool:
    """Return true if a service holds the lock of the data folder."""
    try:
        descriptor = os.open(data_dir / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def read_addresses(data_dir: Path) -> list[str]:
    """Return the URLs of the running service; empty while it starts, or if it is not running."""
    try:
        text = (data_dir / ADDRESS_NAME).read_text(encoding="utf-8")
    except OSError:
        return []
    return text.split()
