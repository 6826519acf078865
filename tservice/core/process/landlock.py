"""A process that can run nothing but some programs, or open nothing but some folders, nor can
anything that it starts: Landlock, landlock(7).

With the standard library only: bare interpreters load it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""The same numbers on every kind of machine."""
_VERSION = 1
_BENEATH = 1
_EXECUTE, _REFER, _TRUNCATE = 1 << 0, 1 << 13, 1 << 14
_WRITE_FILE, _READ_FILE, _READ_FOLDER = 1 << 1, 1 << 2, 1 << 3
_FIRST = (1 << 13) - 1
"""All rights of the first version."""
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_READ = _READ_FILE | _READ_FOLDER
_DEVICE = "/dev/null"
_NO_NEW_PRIVILEGES = 38
_INTERPRETER = 3
"""The kind of an ELF file's header that names the loader."""


def run_only(programs: Iterable[str]) -> None:
    """From now on this thread, and what it starts, can run C{programs} alone, and their loaders.

    What is open, read or written is not bounded by it.

    @raise OSError: the kernel cannot, or a program is not there; then nothing is bounded.
    """
    handled = _EXECUTE | (_known() & _REFER)
    rules = _ruleset(handled)
    try:
        for path in [*programs, *map(loader_of, programs)]:
            if path is not None:
                _allow(rules, path, _EXECUTE)
        if handled & _REFER:
            # Otherwise nothing could be moved from one folder to another any more.
            _allow(rules, "/", _REFER)
        restrict(rules)
    finally:
        os.close(rules)


def fence(folder: str | bytes, readable: Iterable[str]) -> int:
    """Rules of who reads and writes in C{folder}, reads C{readable}, and opens nothing else.

    What is run, and what is only asked about a path, is not bounded by them.

    @param readable: folders and files; what is not there is left out.
    @return: a file descriptor, for L{restrict}.
    @raise OSError: the kernel cannot, or C{folder} is not there.
    """
    handled = _known() & ~_EXECUTE
    rules = _ruleset(handled)
    try:
        for path in readable:
            if os.path.exists(path):
                _allow(rules, path, _READ)
        _allow(rules, _DEVICE, handled)
        _allow(rules, folder, handled)
    except OSError:
        os.close(rules)
        raise
    return rules


def restrict(rules: int) -> None:
    """Put this thread, and what it starts, under C{rules}, beside those that hold already.

    @raise OSError: the kernel cannot.
    """
    if _libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) < 0:
        raise _error()
    _call(_RESTRICT, rules, 0)


def is_possible() -> bool:
    """Whether this kernel can."""
    try:
        return _call(_CREATE, None, 0, _VERSION) > 0
    except OSError:
        return False


def loader_of(program: str) -> str | None:
    """The program that an ELF program is run by; C{None} where it is run by itself.

    @raise OSError: it cannot be read, or is no ELF program, such as a script.
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


def _known() -> int:
    """The rights that this kernel can bound, of those that are of use here."""
    version = _call(_CREATE, None, 0, _VERSION)
    return _FIRST | (_REFER if version > 1 else 0) | (_TRUNCATE if version > 2 else 0)


def _ruleset(handled: int) -> int:
    return _call(_CREATE, struct.pack("=Q", handled), 8, 0)


def _allow(rules: int, path: str | bytes, rights: int) -> None:
    with _opened(path) as found:
        if not stat.S_ISDIR(os.fstat(found).st_mode):
            rights &= _OF_FILES
        _call(_ADD, rules, _BENEATH, struct.pack("=Qi", rights, found), 0)


@contextmanager
def _opened(path: str | bytes) -> Iterator[int]:
    found = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        yield found
    finally:
        os.close(found)


def _call(number: int, *words: int | bytes | None) -> int:
    result: int = _libc.syscall(ctypes.c_long(number), *map(_word, words))
    if result < 0:
        raise _error()
    return result


def _word(word: int | bytes | None) -> object:
    return ctypes.c_long(word) if isinstance(word, int) else ctypes.c_char_p(word)


def _error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))


_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
