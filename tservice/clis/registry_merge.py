"""Merging of the packaged entries with the operator's C{clis.json}."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from tservice.clis.model import ENTRY_LIMIT, CliEntry, CliKind, parse_entry
from tservice.core.disk.files import UnparsableFile, read_json, write_private_file
from tservice.core.kernel.errors import ServiceError, make_field_error

FIXED_FIELDS = ("id", "stock", "kind")
"""Fields of a packaged entry that C{clis.json} cannot override."""


@frozen
class MergedRegistry:
    """Result of merging C{clis.json} into the packaged entries.

    @ivar faults: errors in the file by entry id. A faulty entry is not used; the packaged entry
        applies.
    """

    entries: Mapping[str, CliEntry]
    faults: Mapping[str, str]

    def sorted_entries(self) -> tuple[CliEntry, ...]:
        """Return the entries in the order in which clients list them."""
        return tuple(sorted(self.entries.values(), key=lambda entry: (entry.order, entry.id)))


def merge_registry(stock: Mapping[str, CliEntry], file: Mapping[str, Any]) -> MergedRegistry:
    """Merge the entries of C{clis.json} into the packaged ones. An invalid entry does not affect
    others.

    @param stock: packaged entries by id.
    @param file: C{clis} object of the file, not validated yet.
    """
    entries = dict(stock)
    faults: dict[str, str] = {}
    for name, data in file.items():
        try:
            entry = _merge_entry(stock.get(name), name, data)
            if name not in entries and len(entries) >= ENTRY_LIMIT:
                raise make_field_error("clis", f"must have at most {ENTRY_LIMIT} entries")
            entries[name] = entry
        except ServiceError as error:
            faults[name] = error.message
    return MergedRegistry(entries, faults)


def read_registry_file(path: Path) -> dict[str, Any]:
    """Return the C{clis} object of the file, or an empty dictionary if there is no file.

    @raise FileError: the file is not of mode 0600, is not JSON, or has another structure.
    """
    try:
        data = read_json(path, private=True)
    except FileNotFoundError:
        return {}
    if not isinstance(data, dict) or not isinstance(data.get("clis"), dict):
        raise UnparsableFile(f'{path.name}: must be {{"clis": {{...}}}}')
    clis: dict[str, Any] = data["clis"]
    return clis


def write_registry_file(path: Path, clis: Mapping[str, Any]) -> None:
    """Replace the contents of C{clis.json}.

    @raise FileError: the path is a symbolic link, or not a regular file.
    """
    write_private_file(path, json.dumps({"clis": clis}, indent=2) + "\n")


def _merge_entry(stock: CliEntry | None, name: str, data: object) -> CliEntry:
    if not isinstance(data, dict):
        raise make_field_error("entry", "must be an object")
    if stock is None:
        return parse_entry({**data, "id": name, "stock": _check_not_stock(data)})
    for field in FIXED_FIELDS:
        if field in data:
            raise make_field_error(field, "may not be overridden")
    shipped = stock.model_dump(mode="json", by_alias=True, exclude_none=True)
    entry = parse_entry(_merge_objects(shipped, data))
    if entry.kind is CliKind.SHELL and not entry.enabled:
        raise make_field_error("enabled", "the shell cannot be disabled")
    return entry


def _check_not_stock(data: Mapping[str, Any]) -> bool:
    if data.get("stock", False) is not False:
        raise make_field_error("stock", "no stock entry has this id")
    return False


def _merge_objects(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of C{base} updated by C{top}. Nested objects are merged key by key."""
    merged = dict(base)
    for name, value in top.items():
        old = merged.get(name)
        if isinstance(old, dict) and isinstance(value, dict):
            merged[name] = _merge_objects(old, value)
        else:
            merged[name] = value
    return merged
