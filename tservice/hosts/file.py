"""Storage of hosts in C{<data>/remote-hosts.json}."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import asdict, fields_dict

from tservice.hosts.model import MOST_HOSTS, RemoteHost, checked
from tservice.store.listfile import ListFile

FILE_NAME = "remote-hosts.json"
SIZE_LIMIT = 8 * 1024 * 1024


def host_file(folder: Path) -> ListFile[RemoteHost]:
    """Return the file of hosts in the data folder."""
    return ListFile(
        path=folder / FILE_NAME,
        named="hosts",
        size=SIZE_LIMIT,
        most=MOST_HOSTS,
        parse=_host,
        shown=asdict,
    )


def _host(item: Any) -> RemoteHost:
    given = {name: item[name] for name in fields_dict(RemoteHost) if name in item}
    given["extra_ssh_options"] = tuple(given.get("extra_ssh_options", ()))
    return checked(RemoteHost(**given))
