"""Version of the program on the disk, which an update changes while the service runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

_RELEASE = re.compile(r"\d{1,6}(?:\.\d{1,6})*")


def find_newer_installed(running: str, installed: Callable[[str], str] = version) -> str | None:
    """Return the version on the disk if it is newer than the one that runs.

    A checkout may have metadata of an older version, which is no update.

    @param installed: returns the installed version of a package; raises C{PackageNotFoundError}.
    """
    try:
        found = installed("tservice")
    except PackageNotFoundError:
        return None
    return found if _parse_release(found) > _parse_release(running) else None


def _parse_release(text: str) -> list[int]:
    found = _RELEASE.match(text)
    return [] if found is None else [int(part) for part in found[0].split(".")]
