"""YAML that is packaged with the program."""

from __future__ import annotations

from typing import Any

import yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's is ten times as fast; a PyYAML that was built without it has only its own."""


def parse_yaml(text: str) -> Any:
    """What a packaged file says: plain values only.

    @raise yaml.YAMLError: it is no YAML.
    """
    return yaml.load(text, Loader=_LOADER)  # noqa: S506 - it is a safe one either way
