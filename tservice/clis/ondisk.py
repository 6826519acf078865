"""Registry as stored in C{clis.json}, for programs that run without the service."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from tservice.clis.model import CliEntry
from tservice.clis.registry import merge_registry, read_file
from tservice.clis.stock import stock_entries
from tservice.core.files import FileError

FILE_NAME = "clis.json"
"""File name in the data folder."""


@frozen
class OnDisk:
    """Entries that a service with this data folder would have.

    @ivar faults: errors of the file's entries, which are not in use; stock entries apply instead.
    """

    entries: tuple[CliEntry, ...]
    faults: tuple[str, ...]


def entries_on_disk(data_dir: Path) -> OnDisk:
    """Read the file without writing anything; without a file the stock entries apply."""
    stock = stock_entries()
    try:
        merged = merge_registry(stock, read_file(data_dir / FILE_NAME))
    except FileError as error:
        return OnDisk(merge_registry(stock, {}).ordered(), (str(error),))
    except OSError as error:
        return OnDisk(merge_registry(stock, {}).ordered(), (f"{FILE_NAME}: {error.strerror}",))
    faults = tuple(f"{FILE_NAME}: {name}: {why}" for name, why in sorted(merged.faults.items()))
    return OnDisk(merged.ordered(), faults)
