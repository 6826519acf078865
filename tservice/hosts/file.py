"""C{<data>/remote-hosts.json}."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, fields_dict

from tservice.core.disk import trouble
from tservice.core.errors import ServiceError, conflict, failed
from tservice.core.files import (
    FileError,
    UnparsableFile,
    read_json,
    remove_leftovers,
    write_private,
)
from tservice.hosts.model import MOST_HOSTS, RemoteHost, checked

FILE_NAME = "remote-hosts.json"
SIZE_LIMIT = 8 * 1024 * 1024


class HostFile:
    """Reads and writes the file, mode 0600; for a thread."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME

    def read(self) -> tuple[RemoteHost, ...]:
        """The hosts; none when there is no file.

        @raise FileError: the file cannot be used: open to others, broken, or with a bad value.
        @raise OSError: it cannot be read.
        """
        remove_leftovers(self._path)
        try:
            data = read_json(self._path, private=True, limit=SIZE_LIMIT)
        except FileNotFoundError:
            return ()
        try:
            return tuple(_host(item) for item in data["hosts"][:MOST_HOSTS])
        except (KeyError, TypeError, ValueError, AttributeError, ServiceError) as error:
            raise UnparsableFile(f"{FILE_NAME}: holds something else than hosts") from error

    def write(self, hosts: Sequence[RemoteHost]) -> None:
        """Replace the file; it is on the disk when this returns.

        @raise ServiceError: 409: there is something else than a file of ours; 422: disk trouble.
        """
        text = json.dumps({"hosts": [asdict(host) for host in hosts]}, indent=1)
        try:
            # A file that was there and could not be used is somebody's to mend, not ours to lose.
            self.read()
            write_private(self._path, text + "\n")
        except FileError as error:
            raise conflict(f"{error}; mend the file first") from error
        except OSError as error:
            why = trouble(error) or error.strerror
            raise failed(f"{FILE_NAME} could not be written: {why}") from error


def _host(item: Any) -> RemoteHost:
    given = {name: item[name] for name in fields_dict(RemoteHost) if name in item}
    given["extra_ssh_options"] = tuple(given.get("extra_ssh_options", ()))
    return checked(RemoteHost(**given))
