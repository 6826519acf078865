"""What the fuzzer may not choose: folders and hosts of its own, and minutes of waiting."""

from __future__ import annotations

import os
from typing import Any

import schemathesis

FOLDER = os.environ["CONTRACT_FOLDER"]
NOWHERE = "http://127.0.0.1:9/"
"""A port that nobody listens on."""
CHOSEN: dict[str, Any] = {
    "workingDir": FOLDER,
    "promptFilePath": FOLDER,
    "defaultWorkingDir": FOLDER,
    "baseUrl": NOWHERE,
    "url": NOWHERE,
    "repository": "https://127.0.0.1:9/none.git",
    "timeout": 1000,
    "waitTimeout": 1000,
}


def bounded(found: Any) -> Any:
    """The same with what is chosen in place of what was made up, where the type is right."""
    if isinstance(found, list):
        return [bounded(each) for each in found]
    if not isinstance(found, dict):
        return found
    return {
        name: CHOSEN[name] if _is_chosen(name, value) else bounded(value)
        for name, value in found.items()
    }


def _is_chosen(name: str, value: Any) -> bool:
    return name in CHOSEN and type(value) is type(CHOSEN[name])


@schemathesis.hook
def map_body(context: Any, body: Any) -> Any:
    """Of every body."""
    found = bounded(body)
    if isinstance(found, dict) and isinstance(found.get("path"), str) and "name" in found:
        return {**found, "path": FOLDER}
    return found


@schemathesis.hook
def map_query(context: Any, query: Any) -> Any:
    """Of every query."""
    return bounded(query)
