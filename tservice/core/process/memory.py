"""Memory of the process: garbage collection, and release of freed memory to the system."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Disable garbage collection in the block, and exempt the objects created in it; for imports.

    The collector would traverse all of them repeatedly, which takes a fifth of the start-up time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def freeze_live_objects() -> None:
    """Exempt all live objects from later garbage collections.

    The modules, routes and records of a started service are some hundred thousand objects.  A full
    collection of them blocks the reactor for 50 ms, and they are never freed.
    """
    gc.collect()
    gc.freeze()


def release_free_memory() -> None:
    """Return freed memory to the system.

    glibc keeps free memory below a live allocation.  The call takes about 0.1 ms for each megabyte.
    Other C libraries have no such function, and the call does nothing with them.
    """
    if _trim is not None:
        _trim(0)


_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
