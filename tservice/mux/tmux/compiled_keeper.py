"""Finds the compiled keeper (C{keeper.c}), if one was built that runs on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

PROGRAMS = tuple(
    Path(__file__).with_name(f"tservice-keeper{machine}") for machine in ("", "-x86_64", "-aarch64")
)
"""The keeper that was compiled for this machine, and those of a wheel that fits any machine."""

_ELF = b"\x7fELF"
_KIND = 20
"""Number of bytes at the head of an ELF file that contain its word size, byte order and machine."""


def find_compiled_keeper(python: str, programs: Sequence[Path] = PROGRAMS) -> Path | None:
    """Return the first program that can run here. If C{None}, the interpreter runs C{keeper.py}.

    @param python: an interpreter that runs on this machine. The program must be built for the same
        machine, according to its ELF header.
    """
    return next((program for program in programs if _can_run(program, Path(python))), None)


def _can_run(program: Path, python: Path) -> bool:
    try:
        machines = _read_elf_machine(program), _read_elf_machine(python)
    except OSError:
        return False
    return machines[0] == machines[1] and os.access(program, os.X_OK)


def _read_elf_machine(file: Path) -> tuple[bytes, bytes]:
    """Return two fields of an ELF file's header: word size with byte order, and the machine.

    @raise OSError: the file cannot be read, or is not an ELF program.
    """
    with file.open("rb") as opened:
        head = opened.read(_KIND)
    if len(head) < _KIND or not head.startswith(_ELF):
        raise OSError(f"{file} is no ELF program")
    return head[4:6], head[18:20]
