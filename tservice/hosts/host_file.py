"""Storage of hosts in C{<data>/remote-hosts.json}."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import asdict, fields_dict

from tservice.hosts.model import MOST_HOSTS, RemoteHost, check_host
from tservice.store.list_file import JsonListFile

FILE_NAME = "remote-hosts.json"
SIZE_LIMIT = 8 * 1024 * 1024


def open_host_file(folder: Path) -> JsonListFile[RemoteHost]:
    """Return the file of hosts in the data folder."""
    return JsonListFile(
        path=folder / FILE_NAME,
        list_name="hosts",
        size=SIZE_LIMIT,
        max_records=MOST_HOSTS,
        parse=_parse_host,
        shown=asdict,
    )


def _parse_host(item: Any) -> RemoteHost:
    given = {name: item[name] for name in fields_dict(RemoteHost) if name in item}
    given["extra_ssh_options"] = tuple(given.get("extra_ssh_options", ()))
    return check_host(RemoteHost(**given))
