"""The process's memory: what is looked at in vain, and what is held in vain."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """No collection meanwhile, and none later of what is made: modules, which stay.

    The collector would walk through all of it again and again, a fifth of the start's time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def settle() -> None:
    """Take what lives now for permanent, so that no later collection walks through it.

    The modules, routes and records of a started service are some hundred thousand objects: a
    full collection of them holds up the reactor for 50 ms, and none of them ever goes.
    """
    gc.collect()
    gc.freeze()


def give_back() -> None:
    """Hand what was freed back to the system.

    glibc keeps free memory that lies below something that lives.  It takes about 0.1 ms for each
    megabyte; other C libraries have no such call, and none is made there.
    """
    if _trim is not None:
        _trim(0)


_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
