"""The keeper as a program (C{keeper.c}), where one was built that this machine runs."""

from __future__ import annotations

import os
from pathlib import Path

PROGRAM = Path(__file__).with_name("tservice-keeper")

_ELF = b"\x7fELF"
_KIND = 20
"""Bytes at the head of an ELF file that tell its word size, byte order and machine."""


def built_keeper(python: str, program: Path = PROGRAM) -> Path | None:
    """C{program}, if it can be run; C{None}: the interpreter runs C{keeper.py} instead.

    @param python: an interpreter that runs on this machine; the program must be of its kind.
    """
    try:
        if not os.access(program, os.X_OK) or _machine(program) != _machine(Path(python)):
            return None
    except OSError:
        return None
    return program


def _machine(file: Path) -> tuple[bytes, bytes]:
    """Word size and byte order, and the machine.

    @raise OSError: it cannot be read, or is no program.
    """
    with file.open("rb") as opened:
        head = opened.read(_KIND)
    if len(head) < _KIND or not head.startswith(_ELF):
        raise OSError(f"{file} is no ELF program")
    return head[4:6], head[18:20]
