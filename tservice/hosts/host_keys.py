"""Trusted host keys in C{<data>/known_hosts}, and keys that hosts present."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from tservice.core.disk.files import read_text, write_private_file
from tservice.hosts.model import RemoteHost

FILE_NAME = "known_hosts"
SIZE_LIMIT = 1024 * 1024


@frozen
class HostKey:
    """Public key of a host as in C{known_hosts}: the key type, and the key in base64."""

    kind: str
    text: str

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the key in the format of C{ssh-keygen -l}."""
        digest = hashlib.sha256(base64.b64decode(self.text)).digest()
        return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def format_known_hosts_name(host: RemoteHost) -> str:
    """Return the name under which ssh stores the keys of C{host} in C{known_hosts}."""
    name = host.host.casefold()
    return name if host.port == 22 else f"[{name}]:{host.port}"


def parse_keys(text: str, name: str | None = None) -> list[HostKey]:
    """Return the keys in the text of a C{known_hosts} file. Invalid lines are skipped.

    @param name: return only the keys of this host name. C{None} returns all keys.
    """
    found = []
    for line in text.splitlines():
        words = line.split()
        if len(words) < 3 or line.startswith(("#", "@")):
            continue
        if name is None or name in words[0].split(","):
            found.append(HostKey(words[1], words[2]))
    return found


def replace_key(text: str, name: str, key: HostKey) -> str:
    """Return the text of a C{known_hosts} file with C{key} as the only key of the host C{name}."""
    kept = [line for line in text.splitlines() if line.split()[:1] != [name]]
    return "\n".join([*kept, f"{name} {key.kind} {key.text}"]) + "\n"


class KnownHostsFile:
    """Access to the C{known_hosts} file, which has mode 0600. The methods block; call them in a
    thread.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME

    def read_trusted_keys(self, host: RemoteHost) -> Sequence[HostKey]:
        """Return the trusted keys of a host.

        @raise FileError, OSError: the file cannot be read.
        """
        return parse_keys(self._read_text(), format_known_hosts_name(host))

    def trust_key(self, host: RemoteHost, key: HostKey) -> None:
        """Store C{key} as the only trusted key of the host.

        @raise FileError, OSError: the file cannot be read or written.
        """
        write_private_file(
            self.path, replace_key(self._read_text(), format_known_hosts_name(host), key)
        )

    def _read_text(self) -> str:
        try:
            return read_text(self.path, private=True, limit=SIZE_LIMIT)
        except FileNotFoundError:
            return ""
