"""Storage of endpoints in C{<data>/model-endpoints.json}. No other file contains their keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import SecretStr

from tservice.models.model import ENDPOINT_LIMIT, AuthStyle, ModelEndpoint, OfferedModel
from tservice.store.list_file import JsonListFile

FILE_NAME = "model-endpoints.json"
SIZE_LIMIT = 16 * 1024 * 1024
"""Maximum size of the file in bytes. All endpoints fit, each with the maximum number of models."""


def open_endpoint_file(folder: Path) -> JsonListFile[ModelEndpoint]:
    """Return access to the file of endpoints in the data folder C{folder}."""
    return JsonListFile(
        path=folder / FILE_NAME,
        list_name="endpoints",
        size=SIZE_LIMIT,
        max_records=ENDPOINT_LIMIT,
        parse=_parse_endpoint,
        shown=_serialize_endpoint,
    )


def _serialize_endpoint(endpoint: ModelEndpoint) -> dict[str, Any]:
    return {
        "id": endpoint.id,
        "label": endpoint.label,
        "baseUrl": endpoint.base_url,
        "apiKey": endpoint.key or None,
        "authStyle": endpoint.auth_style.value,
        "models": [_serialize_model(model) for model in endpoint.models],
        "lastDiscoveredAt": endpoint.last_discovered_at,
        "defaultModelId": endpoint.default_model_id,
    }


def _serialize_model(model: OfferedModel) -> dict[str, Any]:
    return {"id": model.id, "contextLength": model.context_length}


def _parse_endpoint(item: Any) -> ModelEndpoint:
    key = _optional_value(item, "apiKey", str)
    return ModelEndpoint(
        id=_required_text(item, "id"),
        label=_required_text(item, "label"),
        base_url=_required_text(item, "baseUrl"),
        api_key=None if key is None else SecretStr(key),
        auth_style=AuthStyle(item["authStyle"]),
        models=tuple(
            OfferedModel(
                id=_required_text(each, "id"),
                context_length=_optional_value(each, "contextLength", int),
            )
            for each in item["models"]
        ),
        last_discovered_at=_optional_value(item, "lastDiscoveredAt", int),
        default_model_id=_optional_value(item, "defaultModelId", str),
    )


def _required_text(item: Any, name: str) -> str:
    value = item[name]
    if not isinstance(value, str):
        raise TypeError(name)
    return value


def _optional_value(item: Any, name: str, kind: type) -> Any:
    value = item.get(name)
    if value is not None and not isinstance(value, kind):
        raise TypeError(name)
    return value
