"""Finds the compiled keeper (C{keeper.c}), if one was built that runs on this machine."""

from __future__ import annotations

import os
from pathlib import Path

PROGRAM = Path(__file__).with_name("tservice-keeper")

_ELF = b"\x7fELF"
_KIND = 20
"""Number of bytes at the head of an ELF file that contain its word size, byte order and machine."""


def find_compiled_keeper(python: str, program: Path = PROGRAM) -> Path | None:
    """Return C{program} if it can run here. If C{None}, the interpreter runs C{keeper.py} instead.

    @param python: an interpreter that runs on this machine. The program must be built for the same
        machine, according to its ELF header.
    """
    try:
        if not os.access(program, os.X_OK) or _read_elf_machine(program) != _read_elf_machine(
            Path(python)
        ):
            return None
    except OSError:
        return None
    return program


def _read_elf_machine(file: Path) -> tuple[bytes, bytes]:
    """Return two fields of an ELF file's header: word size with byte order, and the machine.

    @raise OSError: the file cannot be read, or is not an ELF program.
    """
    with file.open("rb") as opened:
        head = opened.read(_KIND)
    if len(head) < _KIND or not head.startswith(_ELF):
        raise OSError(f"{file} is no ELF program")
    return head[4:6], head[18:20]
