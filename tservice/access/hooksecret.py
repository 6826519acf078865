"""The secret that the hooks of this machine's agents show (interface.md Authentication 5)."""

from __future__ import annotations

import re
from pathlib import Path

from tservice.access.cookies import Random
from tservice.core.errors import StartError
from tservice.core.files import FileError, read_text, write_private

FILE_NAME = "hook-secret"
HEADER = "X-Service-Hook-Secret"

_SECRET = re.compile(r"[0-9a-f]{64}")


def hook_secret(data_dir: Path, random: Random) -> str:
    """The secret of this data folder, made at the first start: 32 random bytes in hex.

    It stays the same for good: panes outlive the service, and read the file when a hook runs.

    @raise StartError: the file is not one of ours, or open to others.
    """
    path = data_dir / FILE_NAME
    try:
        found = read_text(path, private=True).strip()
    except FileNotFoundError:
        made = random(32).hex()
        write_private(path, made + "\n")
        return made
    except FileError as error:
        raise StartError(f"{error}") from None
    if not _SECRET.fullmatch(found):
        raise StartError(f"{FILE_NAME}: must hold 64 hex digits; remove it to get a new one")
    return found
