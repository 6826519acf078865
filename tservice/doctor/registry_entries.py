"""Conversion of the CLI registry's entries for the doctor."""

from __future__ import annotations

from collections.abc import Iterable

from tservice.clis.interfaces import CliEntry
from tservice.doctor.catalogue import ExaminedCli


def select_enabled(entries: Iterable[CliEntry]) -> list[ExaminedCli]:
    """Return the enabled CLIs, as the doctor needs them."""
    return [
        ExaminedCli(
            id=entry.id,
            label=entry.label,
            names=entry.binaries,
            install=entry.install_hint,
            version_args=() if entry.version is None else entry.version.argv,
            pattern="" if entry.version is None else entry.version.pattern,
        )
        for entry in entries
        if entry.enabled
    ]
