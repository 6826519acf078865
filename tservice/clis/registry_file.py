"""Reading of the registry stored in C{clis.json}, for programs that run without the service."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from tservice.clis.model import CliEntry
from tservice.clis.registry_merge import merge_registry, read_registry_file
from tservice.clis.stock_entries import load_stock_entries
from tservice.core.disk.files import FileError

FILE_NAME = "clis.json"
"""File name in the data folder."""


@frozen
class StoredRegistry:
    """Entries that a service with this data folder would use.

    @ivar faults: errors in the file by entry id. A faulty entry is not used; the packaged entry
        applies.
    """

    entries: tuple[CliEntry, ...]
    faults: tuple[str, ...]


def read_stored_registry(data_dir: Path) -> StoredRegistry:
    """Read C{clis.json} without writing anything. If there is no file, the packaged entries
    apply.
    """
    stock = load_stock_entries()
    try:
        merged = merge_registry(stock, read_registry_file(data_dir / FILE_NAME))
    except FileError as error:
        return StoredRegistry(merge_registry(stock, {}).sorted_entries(), (str(error),))
    except OSError as error:
        return StoredRegistry(
            merge_registry(stock, {}).sorted_entries(), (f"{FILE_NAME}: {error.strerror}",)
        )
    faults = tuple(f"{FILE_NAME}: {name}: {why}" for name, why in sorted(merged.faults.items()))
    return StoredRegistry(merged.sorted_entries(), faults)
