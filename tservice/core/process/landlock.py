"""Landlock (landlock(7)): limit a thread and its children to some programs or folders."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""System call numbers, the same on every architecture."""
_VERSION = 1
_BENEATH = 1
_EXECUTE, _REFER, _TRUNCATE = 1 << 0, 1 << 13, 1 << 14
_WRITE_FILE, _READ_FILE, _READ_FOLDER = 1 << 1, 1 << 2, 1 << 3
_FIRST = (1 << 13) - 1
"""Mask of all access rights in the first version of Landlock's ABI."""
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_READ = _READ_FILE | _READ_FOLDER
_DEVICE = "/dev/null"
_NO_NEW_PRIVILEGES = 38
_INTERPRETER = 3
"""Type of the ELF program header that names the dynamic loader (PT_INTERP)."""


def make_program_rules(programs: Iterable[str]) -> int:
    """Return rules that allow running only C{programs} and their loaders.

    Opening, reading and writing files is not limited.

    @return: a file descriptor, for L{apply_rules}.
    @raise OSError: the kernel does not support Landlock, or a program is missing.
    """
    handled = _EXECUTE | (_find_supported_rights() & _REFER)
    rules = _create_ruleset(handled)
    try:
        for path in [*programs, *map(find_loader, programs)]:
            if path is not None:
                _add_path_rule(rules, path, _EXECUTE)
        if handled & _REFER:
            # Without this right no file could be moved between folders.
            _add_path_rule(rules, "/", _REFER)
    except OSError:
        os.close(rules)
        raise
    return rules


def make_folder_rules(folder: str | bytes, readable: Iterable[str]) -> int:
    """Return rules that allow writing in C{folder}, and reading in C{folder} and C{readable}.

    Access to all other files is refused.  Running programs, and querying a path's metadata, is not
    limited.

    @param readable: folders and files that may be read; missing ones are skipped.
    @return: a file descriptor, for L{apply_rules}.
    @raise OSError: the kernel does not support Landlock, or C{folder} is missing.
    """
    handled = _find_supported_rights() & ~_EXECUTE
    rules = _create_ruleset(handled)
    try:
        for path in readable:
            if os.path.exists(path):
                _add_path_rule(rules, path, _READ)
        _add_path_rule(rules, _DEVICE, handled)
        _add_path_rule(rules, folder, handled)
    except OSError:
        os.close(rules)
        raise
    return rules


def apply_rules(rules: int) -> None:
    """Apply C{rules} to this thread and its children, in addition to rules already in force.

    @raise OSError: the kernel does not support Landlock.
    """
    if _libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) < 0:
        raise _last_error()
    _call_kernel(_RESTRICT, rules, 0)


def is_supported() -> bool:
    """Return whether this kernel supports Landlock."""
    try:
        return _call_kernel(_CREATE, None, 0, _VERSION) > 0
    except OSError:
        return False


def find_loader(program: str) -> str | None:
    """Return the path of an ELF program's dynamic loader; C{None} if it needs none.

    @raise OSError: the program cannot be read, or is not an ELF file, such as a script.
    """
    with open(program, "rb") as file:
        head = file.read(64)
        if head[:4] != b"\x7fELF" or len(head) < 64:
            raise OSError(errno.ENOEXEC, f"{program} is a script")
        wide, order = head[4] == 2, "<" if head[5] == 1 else ">"
        start, size, count = struct.unpack_from(
            order + ("32xQ14xHH" if wide else "28xI10xHH"), head
        )
        for number in range(count):
            file.seek(start + number * size)
            header = file.read(size)
            if struct.unpack_from(order + "I", header)[0] == _INTERPRETER:
                form = order + ("8xQ16xQ" if wide else "4xI8xI")
                offset, length = struct.unpack_from(form, header)
                file.seek(offset)
                return os.fsdecode(file.read(length).rstrip(b"\0"))
    return None


def _find_supported_rights() -> int:
    """Return the mask of access rights used here that this kernel can limit."""
    version = _call_kernel(_CREATE, None, 0, _VERSION)
    return _FIRST | (_REFER if version > 1 else 0) | (_TRUNCATE if version > 2 else 0)


def _create_ruleset(handled: int) -> int:
    return _call_kernel(_CREATE, struct.pack("=Q", handled), 8, 0)


def _add_path_rule(rules: int, path: str | bytes, rights: int) -> None:
    with _open_path(path) as found:
        if not stat.S_ISDIR(os.fstat(found).st_mode):
            rights &= _OF_FILES
        _call_kernel(_ADD, rules, _BENEATH, struct.pack("=Qi", rights, found), 0)


@contextmanager
def _open_path(path: str | bytes) -> Iterator[int]:
    found = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        yield found
    finally:
        os.close(found)


def _call_kernel(number: int, *words: int | bytes | None) -> int:
    result: int = _libc.syscall(ctypes.c_long(number), *map(_to_argument, words))
    if result < 0:
        raise _last_error()
    return result


def _to_argument(word: int | bytes | None) -> object:
    return ctypes.c_long(word) if isinstance(word, int) else ctypes.c_char_p(word)


def _last_error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))


_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
