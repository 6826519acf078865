"""CLI entries that come with the program: one folder of L{tservice.clis.agents} each."""

from __future__ import annotations

from importlib.resources import files

from tservice.clis.model import CliEntry, parse_entry
from tservice.core.values.yamltext import parse_yaml

ENTRY_FILE = "entry.yaml"


def load_stock_entries() -> dict[str, CliEntry]:
    """Return the packaged entries by id, in the order in which clients list them.

    @raise ServiceError: a packaged entry is invalid.
    """
    texts = (
        (folder / ENTRY_FILE).read_text("utf-8")
        for folder in files("tservice.clis.agents").iterdir()
        if (folder / ENTRY_FILE).is_file()
    )
    entries = [parse_entry({**parse_yaml(text), "stock": True}) for text in texts]
    entries.sort(key=lambda entry: (entry.order, entry.id))
    return {entry.id: entry for entry in entries}
