"""CLI entries that come with the program."""

from __future__ import annotations

from importlib.resources import files

from tservice.clis.model import CliEntry, parse_entry
from tservice.core.values.yamltext import parse_yaml


def load_stock_entries() -> dict[str, CliEntry]:
    """Return the packaged entries by id.

    @raise ServiceError: a packaged entry is invalid.
    """
    text = (files("tservice.clis") / "stock.yaml").read_text("utf-8")
    entries = [parse_entry({**data, "stock": True}) for data in parse_yaml(text)]
    return {entry.id: entry for entry in entries}
