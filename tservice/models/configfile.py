"""C{<data>/model-endpoints.json}: the endpoints with their keys, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from tservice.core.disk import trouble
from tservice.core.errors import conflict, failed
from tservice.core.files import (
    FileError,
    UnparsableFile,
    read_json,
    remove_leftovers,
    write_private,
)
from tservice.models.model import ENDPOINT_LIMIT, AuthStyle, Endpoint, Model

FILE_NAME = "model-endpoints.json"
SIZE_LIMIT = 16 * 1024 * 1024
"""Bytes: all endpoints, with as many models as each may have."""


class EndpointFile:
    """Reads and writes the file, mode 0600; for a thread."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME

    def tidy(self) -> None:
        """Remove what a killed process left half written; at the start."""
        remove_leftovers(self._path)

    def read(self) -> tuple[Endpoint, ...]:
        """The endpoints; none when there is no file.

        @raise FileError: the file cannot be used: open to others, broken, or with a bad value.
        @raise OSError: it cannot be read.
        """
        try:
            data = read_json(self._path, private=True, limit=SIZE_LIMIT)
        except FileNotFoundError:
            return ()
        try:
            return tuple(_endpoint(item) for item in data["endpoints"][:ENDPOINT_LIMIT])
        except (KeyError, TypeError, ValueError):
            raise UnparsableFile(f"{FILE_NAME}: holds something else than endpoints") from None

    def write(self, endpoints: Sequence[Endpoint]) -> None:
        """Replace the file; it is on the disk when this returns.

        @raise ServiceError: 409: there is something else than a file of ours; 422: disk trouble.
        """
        text = json.dumps({"endpoints": [_kept(each) for each in endpoints]}, indent=1)
        try:
            # A file that was there and could not be used is somebody's to mend, not ours to lose.
            self.read()
            write_private(self._path, text + "\n")
        except FileError as error:
            raise conflict(f"{error}; mend the file first") from error
        except OSError as error:
            why = trouble(error) or error.strerror
            raise failed(f"{FILE_NAME} could not be written: {why}") from error


def _kept(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "id": endpoint.id,
        "label": endpoint.label,
        "baseUrl": endpoint.base_url,
        "apiKey": endpoint.key or None,
        "authStyle": endpoint.auth_style.value,
        "models": [_kept_model(model) for model in endpoint.models],
        "lastDiscoveredAt": endpoint.last_discovered_at,
        "defaultModelId": endpoint.default_model_id,
    }


def _kept_model(model: Model) -> dict[str, Any]:
    return {"id": model.id, "contextLength": model.context_length}


def _endpoint(item: Any) -> Endpoint:
    key = _optional(item, "apiKey", str)
    return Endpoint(
        id=_needed(item, "id"),
        label=_needed(item, "label"),
        base_url=_needed(item, "baseUrl"),
        api_key=None if key is None else SecretStr(key),
        auth_style=AuthStyle(item["authStyle"]),
        models=tuple(
            Model(id=_needed(each, "id"), context_length=_optional(each, "contextLength", int))
            for each in item["models"]
        ),
        last_discovered_at=_optional(item, "lastDiscoveredAt", int),
        default_model_id=_optional(item, "defaultModelId", str),
    )


def _needed(item: Any, name: str) -> str:
    value = item[name]
    if not isinstance(value, str):
        raise TypeError(name)
    return value


def _optional(item: Any, name: str, kind: type) -> Any:
    value = item.get(name)
    if value is not None and not isinstance(value, kind):
        raise TypeError(name)
    return value
