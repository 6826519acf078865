"""Trusted host keys in C{<data>/known_hosts}, and the keys that hosts present."""

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
    """Key in the format of C{known_hosts}: its kind, and the key in base64."""

    kind: str
    text: str

    @property
    def fingerprint(self) -> str:
        """Fingerprint as printed by C{ssh-keygen -l}."""
        digest = hashlib.sha256(base64.b64decode(self.text)).digest()
        return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def known_hosts_name(host: RemoteHost) -> str:
    """Return the name of a host in the file, as ssh writes it."""
    name = host.host.casefold()
    return name if host.port == 22 else f"[{name}]:{host.port}"


def parse_keys(text: str, name: str | None = None) -> list[HostKey]:
    """Return the keys of one name, or all; invalid lines are skipped."""
    found = []
    for line in text.splitlines():
        words = line.split()
        if len(words) < 3 or line.startswith(("#", "@")):
            continue
        if name is None or name in words[0].split(","):
            found.append(HostKey(words[1], words[2]))
    return found


def replace_key(text: str, name: str, key: HostKey) -> str:
    """Return the file's text with C{key} as the only key of that name."""
    kept = [line for line in text.splitlines() if line.split()[:1] != [name]]
    return "\n".join([*kept, f"{name} {key.kind} {key.text}"]) + "\n"


class KnownHostsFile:
    """File of mode 0600; used in a thread."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME

    def trusted_keys(self, host: RemoteHost) -> Sequence[HostKey]:
        """Return the trusted keys of a host.

        @raise FileError, OSError: the file cannot be used.
        """
        return parse_keys(self._read_text(), known_hosts_name(host))

    def trust_key(self, host: RemoteHost, key: HostKey) -> None:
        """Trust this key as the host's only one.

        @raise FileError, OSError: the file cannot be used or written.
        """
        write_private(self.path, replace_key(self._read_text(), known_hosts_name(host), key))

    def _read_text(self) -> str:
        try:
            return read_text(self.path, private=True, limit=SIZE_LIMIT)
        except FileNotFoundError:
            return ""
