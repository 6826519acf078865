"""The host keys that people trust: C{<data>/known_hosts}, and what a host shows."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from tservice.core.files import read_text, write_private
from tservice.hosts.model import RemoteHost

FILE_NAME = "known_hosts"
SIZE_LIMIT = 1024 * 1024


@frozen
class HostKey:
    """A key in the form of C{known_hosts}: its kind, and itself in base64."""

    kind: str
    text: str

    @property
    def fingerprint(self) -> str:
        """As C{ssh-keygen -l} tells it."""
        digest = hashlib.sha256(base64.b64decode(self.text)).digest()
        return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def name_of(host: RemoteHost) -> str:
    """What ssh calls a host in the file."""
    name = host.host.casefold()
    return name if host.port == 22 else f"[{name}]:{host.port}"


def keys_in(text: str, name: str | None = None) -> list[HostKey]:
    """The keys of one name, or all; a line that is none is passed over."""
    found = []
    for line in text.splitlines():
        words = line.split()
        if len(words) < 3 or line.startswith(("#", "@")):
            continue
        if name is None or name in words[0].split(","):
            found.append(HostKey(words[1], words[2]))
    return found


def with_key(text: str, name: str, key: HostKey) -> str:
    """The file with C{key} as the only one of that name."""
    kept = [line for line in text.splitlines() if line.split()[:1] != [name]]
    return "\n".join([*kept, f"{name} {key.kind} {key.text}"]) + "\n"


class KnownHosts:
    """The file, mode 0600; for a thread."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME

    def of(self, host: RemoteHost) -> Sequence[HostKey]:
        """The keys that are trusted for a host.

        @raise FileError, OSError: the file cannot be used.
        """
        return keys_in(self._text(), name_of(host))

    def trust(self, host: RemoteHost, key: HostKey) -> None:
        """Trust that key, and no other of that host any more.

        @raise FileError, OSError: the file cannot be used or written.
        """
        write_private(self.path, with_key(self._text(), name_of(host), key))

    def _text(self) -> str:
        try:
            return read_text(self.path, private=True, limit=SIZE_LIMIT)
        except FileNotFoundError:
            return ""
