"""Insertion of entries into a TOML document, as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AbstractTable, InlineTable

from tservice.mcp.dialects.errors import DialectError
from tservice.mcp.dialects.toml_text import parse_document


def insert_entries(text: str, key: str, entries: Mapping[str, Any]) -> str:
    """Return C{text} with C{entries} in the table C{key}. All other text is kept.

    The entries are appended at the end as tables with headers. If the table is an inline table,
    they are inserted into it as members.

    @param text: a valid document.
    @raise DialectError: the table cannot be extended.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    added = text + gap + _format_tables(key, entries).replace("\n", newline)
    try:
        parse_document(added)
    except DialectError:
        return _insert_inline(text, key, entries)
    return added


def _format_tables(key: str, entries: Mapping[str, Any]) -> str:
    """Return the text of a C{[key.name]} table for each entry."""
    servers = tomlkit.table(is_super_table=True)
    for name, entry in entries.items():
        servers.append(name, _fill_table(tomlkit.table(), entry))
    document = tomlkit.document()
    document.append(key, servers)
    return tomlkit.dumps(document)


def _insert_inline(text: str, key: str, entries: Mapping[str, Any]) -> str:
    try:
        document = tomlkit.parse(text)
        table = document.get(key)
        if not isinstance(table, InlineTable):
            raise DialectError(f"{key} cannot be extended")
        for name, entry in entries.items():
            table.append(name, _fill_table(tomlkit.inline_table(), entry))
    except TOMLKitError:
        raise DialectError(f"{key} cannot be extended") from None
    return tomlkit.dumps(document)


def _fill_table(table: AbstractTable, entry: Mapping[str, Any]) -> AbstractTable:
    for name, value in entry.items():
        inner = tomlkit.inline_table() if isinstance(table, InlineTable) else tomlkit.table()
        table.append(name, _fill_table(inner, value) if isinstance(value, Mapping) else value)
    return table
