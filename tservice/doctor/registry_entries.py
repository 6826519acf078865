"""Conversion of the CLI registry's entries for the doctor."""

from __future__ import annotations

from collections.abc import Iterable

from tservice.clis.interfaces import CliEntry, CliKind
from tservice.doctor.catalogue import ExaminedCli


def select_enabled(entries: Iterable[CliEntry]) -> list[ExaminedCli]:
    """Return the enabled CLIs, as the doctor needs them.

    A packaged CLI without an install command is left out: most machines never have it.
    """
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
        and (entry.install is not None or not entry.stock or entry.kind is CliKind.SHELL)
    ]
